// uses: matrix.js living-example-sums.js
// The living example: one element whose views show the course's numbers, each shaded number with the sum that makes it.
// A view lies in living-example-VIEW.js and says what there is; this file draws it, step by step, and keeps state and address.
(() => {
  'use strict';
  const {el, fmt, copyOf, symbol, inCell, Matrix, Widget, views} = Widgets;

  /**
   * A view: {title, start(element) -> {m: {name: matrix}, o: {name: option}}, compute(state) -> {name: matrix}, panels, tiers,
   * steps: [{title, say, panels}], controls, python(state) -> code, names: {panel: variable of that code}}.
   * A panel: {name, title, subtitle, hue, heads: [row letter, column letter], editable, brush, shares, explain(r, i, j, state), lead(r, i, state)}.
   * explain gives {html, lit: [[panel, i, j], …]}: the sum of a cell and the cells that enter it.
   * m: matrices that the reader may change; o: numbers, booleans and words.
   */
  class LivingExample extends Widget {
    get view() { return views[this.getAttribute('view') || 'full']; }

    start() {
      const state = this.view.start(this);
      this.look ??= {row: Math.max(0, Number(this.getAttribute('row') ?? 1) - 1), step: Number(this.getAttribute('step') ?? this.view.first ?? 1) - 1, column: null};
      this.look.panel ??= this.view.steps[this.look.step].panels[0];
      return state;
    }

    build(ui) {
      const {view} = this;
      ui.classList.add('w-stepping', `le-${this.getAttribute('view') || 'full'}`);
      this.results = view.compute(this.state);
      this.panels = {};
      if (view.steps.length > 1) ui.append(this.buildSteps());
      ui.append(this.buildBar());
      this.ledger = el('div', {className: 'le-ledger', role: 'region', 'aria-label': 'The sums in numbers'});
      this.ledger.addEventListener('click', event => {
        const column = [...this.ledger.querySelectorAll('.le-sum')].indexOf(event.target.closest('.le-sum'));
        if (column < 0) return;
        this.look.column = this.look.column === column ? null : column;
        this.draw();
      });
      view.tiers.forEach((tier, number) => {
        if (number === (view.ledgerAt ?? view.tiers.length)) ui.append(this.ledger);
        ui.append(this.buildTier(tier));
      });
      if (!ui.contains(this.ledger)) ui.append(this.ledger);
      this.boxes = [...ui.querySelectorAll('.le-pair, .le-single, .le-meet, .le-tier')].reverse();  // what is inside comes first
      this.remark = el('p', {className: 'w-note', role: 'status'});
      ui.append(this.remark);
    }

    buildSteps() {
      const nav = el('div', {className: 'le-steps', role: 'group', 'aria-label': 'Steps of the computation'});
      this.back = this.button('◀', () => this.go(this.look.step - 1), {'aria-label': 'Step back'});
      this.next = this.button('▶', () => this.go(this.look.step + 1), {'aria-label': 'Next step'});
      this.stepButtons = this.view.steps.map(({title}, i) => {
        const button = this.button('', () => this.go(i), {'aria-label': `Step ${i + 1}: ${title}`});
        button.append(el('span', {className: 'le-number'}, String(i + 1)), el('span', {className: 'le-name'}, title));
        return button;
      });
      nav.append(this.back, ...this.stepButtons, this.next);
      this.saying = el('p', {className: 'le-saying', 'aria-live': 'polite'});
      const box = el('div', {className: 'le-guide'});
      box.append(nav, this.saying);
      return box;
    }

    buildBar() {
      const box = el('div', {className: 'le-top'});
      const choices = el('div', {className: 'w-bar'});
      const tokens = el('div', {className: 'w-group', role: 'radiogroup', 'aria-label': this.view.token ?? 'Query'});
      const count = this.results[this.view.counted ?? 'y'].length;
      this.tokens = Array.from({length: count}, (_, i) => {
        const button = this.button('', () => this.choose(i), {role: 'radio', innerHTML: symbol(this.view.letter ?? 'q', i + 1)});
        tokens.append(button);
        return button;
      });
      tokens.addEventListener('keydown', event => {
        const move = {ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1}[event.key];
        if (!move) return;
        event.preventDefault();
        this.choose((this.look.row + move + count) % count);
        this.tokens[this.look.row].focus();
      });
      choices.append(el('span', {className: 'w-label'}, this.view.token ?? 'Query'), tokens);
      for (const control of this.view.controls ?? []) choices.append(this.control(control));
      const actions = el('div', {className: 'w-bar'});
      this.undoButton = this.button('Undo', this.undo);
      actions.append(this.undoButton, this.button('Reset', this.reset), this.button('Share', this.share), this.button('Copy as Python', () => this.copy(this.view.python(this.state), 'Python code')));
      box.append(choices, actions);
      return box;
    }

    /** A control of a view: {kind: switch, slider, choice or preset, label, key, …}. */
    control(one) {
      const {kind, label, key} = one;
      const set = change => { this.change(change); if (one.step !== undefined) this.go(one.step); };
      if (kind === 'switch') return this.toggle(label, state => state.o[key], () => set(state => { state.o[key] = !state.o[key]; }));
      if (kind === 'hidden') return '';
      if (kind === 'action') {
        const button = this.button(label, () => set(one.apply));
        (this.actions ??= []).push(() => { button.disabled = !one.can(this.state); });
        return button;
      }
      if (kind === 'preset') return this.toggle(label, one.holds, () => set(one.apply));
      if (kind === 'slider') {
        const slider = this.slider({...one, get: state => state.o[key], set: (state, value) => { state.o[key] = value; }});
        (this.sliders ??= []).push(slider);
        return slider;
      }
      const group = el('div', {className: 'w-bar', role: 'group', 'aria-label': label});
      const buttons = el('div', {className: 'w-group'});
      for (const [value, text] of one.values) buttons.append(this.toggle(text, state => state.o[key] === value, () => set(state => { state.o[key] = value; })));
      group.append(el('span', {className: 'w-label'}, label), buttons);
      return group;
    }

    /** A tier is a list of panels; a pair [weights, product] stands one above the other. */
    buildTier(tier) {
      const box = el('div', {className: tier.some(Array.isArray) ? 'le-meet' : 'le-tier'});
      for (const one of tier) {
        const cell = el('div', {className: Array.isArray(one) ? 'le-pair' : 'le-single'});
        if (this.view.corner && one === tier[0] && tier.some(Array.isArray)) cell.append(el('div', {className: 'le-corner', innerHTML: this.view.corner}));
        for (const name of [one].flat()) cell.append(this.buildPanel(name));
        box.append(cell);
      }
      return box;
    }

    buildPanel(name) {
      const panel = this.view.panels[name];
      const start = this.results[name];
      const heads = (letter, count) => letter && Array.from({length: count}, (_, i) => `<span class="${'qkvy'.includes(letter) ? letter : ''}">${symbol(letter, i + 1)}</span>`);
      const [rowLetter, columnLetter] = panel.heads ?? [];
      const token = rowLetter && start.length === this.tokens.length;
      const matrix = new Matrix(this, {
        name: panel.name, title: panel.title, subtitle: '', hue: panel.hue, shares: panel.shares, limit: panel.limit ?? 99,
        rows: start.length, columns: start[0].length, editable: panel.editable,
        rowHeads: heads(rowLetter, start.length), columnHeads: heads(columnLetter, start[0].length),
        read: (i, j) => this.results[name][i][j],
        peek: (i, j, number) => this.peek(name, i, j, number),
        write: (i, j, number) => {
          this.change(state => { state.m[name][i][j] = number; });
          this.tell(this.summary());
        },
        onFocus: (i, j) => this.inspect(name, i, j),
        onRow: token ? i => this.choose(i) : undefined,
        text: number => Number.isNaN(number) ? '' : panel.shares && number > 0.5 && number < 1 ? number.toFixed(2) : inCell(number),
        ...panel.brush && {
          isOn: (i, j) => this.state.m.mask[i][j] === 1,
          flip: (i, j, on) => this.paint(i, j, on),
        },
        say: panel.brush && ((i, j) => this.state.m.mask[i][j] ? `visible, ${fmt(this.results[name][i][j])}` : 'hidden, minus infinity'),
      });
      matrix.element.dataset.panel = name;
      matrix.element.classList.toggle('le-small', Boolean(panel.small));
      this.panels[name] = matrix;
      return matrix.element;
    }

    /** Shows what a number would do while it is typed; null ends that. */
    peek(name, i, j, number) {
      const shown = copyOf(this.state);
      if (number !== null) shown.m[name][i][j] = number;
      this.drawState(shown);
    }

    paint(i, j, on) {
      if (this.state.m.mask[i][j] === Number(on)) return;
      this.look.row = i;
      this.change(state => { state.m.mask[i][j] = Number(on); });
      this.tell(`Key ${j + 1} is ${on ? 'visible to' : 'hidden from'} query ${i + 1}.`);
    }

    choose(row) {
      const {rowOption} = this.view;
      this.look.row = row;
      this.look.column = null;
      if (rowOption) this.change(state => { state.o[rowOption] = row + 1; });
      else this.draw();
    }

    go(step) {
      const {steps} = this.view;
      const {look} = this;
      look.step = Math.max(0, Math.min(steps.length - 1, step));
      look.panel = steps[look.step].panels[0];
      look.column = null;
      this.draw();
      this.reveal(this.panels[look.panel].element);
    }

    /** Scrolls a matrix between the steps above and the sums below, on a phone. */
    reveal(element) {
      const box = element.getBoundingClientRect();
      if (this.clientWidth < 600 && (box.top < 70 || box.bottom > innerHeight - 150)) scrollBy({top: box.top - 130, behavior: Widgets.still() ? 'auto' : 'smooth'});
    }

    /** A cell that has the focus chooses its row, and where it is made of others, shows its sum. */
    inspect(name, i, j) {
      const {look, view} = this;
      const step = view.steps.findIndex(({panels}) => panels.includes(name));
      if (view.panels[name].explain) {
        look.panel = name;
        look.column = j;
        if (step >= 0 && !view.steps[look.step].shows?.includes(name)) look.step = step;
      }
      if (this.results[name].length === this.tokens.length && !view.panels[name].apart) look.row = i;
      this.draw();
    }

    draw() { this.drawState(this.state); }

    drawState(state) {
      const {view, look} = this;
      this.results = view.compute(state);
      const count = this.tokens.length;
      look.row = Math.min(view.rowOption ? state.o[view.rowOption] : look.row + 1, count) - 1;
      if (view.panels[look.panel].absent?.(state)) Object.assign(look, {panel: view.steps[look.step].panels.find(name => !view.panels[name].absent?.(state)), column: null});
      const explained = view.panels[look.panel];
      const sums = this.results[look.panel][look.row].map((_, j) => explained.explain(this.results, look.row, j, state));
      const shown = sums.filter((_, j) => look.column === null || look.column === j);
      const lit = new Set(shown.flatMap(sum => sum.lit.map(String)));
      const isResult = (name, i, j) => name === look.panel && i === look.row && (look.column === null || look.column === j);
      for (const [name, matrix] of Object.entries(this.panels)) {
        const panel = view.panels[name];
        matrix.draw((i, j) => [
          lit.has(String([name, i, j])) && 'lit',
          isResult(name, i, j) && !Number.isNaN(this.results[name][i][j]) && 'lit result',
          panel.off?.(this.results, i, j, state) && 'off',
          panel.different?.(this.results, i, j, state) && 'different',
        ].filter(Boolean).join(' '));
        matrix.mark('kv'.includes(panel.hue || '-') && name !== look.panel ? null : look.row);
        const subtitle = typeof panel.subtitle === 'function' ? panel.subtitle(state, this.results) : panel.subtitle ?? (panel.editable ? 'editable' : '');
        if (matrix.subtitle.innerHTML !== subtitle) matrix.subtitle.innerHTML = subtitle;
        matrix.element.hidden = panel.absent?.(state) || (view.staged && !view.steps[look.step].shows.includes(name));
      }
      for (const box of this.boxes) box.hidden = [...box.children].every(child => child.hidden);
      this.drawLedger(explained, sums, state);
      this.drawControls(state);
      const remark = view.remark?.(state, this.results, look) ?? '';
      if (this.remark.textContent !== remark) this.remark.textContent = remark;
    }

    drawLedger(panel, sums, state) {
      const {look} = this;
      const lines = sums.map(({html}, j) => `<div class="le-sum${look.column === j ? ' on' : ''}">${html}</div>`);
      const written = `<div class="le-lead">${panel.lead(this.results, look.row, state)}</div>${lines.join('')}`;
      this.ledger.dataset.hue = panel.hue;
      if (this.written === written) return;
      this.written = written;
      this.ledger.innerHTML = written;
    }

    drawControls() {
      const {look, view} = this;
      this.tokens.forEach((button, i) => {
        button.setAttribute('aria-checked', i === look.row);
        button.tabIndex = i === look.row ? 0 : -1;
      });
      this.pressAll();
      this.sliders?.forEach(slider => slider.show());
      this.actions?.forEach(show => show());
      this.undoButton.disabled = !this.past.length;
      if (!this.stepButtons) return;
      this.stepButtons.forEach((button, i) => { if (i === look.step) button.setAttribute('aria-current', 'step'); else button.removeAttribute('aria-current'); });
      this.back.disabled = look.step === 0;
      this.next.disabled = look.step === view.steps.length - 1;
      const {title, say} = view.steps[look.step];
      if (this.saying.dataset.step !== String(look.step)) {
        this.saying.innerHTML = `<b>${title}.</b> ${say}`;
        this.saying.dataset.step = look.step;
      }
    }

    /** The chosen row of what the view makes in the end, as a sentence. */
    summary() {
      const made = this.view.made ?? 'y';
      return `${this.view.panels[made].name}, row ${this.look.row + 1}: ${this.results[made][this.look.row].map(number => fmt(number, 4)).join(', ')}.`;
    }

    // The address names what differs from the start, and where the reader looks.

    encode(state) {
      const start = this.view.start(this);
      const pairs = {};
      for (const [name, matrix] of Object.entries(state.m)) {
        if (String(matrix) !== String(start.m[name])) pairs[name] = name === 'mask' ? matrix.flat().join('') : matrix.flat().join(',');
      }
      for (const [name, value] of Object.entries(state.o)) if (value !== start.o[name]) pairs[name] = typeof value === 'boolean' ? Number(value) : value;
      const {row, panel, column} = this.look;
      return {...pairs, row: row + 1, at: panel, ...column !== null && {column: column + 1}};
    }

    decode(pairs) {
      const state = this.view.start(this);
      for (const [name, matrix] of Object.entries(state.m)) {
        const text = pairs.get(name) ?? '';
        const numbers = (name === 'mask' ? [...text] : text.split(',')).map(Number);
        const fits = text !== '' && numbers.length === matrix.flat().length && numbers.every(value => name === 'mask' ? value === 0 || value === 1 : Math.abs(value) <= 99);
        if (fits) state.m[name] = matrix.map((row, i) => row.map((_, j) => numbers[i * row.length + j]));
      }
      for (const [name, value] of Object.entries(state.o)) {
        const text = pairs.get(name);
        const control = (this.view.controls ?? []).find(({key}) => key === name);
        if (text === undefined || !control) continue;
        const given = typeof value === 'boolean' ? text === '1' : typeof value === 'number' ? Number(text) : text;
        const onScale = () => given >= control.min && given <= control.max && Number.isInteger((given - control.min) / (control.step ?? 1));
        const allowed = control.values ? control.values.some(([one]) => one === given) : typeof value !== 'number' || onScale();
        if (allowed) state.o[name] = given;
      }
      const index = (name, length) => { const number = Number(pairs.get(name)) - 1; return Number.isInteger(number) && number >= 0 && number < length ? number : null; };
      const results = this.view.compute(state);
      const panel = this.view.panels[pairs.get('at')]?.explain ? pairs.get('at') : this.look.panel;
      const step = this.view.steps.findIndex(({panels}) => panels.includes(panel));
      this.look = {row: index('row', results[panel].length) ?? 0, panel, step: Math.max(0, step), column: index('column', results[panel][0].length)};
      return state;
    }
  }

  customElements.define('living-example', LivingExample);
})();
