// Shows an editor under each exercise that the page can check. All else is loaded when somebody uses one.
(() => {
  const folder = new URL("@FOLDER@/", document.currentScript.src).href;
  const make = (name, facts = {}, ...inside) => {
    const made = Object.assign(document.createElement(name), facts);
    made.append(...inside);
    return made;
  };
  const stored = (key) => {
    try {
      return localStorage.getItem(key);
    } catch {
      return null; // storage is forbidden
    }
  };
  let loading = null;
  const whole = () =>
    (loading ??= new Promise((resolve, reject) => {
      const script = make("script", { src: `${folder}page.js`, onload: resolve, onerror: reject });
      document.head.append(script);
    }).then(() => window.exercisesInPage.start(folder, blocks)));
  const blocks = [];

  for (const place of document.querySelectorAll(".exercise-in-page")) {
    const { number, id, module, stub } = place.dataset;
    const text = make("textarea", { className: "in-page-text", value: stored(`attention-by-hand/answer/${number}`) ?? stub.trimEnd(), spellcheck: false });
    text.setAttribute("autocapitalize", "off");
    text.setAttribute("autocomplete", "off");
    text.setAttribute("aria-label", `Your answer to exercise ${number}, Python`);
    const lines = make("div", { className: "in-page-lines", ariaHidden: "true" }); // each as high as it is in the text
    lines.setAttribute("aria-hidden", "true");
    const button = (name, action) => make("button", { type: "button", className: `in-page-${action}`, textContent: name });
    const buttons = {};
    for (const [action, name] of Object.entries({ check: "Check", stop: "Stop", hint: "Hint", reset: "Reset" }))
      buttons[action] = button(name, action);
    buttons.stop.hidden = true;
    buttons.take = button("Take it with me", "take");
    const row = make("div", { className: "in-page-buttons" }, ...Object.values(buttons));
    const exercise = place.closest(".exercise");
    const colab = exercise.querySelector(".exercise-work a[href*='colab']");
    if (colab) row.append(make("a", { href: colab.href, textContent: "Open in Colab" }));
    const told = make("div", { className: "in-page-told" });
    const status = make("p", { className: "in-page-status" });
    status.setAttribute("role", "status");
    const hints = make("div", { className: "in-page-hints" });
    hints.setAttribute("role", "status");
    const block = { place, number, id, module, stub, text, lines, buttons, told, status, hints, begun: text.value };
    const count = (first = 1) => {
      block.first = first;
      lines.replaceChildren(
        ...text.value.split("\n").map((line, at) => {
          const row = make("span", { textContent: line || "\u200b" });
          row.dataset.number = first + at;
          return row;
        }),
      );
    };
    block.count = count;
    // What has passed here needs no second click: the inner fold stands open, and the first one shows the solution.
    block.unfold = () => {
      const solution = exercise.querySelector(".solution-question");
      if (!solution) return;
      solution.querySelector("p").textContent = "Your answer passed all checks on this page.";
      solution.querySelector("details").open = true;
    };
    if (stored(`attention.solved.${id}`)) block.unfold();
    count();
    text.addEventListener("input", () => count(block.first));
    text.addEventListener("focus", whole, { once: true });
    for (const [action, one] of Object.entries(buttons))
      one.addEventListener("click", () => {
        if (location.protocol === "file:" && action !== "reset" && action !== "hint") {
          status.textContent = `Python needs the website; open it there, or run python -m selfcheck ${module}.`;
          return;
        }
        whole().then(
          (run) => run(action, block),
          () => (status.textContent = "This part of the page could not be loaded; is there a connection? Try again."),
        );
      });
    place.append(make("div", { className: "in-page-editor" }, lines, text), row, status, hints, told);
    place.hidden = false;
    blocks.push(block);
  }
})();
