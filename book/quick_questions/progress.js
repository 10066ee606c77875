// Shows what this browser remembers of the reader's way, writes it to a file, takes it from one, and forgets it.
"use strict";
document.addEventListener("DOMContentLoaded", () => {
  const OURS = /^attention\.(read|answered|solved)\.[\w./-]+$/;
  const FORMAT = "attention-by-hand progress";
  const DAY = /^\d{4}-\d{2}-\d{2}/;
  const table = document.querySelector(".progress-table");
  const total = document.querySelector(".progress-total");

  const make = (tag, properties = {}, ...inside) => {
    const element = Object.assign(document.createElement(tag), properties);
    element.append(...inside);
    return element;
  };

  const all = () => {
    const found = {};
    for (let at = 0; at < localStorage.length; at += 1) {
      const name = localStorage.key(at);
      if (OURS.test(name)) found[name] = localStorage.getItem(name);
    }
    return found;
  };

  const isRight = (text) => {
    try {
      return JSON.parse(text).right === true;
    } catch {
      return false;
    }
  };

  // What a file may hold under a name: a day, or the JSON of an answer.
  const fits = (name, text) => OURS.test(name) && typeof text === "string" && (name.startsWith("attention.answered.")
    ? (() => { try { return typeof JSON.parse(text).answer === "string"; } catch { return false; } })()
    : DAY.test(text));

  const day = (text) => (DAY.test(text) ? new Date(`${text.slice(0, 10)}T12:00`).toLocaleDateString("en-GB", { day: "numeric", month: "short", year: "numeric" }) : "");

  const show = () => {
    let kept;
    try {
      kept = all();
    } catch {
      total.textContent = "This browser lets the page keep nothing: a private window, or storage is blocked. Questions and exercises work all the same.";
      return;
    }
    const sums = { read: [0, 0], answered: [0, 0], solved: [0, 0] };
    for (const row of table.tBodies[0].rows) {
      const read = kept[`attention.read.${row.dataset.page}`];
      row.querySelector("[data-what=read]").textContent = read ? day(read) : "–";
      sums.read[0] += Boolean(read);
      sums.read[1] += 1;
      for (const what of ["answered", "solved"]) {
        const cell = row.querySelector(`[data-what=${what}]`);
        const names = cell.dataset.names.split(" ").filter(Boolean);
        const done = names.filter((name) => {
          const text = kept[`attention.${what}.${name}`];
          return what === "answered" ? isRight(text ?? "null") : Boolean(text);
        }).length;
        cell.textContent = names.length ? `${done} of ${names.length}` : "–";
        sums[what][0] += done;
        sums[what][1] += names.length;
      }
    }
    const pages = [...document.querySelectorAll(".progress-deeper li")];
    for (const page of pages) page.querySelector("span").textContent = day(kept[`attention.read.${page.dataset.page}`] ?? "");
    const seen = pages.filter((page) => kept[`attention.read.${page.dataset.page}`]).length;
    document.querySelector(".progress-deeper summary span").textContent = `${seen} of ${pages.length} pages read`;
    const [read, answered, solved] = Object.values(sums).map(([done, of]) => `${done} of ${of}`);
    total.textContent = `Chapters read: ${read}. Questions answered: ${answered}. Exercises solved: ${solved}.`;
  };

  const status = make("p", { className: "progress-said" });
  status.setAttribute("role", "status");

  const save = make("button", { type: "button", textContent: "Save to a file" });
  save.addEventListener("click", () => {
    let entries;
    try {
      entries = all();
    } catch {
      entries = {};
    }
    const saved = new Date().toISOString();
    const text = JSON.stringify({ format: FORMAT, version: 1, saved, entries }, null, 1);
    const link = make("a", { download: `attention-progress-${saved.slice(0, 10)}.json`, href: URL.createObjectURL(new Blob([text], { type: "application/json" })) });
    document.body.append(link);
    link.click();
    link.remove();
    setTimeout(() => URL.revokeObjectURL(link.href), 1000);
    status.textContent = `Saved: ${Object.keys(entries).length} entries.`;
  });

  const take = (text) => {
    let file;
    try {
      file = JSON.parse(text);
    } catch {
      return "This is no JSON. Expected is a file that this page has saved.";
    }
    if (file?.format !== FORMAT || file.version !== 1 || typeof file.entries !== "object" || !file.entries) {
      return `This file is of another kind. Expected is "format": "${FORMAT}", "version": 1. Nothing was loaded.`;
    }
    const good = Object.entries(file.entries).filter(([name, value]) => fits(name, value));
    const refused = Object.keys(file.entries).length - good.length;
    try {
      for (const [name, value] of good) localStorage.setItem(name, value);
    } catch {
      return "This browser's storage is full or blocked, so not everything was loaded.";
    }
    return `Loaded: ${good.length} entries.${refused ? ` ${refused} were not understood and left out.` : ""}`;
  };

  const chooser = make("input", { type: "file", accept: ".json,application/json", id: "progress-load", className: "progress-load" });
  chooser.addEventListener("change", async () => {
    const [file] = chooser.files;
    if (!file) return;
    status.textContent = take(await file.text());
    chooser.value = "";
    show();
  });

  const forget = make("button", { type: "button", textContent: "Forget everything" });
  const sure = make("span", { className: "progress-sure", hidden: true }, "Forget what was read, answered and solved? ");
  const yes = make("button", { type: "button", textContent: "Yes, forget" });
  const no = make("button", { type: "button", textContent: "Keep it" });
  sure.append(yes, " ", no);
  const ask = (open) => {
    sure.hidden = !open;
    forget.hidden = open;
    (open ? no : forget).focus();
  };
  forget.addEventListener("click", () => ask(true));
  no.addEventListener("click", () => ask(false));
  yes.addEventListener("click", () => {
    try {
      Object.keys(all()).forEach((name) => localStorage.removeItem(name));
      status.textContent = "Forgotten.";
    } catch {
      status.textContent = "This browser keeps nothing, so there is nothing to forget.";
    }
    ask(false);
    show();
  });

  const load = make("label", { htmlFor: chooser.id, textContent: "Load from a file: " });
  document.querySelector(".progress-deeper").after(make("div", { className: "progress-tools" }, save, make("span", {}, load, chooser), forget, sure), status);
  show();
  window.addEventListener("storage", show);
});
