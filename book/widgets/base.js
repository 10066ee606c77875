// What every widget shares: making elements, numbers as text, and the class Widget with its state, undo, link and status line.
(() => {
  'use strict';

  /** An element with its properties or attributes, and what it holds: nodes, or text. */
  const el = (tag, properties = {}, ...children) => {
    const element = document.createElement(tag);
    for (const [name, value] of Object.entries(properties)) {
      if (name in element && name !== 'style' && name !== 'role') element[name] = value;
      else element.setAttribute(name, value);
    }
    element.append(...children);
    return element;
  };

  /** A number as text: a whole one bare, others with so many decimals; a minus sign, no negative zero. */
  const fmt = (number, decimals = 2) => {
    if (number === Infinity) return '∞';
    if (number === -Infinity) return '−∞';
    if (Number.isNaN(number)) return 'NaN';
    const whole = Math.round(number);
    const isWhole = number === whole || (whole !== 0 && Math.abs(number - whole) < 1e-9);  // nearly zero is not zero
    let text = isWhole ? String(whole) : number.toFixed(decimals);
    if (Math.abs(number) >= 1e5) text = number.toExponential(1);
    if (Number(text) === 0) text = text.replace('-', '');
    return text.replace('-', '−');
  };

  /** A reader's number, with a comma or a minus sign of print, or null where it is none within the limit. */
  const parse = (text, limit = 99) => {
    const plain = text.trim().replace('−', '-').replace(',', '.');
    if (!/^[+-]?(\d+\.?\d*|\.\d+)$/.test(plain) || Math.abs(Number(plain)) > limit) return null;
    return Number(plain) + 0;
  };

  const copyOf = value => structuredClone(value);
  const still = () => matchMedia('(prefers-reduced-motion: reduce)').matches;

  /**
   * A custom element with a state of plain data (what JSON holds), which it draws.
   * A widget gives: start() -> state; build(ui), once; draw(), after each change; and, for links,
   * encode(state) -> {name: text} of what differs from the start, and decode(Map) -> state, where bad values count as absent.
   */
  class Widget extends HTMLElement {
    connectedCallback() {
      if (this.ui) return;
      this.past = [];
      this.state = this.start();
      this.ui = el('div', {className: `w-root ${this.localName}`});
      this.statusLine = el('p', {className: 'w-status', role: 'status'});
      this.build(this.ui);
      this.ui.append(this.statusLine);
      this.style.minHeight = `${this.dataset.height ?? this.offsetHeight}px`;  // what stands below must not move up
      this.replaceChildren(this.ui);
      this.readAddress();
      this.draw();
      addEventListener('hashchange', () => this.readAddress() && this.draw());
      this.addEventListener('keydown', event => {
        if ((event.ctrlKey || event.metaKey) && event.key === 'z' && !event.target.matches('input:not([type=range]), textarea')) {
          event.preventDefault();
          this.undo();
        }
      });
    }

    build() {}
    draw() {}
    encode() { return {}; }
    decode() { return this.start(); }

    /** Says one sentence to everybody, screen readers included. */
    tell(sentence) { this.statusLine.textContent = sentence; }

    /** Changes the state so that it can be undone; edit: function of a copy of the state. */
    change(edit) {
      const before = this.state;
      this.state = copyOf(before);
      edit(this.state);
      if (JSON.stringify(before) !== JSON.stringify(this.state)) this.past.push(before);
      this.draw();
    }

    undo() {
      if (!this.past.length) return this.tell('There is nothing to undo.');
      this.state = this.past.pop();
      this.draw();
      this.tell('Undone.');
    }

    reset() {
      this.change(state => Object.assign(state, this.start()));
      this.tell('Everything is as it was at the start. Undo brings your numbers back.');
    }

    button(text, action, properties = {}) {
      const button = el('button', {type: 'button', ...properties}, text);
      button.addEventListener('click', () => action.call(this, button));
      return button;
    }

    /** A button that is pressed or not; what: function of the state that says whether. draw() calls pressAll(). */
    toggle(text, what, action, properties = {}) {
      const button = this.button(text, action, properties);
      (this.toggles ??= []).push([button, what]);
      return button;
    }

    pressAll() { for (const [button, what] of this.toggles ?? []) button.setAttribute('aria-pressed', Boolean(what(this.state))); }

    /** A slider with its value beside it. options: label, min, max, step, text(value), get(state), set(state, value) */
    slider({label, min, max, step = 1, text = fmt, get, set}) {
      const input = el('input', {type: 'range', min, max, step});
      const output = el('output');
      const box = el('label', {className: 'w-slider'}, el('span', {}, label), input, output);
      let before = null;
      input.addEventListener('input', () => {  // one drag is one step of undo
        before ??= copyOf(this.state);
        this.sliding = true;
        set(this.state, Number(input.value));
        this.draw();
      });
      input.addEventListener('change', () => { if (before) this.past.push(before); before = null; this.sliding = false; this.draw(); });
      box.show = () => {
        input.value = get(this.state);
        output.textContent = text(get(this.state));
        input.setAttribute('aria-valuetext', output.textContent);
      };
      return box;
    }

    /** The address that shows this state. */
    link() {
      const pairs = Object.entries(this.encode(this.state)).map(([name, value]) => `${name}=${value}`);
      return location.href.split('#')[0] + `#${this.id}:${pairs.join('&')}`;
    }

    /** Takes over the state that the address names; false where it names none of this widget. */
    readAddress() {
      const mine = `#${this.id}:`;
      if (!location.hash.startsWith(mine)) return false;
      let text = location.hash.slice(mine.length);
      try { text = decodeURIComponent(text); } catch { /* a % that encodes nothing stays one */ }
      const pairs = text.split('&').map(pair => pair.split('='));
      this.state = this.decode(new Map(pairs));
      return true;
    }

    share() {
      history.replaceState(null, '', this.link());
      return this.copy(this.link(), 'The link');
    }

    /** Copies a text; where the browser forbids it, shows it selected. what: its name as a sentence begins. */
    async copy(text, what) {
      this.ui.querySelector('.w-copy')?.remove();
      try {
        await navigator.clipboard.writeText(text);
        this.tell(`${what} is in the clipboard.`);
      } catch {
        const field = el('textarea', {className: 'w-copy', readOnly: true, 'aria-label': what, value: text, rows: 8});
        this.statusLine.before(field);
        field.focus();
        field.select();
        this.tell(`${what} is selected: Ctrl+C copies it.`);
      }
    }
  }

  Object.assign(globalThis.Widgets ??= {}, {el, fmt, parse, copyOf, still, Widget});
})();
