// uses: matrix.js
// What the small figures share: the class Figure, whose sentence is announced after each change, a choice among values, numbers to edit.
(() => {
  'use strict';
  const {el, copyOf, Matrix, Widget} = Widgets;

  /**
   * A widget that gives show(state), which draws, and summary(state) -> the sentence that says what came out.
   * While a number is typed, show() gets the state as it would be.
   */
  class Figure extends Widget {
    connectedCallback() {
      super.connectedCallback();
      this.addEventListener('change', () => this.tell(this.summary(this.state)));  // a slider has come to rest
    }

    show() {}
    summary() { return ''; }

    change(edit) {
      super.change(edit);
      this.tell(this.summary(this.state));
    }

    draw() {
      const state = this.typed ? this.typed(copyOf(this.state)) : this.state;
      for (const control of this.shown ?? []) control.show(state);
      this.show(state);
    }

    /** Draws a part anew only where what it depends on has changed: a change has to fit into a frame of a phone. */
    part(name, key, draw) {
      const text = JSON.stringify(key);
      if ((this.drawn ??= {})[name] === text) return;
      this.drawn[name] = text;
      draw();
    }

    /** Has a control, an element with show(state), drawn with everything else. */
    keep(control) {
      (this.shown ??= []).push(control);
      return control;
    }

    /** One of several values of the state: radio buttons with one Tab stop, arrows choose. options: [[text, value], …] */
    choice(label, name, options) {
      const choose = value => this.change(state => { state[name] = value; });
      const buttons = options.map(([text, value]) => this.button(text, () => choose(value), {role: 'radio'}));
      const group = el('div', {className: 'w-group', role: 'radiogroup', 'aria-label': label}, ...buttons);
      group.addEventListener('keydown', event => {
        const move = {ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1}[event.key];
        if (!move) return;
        event.preventDefault();
        const seen = buttons.filter(button => !button.hidden);
        const next = seen[(seen.indexOf(event.target) + move + seen.length) % seen.length];
        choose(options[buttons.indexOf(next)][1]);
        next.focus();
      });
      const box = el('div', {className: 'w-choice'}, el('span', {className: 'w-label', 'aria-hidden': 'true'}, label), group);
      box.show = state => buttons.forEach((button, at) => {
        const chosen = options[at][1] === state[name];
        button.setAttribute('aria-checked', chosen);
        button.tabIndex = chosen ? 0 : -1;
      });
      return this.keep(box);
    }

    /** A slider for a number of the state. options: as of slider(), and name, that of the number */
    dial({name, ...options}) {
      return this.keep(this.slider({...options, get: state => state[name], set: (state, value) => { state[name] = value; }}));
    }

    /** The rows of numbers under a name of the state, as a matrix to edit. options: as of Matrix */
    numbers(name, options) {
      const put = (state, i, j, number) => { state[name][i][j] = number; return state; };
      const matrix = new Matrix(this, {
        rows: this.state[name].length, columns: this.state[name][0].length, editable: true, ...options,
        read: (i, j) => this.state[name][i][j],
        write: (i, j, number) => this.change(state => put(state, i, j, number)),
        peek: (i, j, number) => { this.typed = number === null ? null : state => put(state, i, j, number); this.draw(); },
      });
      matrix.show = () => matrix.draw();
      return this.keep(matrix);
    }

    /** What every figure begins with: a sentence that says what to try. */
    invite(sentence) { return el('p', {className: 'w-try'}, el('b', {}, 'Try it: '), sentence); }

    /** What every figure ends with. */
    foot() {
      return el('div', {className: 'w-bar w-foot'}, this.button('Undo', this.undo), this.button('Reset', this.reset), this.button('Copy link', this.share));
    }

    /** The state that an address gives: of each name the allowed value that it names, else that of the start. allowed: {name: values} */
    chosen(pairs, allowed) {
      const state = this.start();
      for (const [name, values] of Object.entries(allowed)) {
        state[name] = [...values].find(value => String(value) === pairs.get(name)) ?? state[name];
      }
      return state;
    }
  }

  /** Sets an attribute where it is another: what stays costs the browser nothing. */
  const put = (element, name, value) => { if (element.getAttribute(name) !== String(value)) element.setAttribute(name, value); };

  /** A table with a caption: heads is a list of texts, rows are lists of a text and cells (texts or elements). */
  const table = (caption, heads, rows) => el('table', {className: 'w-table'}, el('caption', {}, caption),
    el('thead', {}, el('tr', {}, ...heads.map(head => head ? el('th', {scope: 'col'}, head) : el('td')))),
    el('tbody', {}, ...rows.map(([head, ...cells]) => el('tr', {}, el('th', {scope: 'row'}, head),
      ...cells.map(cell => cell instanceof HTMLTableCellElement ? cell : el('td', {}, cell))))));

  Object.assign(Widgets, {Figure, put, table});
})();
