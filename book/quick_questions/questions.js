// Makes a page's questions answerable: native controls, one sentence for each answer, the last one kept in this browser.
"use strict";
(() => {
  const key = (question) => `attention.answered.${question.dataset.question}`;

  const kept = (question) => {
    try {
      return JSON.parse(localStorage.getItem(key(question)));
    } catch {
      return null;
    }
  };

  const keep = (question, answer, right) => {
    try {
      localStorage.setItem(key(question), JSON.stringify({ answer, right }));
      return true;
    } catch {
      return false;
    }
  };

  const make = (tag, properties = {}, ...inside) => {
    const element = Object.assign(document.createElement(tag), properties);
    element.append(...inside);
    return element;
  };

  // Each kind builds its controls and returns how to read an answer, show one, and find the sentence that it gets.
  const choice = (question, sentences) => {
    const list = question.querySelector(".qq-choices");
    const group = make("fieldset", { className: "qq-group" }, make("legend", { className: "qq-hidden", textContent: "Your choice" }));
    for (const item of list.children) {
      const radio = make("input", { type: "radio", name: question.id, value: item.dataset.option });
      const label = make("label", {}, radio, make("span", { className: "qq-body" }, ...item.childNodes));
      item.replaceChildren(label);
    }
    list.before(group);
    group.append(list);
    const radios = [...list.querySelectorAll("input")];
    return {
      controls: group,
      missing: "Choose one first.",
      read: () => radios.find((radio) => radio.checked)?.value ?? "",
      show: (answer) => radios.forEach((radio) => { radio.checked = radio.value === answer; }),
      sentence: (answer) => sentences.find((one) => one.dataset.option === answer),
    };
  };

  const number = (question, sentences) => {
    const input = make("input", { type: "number", step: "any", id: `${question.id}-number`, autocomplete: "off" });
    const near = question.querySelector(".qq-near");
    near.id = `${question.id}-near`;
    input.setAttribute("aria-describedby", near.id);
    const label = make("label", { htmlFor: input.id, textContent: "Your number" });
    const controls = make("div", { className: "qq-number" }, label, input, near);
    const tolerance = Number(question.dataset.tolerance) * (1 + 1e-9) + 1e-12;
    const far = (one, value) => Math.abs(Number(one.dataset.value) - value);
    return {
      controls,
      missing: "Type a number first, with a point: 0.25.",
      read: () => input.value.trim(),
      show: (answer) => { input.value = answer; },
      sentence: (answer) => {
        const close = sentences.filter((one) => "value" in one.dataset && far(one, Number(answer)) <= tolerance);
        close.sort((a, b) => far(a, Number(answer)) - far(b, Number(answer)));
        return close[0] ?? sentences.find((one) => "otherwise" in one.dataset);
      },
    };
  };

  const order = (question, sentences, tell) => {
    const list = question.querySelector(".qq-choices");
    const lines = () => [...list.children];
    const number = () => lines().forEach((item, at, all) => {
      const [up, down] = item.querySelectorAll("button");
      up.setAttribute("aria-disabled", String(at === 0));
      down.setAttribute("aria-disabled", String(at === all.length - 1));
      up.ariaLabel = `Move line ${at + 1} up: ${item.title}`;
      down.ariaLabel = `Move line ${at + 1} down: ${item.title}`;
    });
    const move = (item, step, focused) => {
      const at = lines().indexOf(item), other = lines()[at + step];
      if (!other) return;
      if (step < 0) other.before(item); else other.after(item);
      number();
      focused.focus();
      tell(`Now line ${at + step + 1} of ${lines().length}.`);
    };
    for (const item of lines()) {
      item.title = item.textContent.trim();
      const buttons = [["▲", -1], ["▼", 1]].map(([sign, step]) => {
        const button = make("button", { type: "button", textContent: sign });
        button.addEventListener("click", () => move(item, step, button));
        return button;
      });
      item.append(make("div", { className: "qq-line" }, ...item.childNodes, make("span", { className: "qq-moves" }, ...buttons)));
      item.addEventListener("keydown", (event) => {
        const step = { ArrowUp: -1, ArrowDown: 1 }[event.key];
        if (!step) return;
        event.preventDefault();
        move(item, step, event.target);
      });
      item.draggable = true;
      item.addEventListener("dragstart", (event) => { list.dragged = item; event.dataTransfer.effectAllowed = "move"; });
      item.addEventListener("dragover", (event) => { if (list.dragged) event.preventDefault(); });
      item.addEventListener("drop", (event) => {
        event.preventDefault();
        const from = lines().indexOf(list.dragged), to = lines().indexOf(item);
        if (from < 0 || from === to) return;
        if (from < to) item.after(list.dragged); else item.before(list.dragged);
        number();
        tell(`Now line ${to + 1} of ${lines().length}.`);
      });
    }
    number();
    const place = (answer, line) => answer.split(" ").indexOf(line);
    return {
      controls: list,
      missing: "",
      read: () => lines().map((item) => item.dataset.line).join(" "),
      show: (answer) => {
        const wanted = answer.split(" ").map((line) => lines().find((item) => item.dataset.line === line));
        if (wanted.length === lines().length && wanted.every(Boolean)) list.append(...wanted);
        number();
      },
      sentence: (answer) => sentences.find((one) => "first" in one.dataset
        && place(answer, one.dataset.first) > place(answer, one.dataset.then)) ?? sentences.find((one) => "right" in one.dataset),
    };
  };

  const KINDS = { number, order };
  const VERDICTS = { mistake: ["✓ Found", "✗ Not this line"] };

  const open = (question) => {
    const sentences = [...question.querySelectorAll(".qq-says > li")];
    const status = make("div", { className: "qq-status" });
    const tell = (text) => {
      status.className = "qq-status";
      status.replaceChildren(make("p", { textContent: text }));
    };
    const kind = (KINDS[question.dataset.kind] ?? choice)(question, sentences, tell);
    const verdicts = VERDICTS[question.dataset.kind] ?? ["✓ Right", "✗ Not yet"];
    const form = make("form", { className: "qq-form", noValidate: true });
    question.querySelector(".qq-prompt").after(form);
    form.append(kind.controls, make("button", { type: "submit", className: "qq-check", textContent: "Check" }), status);

    const judge = (answer) => {
      const sentence = kind.sentence(answer);
      const right = "right" in sentence.dataset;
      const body = sentence.cloneNode(true);
      if (!("first" in sentence.dataset)) body.querySelector("strong")?.remove(); // the choice is in sight
      status.className = `qq-status ${right ? "qq-right" : "qq-wrong"}`;
      status.replaceChildren(make("p", { className: "qq-verdict", textContent: verdicts[right ? 0 : 1] }), ...body.childNodes);
      return right;
    };

    const before = kept(question);
    if (before && typeof before.answer === "string") {
      kind.show(before.answer);
      if (kind.read()) judge(kind.read());
    }
    status.setAttribute("role", "status");
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      const answer = kind.read();
      if (!answer) {
        tell(kind.missing);
        return;
      }
      if (!keep(question, answer, judge(answer))) {
        status.append(make("p", { className: "qq-near", textContent: "This browser keeps nothing for this page: the answer is gone when you leave." }));
      }
    });
    question.dataset.open = "";
  };

  document.querySelectorAll(".quick-question:not([data-open])").forEach(open);
})();
