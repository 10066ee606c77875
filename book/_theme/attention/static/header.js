// States of the controls, for who cannot see them; a menu closes with Escape or a click beside it.
"use strict";
document.addEventListener("DOMContentLoaded", () => {
  const root = document.documentElement;
  const theme = document.querySelector(".theme-switch-button");
  const sides = [...document.querySelectorAll(".sidebar-toggle[aria-controls]")];
  const menus = [...document.querySelectorAll("details.page-menu")];
  const status = document.querySelector("#page-status");

  const tell = () => {
    for (const button of sides) {
      const name = button.getAttribute("aria-controls");
      const side = document.getElementById(name), over = document.getElementById(`${name}-modal`);
      const seen = side && side.getBoundingClientRect().width > 0 && getComputedStyle(side).visibility === "visible";
      button.setAttribute("aria-expanded", String(Boolean(over?.open || seen)));
      over?.setAttribute("aria-label", button.getAttribute("aria-label"));
    }
  };
  const name = () => {
    if (theme) theme.ariaLabel = theme.title = theme.dataset[root.dataset.mode] ?? theme.dataset.auto;
  };

  name();
  new ResizeObserver(tell).observe(root); // right after a layout: no layout for this alone
  new MutationObserver(() => {
    name();
    status.textContent = theme?.ariaLabel ?? "";
  }).observe(root, { attributes: true, attributeFilter: ["data-mode"] });
  for (const button of sides) {
    const side = document.getElementById(button.getAttribute("aria-controls"));
    side?.addEventListener("transitionend", ({ target }) => target === side && tell()); // a narrower window slides it out
    button.addEventListener("click", () => setTimeout(tell, 350)); // with reduced motion no transition ends
  }
  document.addEventListener("close", tell, true);

  // What a copy button shows beside itself, once it has copied, is said too.
  const labels = new WeakMap();
  new MutationObserver((changes) => {
    for (const { target, oldValue } of changes) {
      if (!labels.has(target)) labels.set(target, oldValue);
      if (target.dataset.tooltip !== labels.get(target)) status.textContent = target.dataset.tooltip;
    }
  }).observe(document.body, { subtree: true, attributes: true, attributeFilter: ["data-tooltip"], attributeOldValue: true });

  // The theme takes the focus from a button that was pressed; with the keyboard it stays.
  document.addEventListener("click", ({ detail, target }) => {
    const button = target.closest("button");
    if (detail === 0 && button && document.activeElement === document.body) button.focus();
  });

  const close = (except) => menus.forEach((menu) => menu !== except && menu.removeAttribute("open"));
  document.addEventListener("click", (event) => close(event.target.closest("details.page-menu")));
  document.addEventListener("keydown", (event) => {
    const open = menus.find((menu) => menu.open);
    if (event.key !== "Escape" || !open) return;
    close();
    open.querySelector("summary").focus();
  });
});
