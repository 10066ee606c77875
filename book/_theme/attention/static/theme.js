// What pages use of the theme's own script: colours, side columns, contents that follow, tab stops. Nothing here makes
// the browser lay a page out before it would: what is measured is measured after layout.
"use strict";
document.addEventListener("DOMContentLoaded", () => {
  const root = document.documentElement;
  const all = (selector) => [...document.querySelectorAll(selector)];
  const stored = (kind, name, value) => {
    try {
      if (value === undefined) return window[kind].getItem(name);
      window[kind].setItem(name, value);
    } catch { /* storage is full or forbidden: what was chosen holds for this page */ }
    return null;
  };

  // Colours: the system's, and then each in turn, first the one that changes something.
  const dark = matchMedia("(prefers-color-scheme: dark)");
  const paint = (mode) => {
    root.dataset.theme = mode === "auto" ? (dark.matches ? "dark" : "light") : mode;
    root.dataset.mode = mode;
  };
  dark.addEventListener("change", () => root.dataset.mode === "auto" && paint("auto"));
  for (const button of all(".theme-switch-button"))
    button.addEventListener("click", () => {
      const modes = dark.matches ? ["auto", "light", "dark"] : ["auto", "dark", "light"];
      paint(modes[(modes.indexOf(root.dataset.mode) + 1) % modes.length]);
      stored("localStorage", "mode", root.dataset.mode);
    });

  // A side column that has no room beside the text opens as a dialog, with its own content moved there.
  const move = (from, to) => {
    to.append(...from.childNodes);
    to.classList.add(...from.classList);
    from.removeAttribute("class");
  };
  for (const side of ["primary", "secondary"]) {
    const [button] = all(`.${side}-toggle`);
    const column = document.getElementById(`pst-${side}-sidebar`), over = document.getElementById(`pst-${side}-sidebar-modal`);
    if (!button || !column || !over) continue;
    let before = null;
    button.addEventListener("click", (event) => {
      event.preventDefault();
      event.stopPropagation();
      before = document.activeElement;
      move(column, over);
      over.showModal();
    });
    over.addEventListener("click", ({ clientX, clientY }) => {
      const { left, right, top, bottom } = over.getBoundingClientRect();
      if (over.open && (clientX < left || clientX > right || clientY < top || clientY > bottom)) over.close();
    });
    over.addEventListener("keydown", (event) => {
      if (event.key !== "Escape") return;
      event.preventDefault();
      event.stopPropagation();
      over.close();
    });
    over.addEventListener("close", () => {
      move(over, column);
      before?.focus?.();
    });
  }

  // The column of pages stands where it stood, or shows this page.
  const pages = document.querySelector("div.bd-sidebar");
  if (pages && matchMedia("(min-width: 992px)").matches) {
    requestAnimationFrame(() => {
      const place = parseInt(stored("sessionStorage", "sidebar-scroll-top"), 10);
      const here = [...pages.querySelectorAll(".bd-docs-nav .active")].at(-1);
      if (!isNaN(place)) pages.scrollTop = place;
      else if (here?.getBoundingClientRect().y > innerHeight / 2)
        pages.scrollTop = here.getBoundingClientRect().y - pages.getBoundingClientRect().y - pages.clientHeight / 4;
    });
    addEventListener("pagehide", () => stored("sessionStorage", "sidebar-scroll-top", pages.scrollTop));
  }

  // The contents of the page name the section that is read.
  const links = all("#pst-page-toc-nav a[href^='#']");
  const entries = all("#pst-page-toc-nav .toc-entry");
  const mark = (current) => {
    for (const link of links) {
      link.classList.toggle("active", link === current);
      if (link === current) link.setAttribute("aria-current", "true");
      else link.removeAttribute("aria-current");
    }
    for (const entry of entries) entry.classList.toggle("active", entry.contains(current));
  };
  let still = 0; // until when a link that was followed stays marked, in milliseconds of the page's clock
  const follow = () => {
    const link = location.hash.length > 1 && links.find((one) => one.hash === location.hash);
    if (!link) return;
    still = performance.now() + 1000;
    mark(link);
  };
  const sections = new Map();
  for (const link of links) {
    const section = link.hash.length > 1 && document.getElementById(decodeURIComponent(link.hash.slice(1)));
    if (section) sections.set(section.querySelector("h1, h2, h3, h4, h5, h6") ?? section, link);
  }
  const read = new IntersectionObserver((seen) => {
    const last = seen.filter((one) => one.isIntersecting).at(-1);
    if (last && performance.now() > still) mark(sections.get(last.target));
  }, { rootMargin: "0px 0px -70% 0px" });
  sections.forEach((_, heading) => read.observe(heading));
  addEventListener("hashchange", follow);
  addEventListener("click", ({ target }) => {
    const link = target.closest("a");
    if (link?.hash && link.hash === location.hash && link.origin === location.origin) follow();
  });
  follow();

  // What scrolls sideways or down can be scrolled with the keyboard.
  const SCROLLING = "pre, .cell_output > .output, .pst-scrollable-table-container";
  const sizes = new ResizeObserver((seen) => {
    const scroll = seen.map(({ target: one }) => one.scrollWidth > one.clientWidth || one.scrollHeight > one.clientHeight);
    seen.forEach(({ target }, at) => {
      if (scroll[at] === (target.getAttribute("tabindex") === "0")) return;
      if (scroll[at]) target.tabIndex = 0;
      else target.removeAttribute("tabindex");
    });
  });
  const measured = new WeakSet();
  const measure = () => {
    for (const one of all(SCROLLING)) {
      if (measured.has(one)) continue;
      measured.add(one);
      sizes.observe(one);
    }
  };
  let waiting = 0;
  const later = () => {
    clearTimeout(waiting);
    waiting = setTimeout(measure, 300);
  };
  addEventListener("load", () => {
    measure();
    const text = document.getElementById("main-content");
    if (text) new MutationObserver(later).observe(text, { subtree: true, childList: true });
  });
});
