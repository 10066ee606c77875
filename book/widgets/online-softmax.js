// uses: controls.js
// <online-softmax>: attention tile by tile, with a running maximum, sum and output per query; causal tiles are skipped.
(() => {
  'use strict';

  // Arithmetic

  const dot = (a, b) => a.reduce((sum, value, i) => sum + value * b[i], 0);
  const add = (a, b) => a.map((value, i) => value + b[i]);
  const times = (factor, a) => a.map(value => factor * value);
  const exp = exponent => exponent === -Infinity ? 0 : Math.exp(exponent);

  /** Scores (L, S) over √d; causal: −∞ where a key comes after its query, both counted from the first. */
  const scoresOf = (queries, keys, causal) => queries.map((query, i) => keys.map((key, j) =>
    causal && j > i ? -Infinity : dot(query, key) / Math.sqrt(key.length)));

  /** The softmax over all keys at once, and the output. */
  const whole = (scores, values) => scores.map(row => {
    const top = Math.max(...row), powers = row.map(score => exp(score - top)), sum = powers.reduce((a, b) => a + b, 0);
    return powers.reduce((output, power, j) => add(output, times(power / sum, values[j])), values[0].map(() => 0));
  });

  /**
   * One query meets a piece of a row of scores. before: {m, l, a}, at first {m: −∞, l: 0, a: zeros}
   * rescale: 'both' sums, or 'l' or 'a' alone, a mistake. Returns {m, r, terms, l, a}.
   */
  const meet = (before, scores, values, rescale = 'both') => {
    const m = Math.max(before.m, ...scores), shift = m === -Infinity ? 0 : m;
    const r = exp(before.m - shift), terms = scores.map(score => exp(score - shift));
    const [ofSum, ofOutput] = [rescale === 'a' ? 1 : r, rescale === 'l' ? 1 : r];
    const a = terms.reduce((sum, term, j) => add(sum, times(term, values[j])), times(ofOutput, before.a));
    return {m, r, terms, l: ofSum * before.l + terms.reduce((x, y) => x + y, 0), a};
  };

  /**
   * All tiles in the order in which they are walked, query block by query block.
   * Returns {steps, skipped, output}: a step has row and column of its tile and, per query of the block, {query, before, after};
   * skipped are the tiles [row, column] that a causal mask hides whole.
   */
  const walk = (scores, values, size, rescale = 'both') => {
    const blocks = Math.ceil(scores.length / size), steps = [], skipped = [];
    const state = scores.map(() => ({m: -Infinity, l: 0, a: values[0].map(() => 0)}));
    for (let row = 0; row < blocks; row++) for (let column = 0; column < Math.ceil(values.length / size); column++) {
      const queries = scores.map((_, i) => i).slice(row * size, row * size + size);
      const piece = i => scores[i].slice(column * size, column * size + size);
      if (queries.every(i => piece(i).every(score => score === -Infinity))) { skipped.push([row, column]); continue; }
      const met = queries.map(i => {
        const before = state[i];
        state[i] = meet(before, piece(i), values.slice(column * size, column * size + size), rescale);
        return {query: i, scores: piece(i), before, after: state[i]};
      });
      steps.push({row, column, met});
    }
    return {steps, skipped, output: state.map(({a, l}) => times(1 / (l === 0 ? 1 : l), a))};
  };

  if (typeof module === 'object' && module.exports) {
    module.exports = {scoresOf, whole, meet, walk};
    return;
  }

  const {el, fmt, table, Figure} = Widgets;
  // The running example; where there are six tokens, its own in this order: the largest score of a row is not in its first tile
  const THREE = {q: [[1, 0, 2], [2, 2, 2], [2, 1, 3]], k: [[0, 1, 1], [4, 4, 0], [2, 3, 1]], v: [[1, 2, 3], [2, 8, 0], [2, 6, 3]]};
  const ORDERS = {3: [1, 2, 3], 6: [1, 3, 1, 2, 2, 3]};
  const tokens = (name, length) => ORDERS[length].map(token => THREE[name][token - 1]);
  const [SIZES, LENGTHS, RESCALES] = [[1, 2, 3], [3, 6], ['both', 'l', 'a']];
  const four = number => fmt(number, 4);
  const vector = numbers => `[${numbers.map(four).join(', ')}]`;
  const factor = number => number !== 0 && number < 0.001 ? number.toFixed(5) : four(number);

  class OnlineSoftmax extends Figure {
    start() { return {length: 6, size: 2, causal: 1, rescale: 'both', step: 1, query: 1}; }

    build(ui) {
      this.map = el('div', {className: 'os-map', role: 'group', 'aria-label': 'Tiles: choose how far the walk has come'});
      this.facts = el('div', {className: 'w-facts os-facts', role: 'region', 'aria-label': 'The chosen query meets the tile'});
      this.rows = el('div');
      this.note = el('p', {className: 'w-note'});
      this.count = el('p', {className: 'w-label'});
      this.back = this.button('◀ Back', () => this.go(this.state.step - 1));
      this.next = this.button('Next tile ▶', () => this.go(this.state.step + 1));
      ui.append(
        this.invite('step to the end and compare with the full softmax; then rescale only one of the two sums.'),
        el('div', {className: 'w-bar'},
          this.choice('Tokens', 'length', LENGTHS.map(length => [String(length), length])),
          this.choice('Block', 'size', SIZES.map(size => [String(size), size])),
          this.choice('Mask', 'causal', [['causal', 1], ['none', 0]]),
          this.choice('Rescale', 'rescale', [['ℓ and a', 'both'], ['only ℓ', 'l'], ['only a', 'a']])),
        el('div', {className: 'w-bar'}, this.back, this.next, this.button('To the end', () => this.go(Infinity)), this.count),
        el('div', {className: 'w-pair os-pair'}, this.map, el('div', {className: 'w-stack'}, this.rows, this.facts)),
        this.note, this.foot());
    }

    encode(state) { return state; }

    decode(pairs) {
      const counted = Array.from({length: 37}, (_, i) => i);
      return this.chosen(pairs, {length: LENGTHS, size: SIZES, causal: [0, 1], rescale: RESCALES, step: counted, query: [0, 1, 2, 3, 4, 5]});
    }

    found({length, size, causal, rescale}) {
      const values = tokens('v', length), scores = scoresOf(tokens('q', length), tokens('k', length), causal);
      return {values, scores, full: whole(scores, values), ...walk(scores, values, size, rescale)};
    }

    /** Goes to a step; the chosen query stays where its block is the same. */
    go(step) {
      this.change(state => {
        const {steps} = this.found(state);
        state.step = Math.max(1, Math.min(steps.length, step));
      });
    }

    /** The step that is shown and the query of it that is written out. */
    now(state, {steps}) {
      const step = steps[Math.min(Math.max(state.step, 1), steps.length) - 1];
      return {step, at: steps.indexOf(step), chosen: step.met.find(({query}) => query === state.query) ?? step.met.at(-1)};
    }

    show(state) {
      const found = this.found(state), {step, at, chosen} = this.now(state, found), last = at === found.steps.length - 1;
      this.back.disabled = at === 0;
      this.next.disabled = last;
      const all = Math.ceil(state.length / state.size) ** 2;
      this.count.textContent = `tile ${at + 1} of ${found.steps.length}; ${found.skipped.length} of ${all} skipped`;
      this.drawMap(state, found, step, at, chosen);
      this.drawRows(found, step, chosen);
      this.explain(state, step, chosen);
      this.compare(state, found, step, chosen);
    }

    /** One cell per score; the cells of a tile are as the walk has left them. */
    drawMap({length, size, causal}, {scores, steps}, step, at, chosen) {
      const order = new Map(steps.map((one, number) => [`${one.row} ${one.column}`, number]));
      const tileOf = (i, j) => order.get(`${Math.floor(i / size)} ${Math.floor(j / size)}`);
      this.part('map', [length, size, causal], () => this.makeMap(length, tileOf));
      this.cells.forEach((row, i) => row.forEach((cell, j) => {
        const number = tileOf(i, j), score = scores[i][j];
        const kind = number === undefined ? 'skipped' : number === at ? 'now' : number < at ? 'used' : 'later';
        const marks = ['os-cell', kind, i % size ? '' : 'top', j % size ? '' : 'left', score === -Infinity && kind !== 'skipped' ? 'hidden-score' : '', i === chosen.query ? 'on' : ''];
        const [name, text] = [marks.filter(Boolean).join(' '), kind === 'now' ? fmt(score, 1) : kind === 'used' ? '·' : ''];
        if (cell.className !== name) cell.className = name;
        if (cell.textContent !== text) cell.textContent = text;
      }));
      this.rowHeads.forEach((head, i) => head.classList.toggle('on', i === chosen.query));
      const range = block => `${block * size + 1} to ${Math.min(length, block * size + size)}`;
      this.words.textContent = `Tile of queries ${range(step.row)} and keys ${range(step.column)}; ${at} tiles before it are used and gone.`;
    }

    makeMap(length, tileOf) {
      const every = Array.from({length}, (_, i) => i);
      this.map.style.setProperty('--length', length);
      this.rowHeads = every.map(i => el('span', {className: 'os-head q'}, `q${i + 1}`));
      this.cells = every.map(i => every.map(j => {
        const cell = el('span', {className: 'os-cell'}), number = tileOf(i, j);
        if (number !== undefined) cell.addEventListener('click', () => this.change(state => { state.step = number + 1; state.query = i; }));
        return cell;
      }));
      this.words = el('p', {className: 'hidden'});
      const sample = (kind, text, mark = '') => [el('span', {className: `os-cell ${kind}`}, mark), ` ${text} `];
      this.map.replaceChildren(
        el('div', {className: 'os-grid', 'aria-hidden': 'true'}, el('span'), ...every.map(j => el('span', {className: 'os-head k'}, `k${j + 1}`)), ...every.flatMap(i => [this.rowHeads[i], ...this.cells[i]])),
        this.words, el('p', {className: 'w-label'}, `Tokens ${ORDERS[length].join(', ')} of the running example`),
        el('p', {className: 'os-legend w-label', 'aria-hidden': 'true'}, ...sample('now', 'now'), ...sample('used', 'used and gone', '·'), ...sample('later', 'to come'), ...sample('skipped', 'never made')));
    }

    /** What is kept for each query of the block. */
    drawRows(found, step, chosen) {
      const pick = ({query}) => {
        const button = this.button(`q${query + 1}`, () => this.change(state => { state.query = query; }), {className: 'os-pick'});
        button.setAttribute('aria-pressed', query === chosen.query);
        button.setAttribute('aria-label', `Write out query ${query + 1}`);
        return button;
      };
      const focused = this.rows.contains(document.activeElement) ? document.activeElement.textContent : null;
      this.rows.replaceChildren(table('Kept per query of this block, after the tile', ['', 'm', 'r', 'ℓ', 'a'],
        step.met.map(one => [pick(one), four(one.after.m), factor(one.after.r), four(one.after.l), vector(one.after.a)])));
      if (focused) [...this.rows.querySelectorAll('button')].find(button => button.textContent === focused)?.focus();
    }

    /** The chosen query's three running numbers, written out. */
    explain({rescale, length, size}, step, {query, scores, before, after}) {
    const values = tokens('v', length).slice(step.column * size, step.column * size + size);
      const terms = scores.map((score, j) => score === -Infinity ? '0' : `<span class="os-term">e<sup>${fmt(score)} − ${fmt(after.m)}</sup> = ${four(after.terms[j])}</span>`);
      const first = before.m === -Infinity, ofSum = rescale === 'a' ? 'not rescaled: ' : '', ofOutput = rescale === 'l' ? 'not rescaled: ' : '';
      const old = (kind, forgotten) => first ? '' : forgotten ? `${kind} + ` : `${factor(after.r)} · ${kind} + `;
      const sum = after.terms.map(four).join(' + '), mixed = after.terms.map((term, j) => `${four(term)}·${fmt(values[j][0])}`).join(' + ');
      this.facts.innerHTML = `<p class="w-caption">q<sub>${query + 1}</sub> meets this tile</p>`
        + `<p><i>m</i> = max(${first ? '−∞' : four(before.m)}, ${scores.map(score => fmt(score)).join(', ')}) = <b>${four(after.m)}</b></p>`
        + `<p><i>r</i> = ${first ? '0: nothing to rescale yet' : `e<sup>${fmt(before.m)} − ${fmt(after.m)}</sup> = <b>${factor(after.r)}</b>`}</p>`
        + `<p>new terms: ${terms.join(', ')}</p>`
        + `<p>${ofSum}<i>ℓ</i> = ${old(four(before.l), rescale === 'a')}${sum} = <b>${four(after.l)}</b></p>`
        + `<p>${ofOutput}<i>a</i><sub>1</sub> = ${old(four(before.a[0]), rescale === 'l')}${mixed} = <b>${four(after.a[0])}</b></p>`
        + `<p><i>a</i> / <i>ℓ</i> = <b class="y">${vector(after.a.map(value => value / (after.l || 1)))}</b></p>`;
    }

    /** At the end of a row of tiles: the output beside that of the full softmax. */
    compare({rescale}, {steps, full, output}, step, {query}) {
      const ends = steps.filter(({row}) => row === step.row).at(-1) === step;
      const gap = Math.max(...output[query].map((value, i) => Math.abs(value - full[query][i])));
      const equal = output[query].every((value, i) => four(value) === four(full[query][i]));
      this.note.textContent = !ends ? `Full softmax of q${query + 1}: ${vector(full[query])}. More tiles of this row are to come.`
        : equal ? `Full softmax of q${query + 1}: ${vector(full[query])}: equal in all digits shown; largest difference ${gap === 0 ? '0' : gap.toExponential(0)}.`
          : `Full softmax of q${query + 1}: ${vector(full[query])}. It is missed by ${four(gap)}: ${rescale === 'l' ? 'a' : 'ℓ'} was not rescaled.`;
    }

    summary(state) {
      const found = this.found(state), {step, at, chosen} = this.now(state, found);
      return `Tile ${at + 1} of ${found.steps.length}, row ${step.row + 1}, column ${step.column + 1}. Query ${chosen.query + 1}: maximum ${four(chosen.after.m)}, sum ${four(chosen.after.l)}.`;
    }
  }
  customElements.define('online-softmax', OnlineSoftmax);
})();
