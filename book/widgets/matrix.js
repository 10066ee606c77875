// uses: base.js
// A matrix as an ARIA grid with one Tab stop: arrows move, typing edits what is framed, a floating bar has minus and sign for touch.
(() => {
  'use strict';
  const {el, fmt, parse} = Widgets;
  const MOVES = {ArrowRight: [0, 1], ArrowLeft: [0, -1], ArrowDown: [1, 0], ArrowUp: [-1, 0]};
  const OPERATIONS = [['−', 'one less', value => value - 1], ['+', 'one more', value => value + 1], ['±', 'change the sign', value => -value]];

  /** A number for a cell: the larger it is, the fewer decimals. */
  const inCell = number => fmt(number, Math.abs(number) < 100 ? 2 : Math.abs(number) < 1000 ? 1 : 0);

  /**
   * One matrix of a widget.
   * options: name (plain words, for screen readers), title and subtitle (HTML), rows, columns, hue ('q', 'k', 'v', 'w', 'y' for outputs, or ''),
   * rowHeads and columnHeads (HTML, may be absent), editable, limit of a number (99), shares (a bar as long as the number, from 0 to 1),
   * read(i, j) -> number shown, write(i, j, number) -> nothing, told once an edit is kept; peek(i, j, number or null) while it is typed;
   * flip(i, j, on) and isOn(i, j) for cells that toggle; onFocus(i, j); onRow(i) when a row's head is clicked; text(number) -> string; say(i, j) -> words.
   */
  class Matrix {
    constructor(widget, options) {
      Object.assign(this, {widget, limit: 99, hue: '', text: inCell, ...options});
      this.cells = [];
      this.heads = [];
      this.at = [0, 0];
      this.base = this.flip ? 'w-cell w-brush' : 'w-cell';
      this.element = el('div', {className: this.shares ? 'w-matrix w-shares' : 'w-matrix', 'data-hue': this.hue});
      this.subtitle = el('small', {innerHTML: this.subtitle ?? ''});
      const title = el('div', {className: 'w-title', innerHTML: this.title});
      title.append(this.subtitle);
      const kind = this.editable ? 'editable, ' : '';
      const grid = el('div', {role: 'grid', className: 'w-grid', 'aria-label': `${this.name}, ${kind}${this.rows} rows, ${this.columns} columns`});
      grid.style.setProperty('--columns', this.columns);
      grid.classList.toggle('w-headed', Boolean(this.rowHeads));
      if (this.columnHeads) {
        const heads = el('div', {role: 'row'});
        if (this.rowHeads) heads.append(el('span', {role: 'columnheader', className: 'w-head', innerHTML: '<span class="hidden">row</span>'}));
        this.columnHeads.forEach(head => heads.append(el('span', {role: 'columnheader', className: 'w-head', innerHTML: head})));
        grid.append(heads);
      }
      for (let i = 0; i < this.rows; i++) {
        const row = el('div', {role: 'row'});
        if (this.rowHeads) {
          const head = el('span', {role: 'rowheader', className: 'w-head', innerHTML: this.rowHeads[i]});
          if (this.onRow) {
            head.dataset.row = i;
            head.addEventListener('click', () => this.onRow(i));
            this.heads.push(head);
          }
          row.append(head);
        }
        this.cells.push(Array.from({length: this.columns}, (_, j) => this.cell(row, i, j)));
        grid.append(row);
      }
      this.element.append(title, grid);
      grid.addEventListener('keydown', event => this.key(event));
    }

    cell(row, i, j) {
      const cell = el('div', {role: 'gridcell', className: this.base, tabIndex: i + j ? -1 : 0});
      if (this.editable) cell.dataset.edit = '';
      else cell.setAttribute('aria-readonly', 'true');
      cell.addEventListener('focus', () => {
        this.moveTo(i, j, false);
        this.onFocus?.(i, j);
      });
      cell.addEventListener('click', () => {
        if (this.editable) this.edit(i, j);
        else cell.focus();
      });
      if (this.flip) this.brush(cell, i, j);
      row.append(cell);
      return cell;
    }

    /** A stroke with pointer or finger sets every cell that it touches to what it made of the first. */
    brush(cell, i, j) {
      cell.addEventListener('pointerdown', event => {
        if (event.button) return;
        cell.releasePointerCapture?.(event.pointerId);
        this.stroke = !this.isOn(i, j);
        this.flip(i, j, this.stroke);
        addEventListener('pointerup', () => { this.stroke = undefined; }, {once: true});
        addEventListener('pointercancel', () => { this.stroke = undefined; }, {once: true});
      });
      cell.addEventListener('pointerenter', () => { if (this.stroke !== undefined) this.flip(i, j, this.stroke); });
    }

    moveTo(i, j, focus = true) {
      const [from, to] = [this.cells[this.at[0]][this.at[1]], this.cells[i][j]];
      from.tabIndex = -1;
      to.tabIndex = 0;
      this.at = [i, j];
      if (focus) to.focus();
    }

    key(event) {
      const [i, j] = this.at;
      if (event.target !== this.cells[i][j] || event.ctrlKey || event.metaKey || event.altKey) return;
      const move = MOVES[event.key];
      const last = [this.rows - 1, this.columns - 1];
      if (move) this.moveTo(Math.min(last[0], Math.max(0, i + move[0])), Math.min(last[1], Math.max(0, j + move[1])));
      else if (event.key === 'Home') this.moveTo(i, 0);
      else if (event.key === 'End') this.moveTo(i, last[1]);
      else if (this.flip && event.key === ' ') this.flip(i, j, !this.isOn(i, j));
      else if (this.editable && (event.key === 'Enter' || event.key === 'F2')) this.edit(i, j);
      else if (this.editable && /^[-−+.,\d]$/.test(event.key)) this.edit(i, j, event.key);
      else return;
      event.preventDefault();
    }

    /** Opens a cell for editing; typed: the first character, where a key opened it. */
    edit(i, j, typed) {
      const cell = this.cells[i][j];
      if (cell.querySelector('input')) return;
      this.moveTo(i, j, false);
      this.onFocus?.(i, j);
      const old = this.read(i, j);
      const input = el('input', {className: 'w-input', inputMode: 'decimal', autocomplete: 'off', value: typed ?? String(old), 'aria-label': `${this.name}, row ${i + 1}, column ${j + 1}`});
      const bar = el('div', {className: 'w-pop'});
      let open = true;
      const show = () => { const number = parse(input.value, this.limit); if (number !== null) this.peek(i, j, number); };
      const step = operation => {
        const number = operation(parse(input.value, this.limit) ?? old) + 0;
        if (Math.abs(number) <= this.limit) input.value = String(Number(number.toFixed(6)));
        show();
      };
      const close = keep => {
        if (!open) return;
        open = false;
        const number = parse(input.value, this.limit);
        if (keep && number === null) this.widget.tell(`“${input.value}” is not a number between −${this.limit} and ${this.limit}: ${fmt(old, 4)} stays.`);
        bar.remove();
        input.remove();
        cell.textContent = '';
        this.peek(i, j, null);
        if (keep && number !== null && number !== old) this.write(i, j, number);
      };
      for (const [sign, name, operation] of OPERATIONS) {
        const button = el('button', {type: 'button', tabIndex: -1, 'aria-label': name}, sign);
        button.addEventListener('pointerdown', event => event.preventDefault());  // the cell keeps the focus
        button.addEventListener('click', event => { event.stopPropagation(); step(operation); });
        bar.append(button);
      }
      input.addEventListener('input', show);
      input.addEventListener('blur', () => close(true));
      input.addEventListener('click', event => event.stopPropagation());
      input.addEventListener('keydown', event => {
        event.stopPropagation();
        const operation = {ArrowDown: OPERATIONS[0], ArrowUp: OPERATIONS[1]}[event.key];
        if (operation) step(operation[2]);
        else if (event.key === 'Enter' || event.key === 'Escape') {
          close(event.key === 'Enter');
          cell.focus();
        } else return;
        event.preventDefault();
      });
      cell.replaceChildren(input);
      this.widget.ui.append(bar);
      const [box, all] = [cell.getBoundingClientRect(), this.widget.ui.getBoundingClientRect()];
      bar.style.left = `${Math.max(0, Math.min(box.left - all.left - 40, all.width - 152))}px`;
      bar.style.top = `${box.bottom - all.top + 8}px`;
      input.focus();
      if (typed) show();
      else input.select();
    }

    /**
     * Shows the present numbers. mark(i, j) -> class names of a cell, from: lit, result, off, different
     * What a cell shows already is left alone: a change has to fit into a frame of a phone.
     */
    draw(mark = () => '') {
      this.cells.forEach((row, i) => row.forEach((cell, j) => {
        const number = this.read(i, j);
        const [marks, words, edited] = [mark(i, j), this.text(number, i, j), cell.firstElementChild];
        if (!edited && cell.words !== words) {
          if (cell.words !== undefined && !this.widget.sliding && !Widgets.still()) {  // under a slider everything would flash
            cell.flash?.cancel();
            cell.flash = cell.animate([{backgroundColor: 'color-mix(in srgb, var(--hue) 55%, var(--paper))'}, {}], 700);
          }
          cell.words = words;
          cell.dataset.long = Math.min(7, words.length);
        }
        if (!edited && cell.textContent !== words) cell.textContent = words;
        if (cell.marks !== marks) cell.className = `${this.base} ${cell.marks = marks}`;
        const share = Number.isFinite(number) ? Math.min(1, Math.max(0, number)) : 0;
        if (this.shares && cell.share !== share) cell.style.setProperty('--share', cell.share = share);
        const said = this.say ? this.say(i, j) : undefined;
        if (cell.said !== said) cell.setAttribute('aria-label', cell.said = said);
      }));
    }

    /** Marks the head of one row, or of none (null). */
    mark(row) { this.heads.forEach((head, i) => head.classList.toggle('on', i === row)); }
  }

  Object.assign(Widgets, {Matrix, inCell});
})();
