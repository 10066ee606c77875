// States of the header's buttons, for who cannot see them; a menu closes with Escape or a click beside it.
"use strict";
document.addEventListener("DOMContentLoaded", () => {
  const root = document.documentElement;
  const theme = document.querySelector(".theme-switch-button");
  const sides = [...document.querySelectorAll(".sidebar-toggle[aria-controls]")];
  const menus = [...document.querySelectorAll("details.page-menu")];

  const tell = () => {
    for (const button of sides) {
      const name = button.getAttribute("aria-controls");
      const side = document.getElementById(name), over = document.getElementById(`${name}-modal`);
      const seen = side && side.getBoundingClientRect().width > 0 && getComputedStyle(side).visibility === "visible";
      button.setAttribute("aria-expanded", String(Boolean(over?.open || seen)));
      over?.setAttribute("aria-label", button.getAttribute("aria-label"));
    }
    if (theme) theme.setAttribute("aria-label", `Colours: ${{ auto: "as the system", light: "light", dark: "dark" }[root.dataset.mode]}`);
  };

  tell();
  new MutationObserver(tell).observe(root, { attributes: true, attributeFilter: ["data-mode"] });
  for (const button of sides) button.addEventListener("click", () => setTimeout(tell, 350));
  document.addEventListener("close", tell, true);
  const close = (except) => menus.forEach((menu) => menu !== except && menu.removeAttribute("open"));
  document.addEventListener("click", (event) => close(event.target.closest("details.page-menu")));
  document.addEventListener("keydown", (event) => {
    const open = menus.find((menu) => menu.open);
    if (event.key !== "Escape" || !open) return;
    close();
    open.querySelector("summary").focus();
  });
});
