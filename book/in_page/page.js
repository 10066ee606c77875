// What the editors of a page do: check, stop, hint, reset, pack. Loaded when the first of them is used.
window.exercisesInPage = (() => {
  const PAUSE = 500; // milliseconds until a running check says so
  const PATIENCE = 13_000; // until one that does not end by itself is ended with its worker
  const PUBLISHED = /^https:\/\/attention-by-hand\.github\.io\/attention-by-hand\//;
  const WORDS = {
    slow: "running …",
    stopped: "Stopped.",
    endless: "Stopped after 10 s: does a loop never end?",
    ours: "The checker failed, not your answer.",
  };
  let folder = "";
  let blocks = [];
  let modules = null;
  let worker = null; // { thread, ready: promise of true, wait: [resolve, reject] of the check that runs }
  let busy = null; // the block that is being checked
  let progress = () => {};

  const make = (name, facts = {}, ...inside) => {
    const made = Object.assign(document.createElement(name), facts);
    made.append(...inside);
    return made;
  };

  // Text that is kept

  function keep(number, text) {
    try {
      if (text === null) localStorage.removeItem(`attention-by-hand/answer/${number}`);
      else localStorage.setItem(`attention-by-hand/answer/${number}`, text);
      return true;
    } catch {
      return false; // storage is full or forbidden: the text stays as long as the page does
    }
  }

  function kept(number) {
    try {
      return localStorage.getItem(`attention-by-hand/answer/${number}`);
    } catch {
      return null;
    }
  }

  // For the page of progress: the day on which all checks of an exercise first passed.
  function solved(id) {
    try {
      const key = `attention.solved.${id}`;
      if (!localStorage.getItem(key)) localStorage.setItem(key, new Date().toISOString().slice(0, 10));
    } catch {
      // nothing is kept
    }
  }

  // Shows what is kept, the stub where nothing is; the cursor stays where it was.
  function replace(block, found) {
    const value = found ?? block.stub;
    if (block.text.value === value) return;
    const { selectionStart, selectionEnd } = block.text;
    block.text.value = value;
    block.text.setSelectionRange(selectionStart, selectionEnd);
    block.count(block.first);
  }

  // The editor

  function insert(area, text) {
    // execCommand alone leaves the browser's undo intact
    if (!document.execCommand("insertText", false, text)) area.setRangeText(text, area.selectionStart, area.selectionEnd, "end");
  }

  function onKey(event, block) {
    const { text } = block;
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) {
      event.preventDefault();
      run("check", block);
    } else if (event.key === "Enter" && !event.shiftKey && !event.isComposing) {
      event.preventDefault();
      const line = text.value.slice(0, text.selectionStart).split("\n").at(-1);
      insert(text, `\n${line.match(/^ */)[0]}${/:\s*(#.*)?$/.test(line) ? "    " : ""}`);
    } else if (event.key === "Escape") {
      block.buttons.check.focus();
    }
  }

  // Python

  function started() {
    if (worker) return worker;
    const thread = new Worker(`${folder}worker.js`, { type: "module" });
    const mine = { thread, wait: null };
    mine.ready = new Promise((resolve, reject) => {
      const fail = (text) => {
        if (worker === mine) worker = null;
        thread.terminate();
        reject(new Error(text));
        mine.wait?.reject(new Error(text));
      };
      mine.fail = fail;
      thread.onerror = (event) => fail(event.message ?? "the worker could not be loaded");
      thread.onmessage = ({ data }) => {
        if (data.kind === "progress") progress(data.done, data.total);
        else if (data.kind === "loaded") progress(1, 1);
        else if (data.kind === "ready") resolve(true);
        else if (data.kind === "told") mine.wait?.resolve(data.told);
        else fail(data.text);
      };
    });
    mine.ready.catch(() => {});
    thread.postMessage({ kind: "start" });
    worker = mine;
    return mine;
  }

  function asked(mine, request) {
    return new Promise((resolve, reject) => {
      mine.wait = { resolve, reject };
      mine.thread.postMessage({ kind: "check", request });
    }).finally(() => (mine.wait = null));
  }

  function ended(mine, text) {
    mine.fail(text);
    started(); // the next check finds Python there
  }

  // Check

  function show(block, state, words = "") {
    block.place.dataset.state = state;
    const { check, stop } = block.buttons;
    const names = { loading: "Starting…", running: "Checking…", idle: "Check", ours: "Try again" };
    check.textContent = names[state] ?? "Check again";
    const going = state === "loading" || state === "running";
    check.setAttribute("aria-disabled", String(going));
    if (!going && document.activeElement === stop) check.focus();
    stop.hidden = !going;
    block.status.textContent = words;
  }

  async function check(block) {
    if (busy) {
      if (busy !== block) block.status.textContent = `Exercise ${busy.number} is being checked; one at a time.`;
      return;
    }
    busy = block;
    block.told.replaceChildren();
    block.hints.replaceChildren();
    const timers = [];
    try {
      show(block, "loading");
      const mine = started();
      await loaded(block, mine);
      show(block, "running");
      timers.push(setTimeout(() => (block.status.textContent = WORDS.slow), PAUSE));
      timers.push(setTimeout(() => ended(mine, WORDS.endless), PATIENCE));
      const answers = Object.fromEntries(blocks.map((one) => [one.number, one.text.value]));
      tell(block, await asked(mine, { number: block.number, answers }));
      makeOffline();
    } catch (error) {
      if (error.message === WORDS.stopped || error.message === WORDS.endless) show(block, "error", error.message);
      else ours(block, error.message);
    } finally {
      timers.forEach(clearTimeout);
      busy = null;
    }
  }

  async function loaded(block, mine) {
    const bar = make("progress", { max: 1 });
    bar.setAttribute("aria-label", "Starting Python");
    const words = make("span", { textContent: "Starting Python …" });
    const before = setTimeout(() => block.status.replaceChildren(words, bar), 150);
    progress = (done, total) => {
      if (total > 1) words.textContent = `Starting Python (${(total / 1e6).toFixed(1)} MB, only the first time)`;
      bar.value = done / total;
      if (done >= total) bar.removeAttribute("value"); // what is left has no measure
    };
    try {
      await mine.ready;
    } finally {
      clearTimeout(before);
      progress = () => {};
    }
  }

  function tell(block, told) {
    if (told.state === "stopped") {
      const where = told.text.replace(/^stopped( while your code ran)?/, "Stopped after 10 s");
      show(block, "error", where);
      return;
    }
    block.last = told;
    block.given = 0;
    if (told.begins)
      for (const one of blocks) if (told.begins[one.number]) one.count(told.begins[one.number]);
    const many = `${told.passed} of ${told.count}`;
    const words = {
      passed: `✓ Passed: all ${told.count} checks.`,
      failed: `✗ Not yet: ${many} checks pass.`,
      error: `✗ ${many} checks pass: your code could not answer.`,
      idle: "Not started yet: write your answer in place of the line that raises NotImplementedError.",
    };
    show(block, told.state, words[told.state]);
    const report = make("div", { className: "in-page-report" });
    if (told.state !== "idle") report.append(...reported(block, told.html));
    if (told.left_out.length) {
      const others = told.left_out.join(", ");
      report.append(make("p", { textContent: `${others} is no Python yet, so its stub stands in for this check.` }));
    }
    if (told.state === "passed") {
      solved(block.id);
      report.append(...onwards(block));
    }
    block.told.replaceChildren(report);
  }

  // The report of selfcheck, its links within this site, its marks in the page's colours
  function reported(block, text) {
    const found = new DOMParser().parseFromString(text, "text/html").body;
    const root = new URL("../../../", folder).href;
    for (const link of found.querySelectorAll("a")) link.href = link.getAttribute("href").replace(PUBLISHED, root);
    for (const code of found.querySelectorAll("code"))
      if (code.textContent === `hint("${block.number}")`) {
        const hint = make("button", { type: "button", className: "in-page-link", textContent: "Hint" });
        hint.addEventListener("click", () => run("hint", block));
        code.replaceWith(hint);
      }
    for (const mark of found.querySelectorAll("li > span")) {
      mark.className = { "✓": "in-page-ok", "✗": "in-page-bad" }[mark.textContent] ?? "in-page-quiet";
      mark.removeAttribute("style");
    }
    for (const box of found.querySelectorAll("body > div")) box.removeAttribute("style");
    for (const cell of found.querySelectorAll("td")) cell.style.borderColor = ""; // its width says what differs
    return [...found.childNodes];
  }

  function onwards(block) {
    const at = blocks.indexOf(block);
    const next = blocks.slice(at + 1).find((one) => one.place.dataset.state !== "passed");
    const solution = block.place.closest(".exercise").querySelector(".solution-question > summary");
    const made = [];
    if (solution) {
      const open = make("button", { type: "button", className: "in-page-link", textContent: "Compare with the solution" });
      open.addEventListener("click", () => {
        for (const fold of [solution.parentElement, ...solution.parentElement.querySelectorAll("details")]) fold.open = true;
        solution.scrollIntoView({ block: "nearest" });
        solution.focus();
      });
      made.push(make("p", {}, open));
    }
    if (next) {
      const link = make("a", { href: `#${next.place.closest(".exercise").id}`, textContent: `exercise ${next.number}` });
      made.push(make("p", {}, "Next: ", link, "."));
    }
    return made;
  }

  function ours(block, text) {
    const where = navigator.onLine ? "" : " Python has not been loaded yet, and there is no connection.";
    show(block, "ours", WORDS.ours + where);
    const report = make("details", {}, make("summary", { textContent: "What to report" }), make("pre", { textContent: text }));
    block.told.replaceChildren(report);
  }

  // Hints: first how to mend what the last check named, then those that are folded below

  function hint(block) {
    const folds = [...block.place.closest(".exercise").querySelectorAll("details.hint")];
    if (block.last?.remedy && !block.mended) {
      block.mended = true;
      block.hints.replaceChildren(make("p", {}, make("strong", { textContent: "How to mend it: " }), block.last.remedy));
      return;
    }
    if (!folds.length) return;
    const at = (block.given ?? 0) % folds.length;
    block.given = at + 1;
    block.mended = at + 1 < folds.length;
    const inside = [...folds[at].children].filter((one) => one.localName !== "summary").map((one) => one.cloneNode(true));
    const title = make("p", {}, make("strong", { textContent: folds[at].querySelector("summary").textContent }));
    block.hints.replaceChildren(title, ...inside);
  }

  function reset(block) {
    if (block.text.value !== block.stub && !block.before) {
      block.before = block.text.value;
      block.text.value = block.stub;
      block.buttons.reset.textContent = "Undo reset";
    } else if (block.before) {
      block.text.value = block.before;
      block.before = null;
      block.buttons.reset.textContent = "Reset";
    }
    keep(block.number, block.text.value === block.stub ? null : block.text.value);
    block.count(block.first);
    block.told.replaceChildren();
    block.hints.replaceChildren();
    show(block, "idle", block.before ? "The stub is back; “Undo reset” brings your text again." : "");
  }

  // Packing: a zip without compression, as `submit` takes it

  async function take(block) {
    modules ??= await (await fetch(`${folder}modules.json`)).json();
    const files = Object.entries(modules).map(([path, pieces]) => [path, typeof pieces === "string" ? pieces : joined(pieces)]);
    const set = "ps1";
    const link = make("a", { href: URL.createObjectURL(zipped(files)), download: `${set}.zip` });
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
    block.status.textContent =
      `${set}.zip has your answers to this problem set. Its written questions are answered in the notebook, which is not in it.`;
  }

  function joined(pieces) {
    const own = (number) => blocks.find((one) => one.number === number)?.text.value ?? kept(number);
    return pieces.map((one) => (one.number && own(one.number) ? `${own(one.number).trimEnd()}\n` : one.text)).join("");
  }

  const TABLE = Uint32Array.from({ length: 256 }, (_, at) => {
    let value = at;
    for (let bit = 0; bit < 8; bit++) value = value & 1 ? (value >>> 1) ^ 0xedb88320 : value >>> 1;
    return value;
  });

  function checksum(bytes) {
    let value = ~0;
    for (const byte of bytes) value = (value >>> 8) ^ TABLE[(value ^ byte) & 255];
    return ~value >>> 0;
  }

  function zipped(files) {
    const now = new Date();
    const time = (now.getHours() << 11) | (now.getMinutes() << 5) | (now.getSeconds() >> 1);
    const day = ((now.getFullYear() - 1980) << 9) | ((now.getMonth() + 1) << 5) | now.getDate();
    const parts = [];
    const index = [];
    let place = 0;
    for (const [path, text] of files) {
      const name = new TextEncoder().encode(path);
      const data = new TextEncoder().encode(text);
      const facts = [[20, 2], [0x800, 2], [0, 2], [time, 2], [day, 2], [checksum(data), 4], [data.length, 4], [data.length, 4], [name.length, 2], [0, 2]];
      const head = numbers([[0x04034b50, 4], ...facts]);
      index.push(numbers([[0x02014b50, 4], [20, 2], ...facts, [0, 2], [0, 2], [0, 2], [0, 4], [place, 4]]), name);
      parts.push(head, name, data);
      place += head.length + name.length + data.length;
    }
    const size = index.reduce((sum, one) => sum + one.length, 0);
    const end = [[0x06054b50, 4], [0, 2], [0, 2], [files.length, 2], [files.length, 2], [size, 4], [place, 4], [0, 2]];
    return new Blob([...parts, ...index, numbers(end)], { type: "application/zip" });
  }

  function numbers(pairs) {
    const bytes = [];
    for (const [value, width] of pairs) for (let at = 0; at < width; at++) bytes.push((value >>> (8 * at)) & 255);
    return Uint8Array.from(bytes);
  }

  // Offline: the service worker keeps what this page has loaded

  let offline = false;

  async function makeOffline() {
    if (offline || !("serviceWorker" in navigator)) return;
    offline = true;
    try {
      await navigator.serviceWorker.register(new URL("../../../offline.js", folder));
      const pages = await caches.open("attention-by-hand/pages");
      const seen = performance.getEntriesByType("resource").map((one) => one.name);
      const own = [location.href.split("#")[0], ...seen].filter((url) => url.startsWith(location.origin));
      await Promise.allSettled([...new Set(own)].filter((url) => !url.includes(".gz")).map((url) => pages.add(url)));
    } catch {
      // storage is forbidden: the page works with a connection alone
    }
  }

  function run(action, block) {
    if (action === "check") return check(block);
    if (action === "stop") return worker && busy === block && ended(worker, WORDS.stopped);
    if (action === "hint") return hint(block);
    if (action === "reset") return reset(block);
    return take(block);
  }

  function start(where, all) {
    folder = where;
    blocks = all;
    for (const block of blocks) {
      block.stub = block.place.dataset.stub.trimEnd();
      if (block.text.value !== block.begun) keep(block.number, block.text.value); // written before this was loaded
      else replace(block, kept(block.number)); // another tab may have written since this page was opened
      block.text.addEventListener("keydown", (event) => onKey(event, block));
      block.text.addEventListener("input", () => {
        block.before = null;
        block.buttons.reset.textContent = "Reset";
        if (!keep(block.number, block.text.value) && !block.warned) {
          block.warned = true;
          block.status.textContent = "This browser keeps no text for the page: what you write is gone when it is closed.";
        }
      });
    }
    // What another tab of the site has written stands here as well, unless something stands here that was never kept.
    addEventListener("storage", ({ key, oldValue, newValue }) => {
      const block = blocks.find((one) => key === `attention-by-hand/answer/${one.number}`);
      if (block?.text.value === (oldValue ?? block?.stub)) replace(block, newValue);
    });
    return run;
  }

  return { start };
})();
