// The search: a dialog on every page, or the page search.html. What it searches with is loaded when it is opened.
"use strict";
document.addEventListener("DOMContentLoaded", () => {
  const PARTS = ["minisearch.js", "language_data.js", "passages.js", "find.js"];
  const WAIT = 80; // ms after a key
  const form = document.querySelector(".search-form");
  if (!form) return;
  const dialog = form.closest("dialog"), status = form.nextElementSibling, list = status.nextElementSibling;
  const root = new URL(".", form.action), field = form.elements.q, opener = document.querySelector(".search-open");
  let loading, waiting;

  const element = (tag, properties, ...children) => {
    const made = Object.assign(document.createElement(tag), properties);
    made.append(...children);
    return made;
  };

  const load = (name) =>
    new Promise((resolve, reject) => {
      document.head.append(element("script", { src: new URL(`_static/${name}`, root), async: false, onload: resolve, onerror: reject }));
    });

  const ready = () => (loading ??= Promise.all(PARTS.map(load)).then(() => bookSearch.read(bookPassages)));

  const link = ({ title, href }) => element("a", { href: new URL(href, root), textContent: title });

  const item = ({ page, passages: [best, ...others] }) => {
    const made = element("li", {}, link(best));
    if (best.title !== page) made.append(element("span", { className: "search-page-name", textContent: page }));
    const pieces = best.excerpt.map(([piece, found]) => (found ? element("mark", { textContent: piece }) : piece));
    if (pieces.length) made.append(element("p", {}, ...pieces));
    if (others.length) made.append(element("ul", {}, ...others.map((other) => element("li", {}, link(other)))));
    return made;
  };

  const show = async () => {
    const query = field.value.trim(), said = form.dataset;
    if (!query) {
      status.textContent = "";
      list.hidden = true;
      return;
    }
    try {
      if (!globalThis.bookSearchIsRead) status.textContent = said.loading;
      await ready();
      globalThis.bookSearchIsRead = true;
    } catch {
      loading = undefined;
      status.textContent = said.failed;
      return;
    }
    if (query !== field.value.trim()) return; // more was typed meanwhile
    const found = bookSearch.find(query);
    list.replaceChildren(...found.map(item));
    list.hidden = !found.length;
    status.textContent = { 0: said.none, 1: said.one }[found.length] ?? said.many.replace("{}", found.length);
    if (!dialog) history.replaceState(null, "", `?q=${encodeURIComponent(query)}`);
  };

  const open = (event) => {
    event.preventDefault();
    if (dialog?.open) return dialog.close();
    dialog?.showModal();
    field.focus();
    field.select();
    ready().catch(() => (loading = undefined));
  };

  if (dialog) {
    opener?.setAttribute("role", "button");
    opener?.setAttribute("aria-haspopup", "dialog");
    opener?.addEventListener("click", open);
    form.querySelector(".search-close").addEventListener("click", () => dialog.close());
    dialog.addEventListener("click", (event) => {
      if (event.target === dialog || event.target.closest(".search-results a")) dialog.close();
    });
  } else {
    field.value = new URLSearchParams(location.search).get("q") ?? "";
    show();
  }
  document.addEventListener("keydown", (event) => {
    const asked = (event.ctrlKey || event.metaKey) && !event.shiftKey && !event.altKey && event.key.toLowerCase() === "k";
    if (asked) open(event);
    else if (event.key === "Escape" && dialog?.open) {
      event.preventDefault(); // it would empty the field first
      dialog.close();
    }
  });
  field.addEventListener("input", () => {
    clearTimeout(waiting);
    waiting = setTimeout(show, WAIT);
  });
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    clearTimeout(waiting);
    await show(); // of all that is typed: later results would take the focus away
    list.querySelector("a")?.focus(); // Enter leads to the best result, a second one follows it
  });
  (dialog ?? document).addEventListener("keydown", (event) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    const places = [field, ...list.querySelectorAll("a")], here = places.indexOf(document.activeElement);
    if (!step || here < 0) return;
    event.preventDefault();
    places[Math.min(Math.max(here + step, 0), places.length - 1)].focus();
  });
});
