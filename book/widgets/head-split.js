// uses: controls.js
// <head-split>: the entries of a (tokens, features) matrix as tiles that are split into heads and merged again, right and wrong.
(() => {
  'use strict';

  // Arithmetic. Entry (t, f) of the matrix has the number t · d + f; a tensor is the list of these numbers as they lie in memory.

  /** The index on each axis of a place in memory. */
  const indices = (place, shape) => {
    const found = [];
    for (const size of [...shape].reverse()) {
      found.unshift(place % size);
      place = Math.floor(place / size);
    }
    return found;
  };

  /** Entries in the order (head, token, feature). way: 'right' is reshape and transpose, 'wrong' is reshape alone. */
  const split = (tokens, width, heads, way) => Array.from({length: tokens * width}, (_, place) => {
    if (way === 'wrong') return place;
    const narrow = width / heads;
    const [head, token, feature] = indices(place, [heads, tokens, narrow]);
    return token * width + head * narrow + feature;
  });

  /** The way back: entries in the order (head, token, feature) become rows of the matrix. */
  const merge = (order, tokens, width, heads, way) => order.map((entry, place) => {
    if (way === 'wrong') return entry;
    const narrow = width / heads;
    const [token, head, feature] = indices(place, [tokens, heads, narrow]);
    return order[(head * tokens + token) * narrow + feature];
  });

  /** Per head, how many of its rows change when a token changes. */
  const rowsThatChange = (order, tokens, width, heads, token) => Array.from({length: heads}, (_, head) => {
    const rows = new Set();
    order.forEach((entry, place) => {
      const [at, row] = indices(place, [heads, tokens, width / heads]);
      if (at === head && Math.floor(entry / width) === token) rows.add(row);
    });
    return rows.size;
  });

  if (typeof module === 'object' && module.exports) {
    module.exports = {indices, split, merge, rowsThatChange};
    return;
  }

  const {el, put, table, Figure} = Widgets;
  const QUERIES = [1, 0, 2, 1, 1, 1, 2, 2, 2, 2, 0, 2, 2, 1, 3, 2, 1, 2];  // both heads of the running example
  const [TOKENS, WIDTH, WAYS, HEADS, STAGES] = [3, 6, ['right', 'wrong'], [1, 2, 3], [1, 2, 3, 4]];
  const tokenOf = entry => Math.floor(entry / WIDTH);
  const nameOf = entry => `Token ${tokenOf(entry) + 1}, feature ${entry % WIDTH + 1}`;
  const MOVES = {ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1]};

  class HeadSplit extends Figure {
    start() { return {heads: 2, split: 'right', merge: 'right', stage: 3, entry: 3}; }

    build(ui) {
      this.tiles = QUERIES.map((value, entry) => {
        const tile = this.button('', () => this.choose(entry), {className: `hs-tile hs-${tokenOf(entry) + 1}`});
        tile.append(el('b', {}, String(value)), el('small', {}, `${tokenOf(entry) + 1}·${entry % WIDTH + 1}`));
        tile.addEventListener('keydown', event => this.walk(event));
        return tile;
      });
      this.labels = el('div', {'aria-hidden': 'true'});
      this.board = el('div', {className: 'hs-board', role: 'group', 'aria-label': 'Entries; arrow keys move'}, this.labels, ...this.tiles);
      this.memory = el('ol', {className: 'hs-memory', 'aria-hidden': 'true'}, ...QUERIES.map(() => el('li')));
      this.sentence = el('p', {className: 'w-sentence'});
      this.changes = el('div');
      this.note = el('p', {className: 'w-note'});
      ui.append(
        this.invite('split by “reshape alone”. The shape is right, and head 1 holds two rows of token 1.'),
        el('div', {className: 'w-bar'},
          this.choice('Stage', 'stage', [['matrix', 1], ['reshape', 2], ['heads', 3], ['merged', 4]]),
          this.choice('Heads', 'heads', HEADS.map(heads => [String(heads), heads]))),
        el('div', {className: 'w-bar'},
          this.choice('Split', 'split', [['reshape, transpose', 'right'], ['reshape alone', 'wrong']]),
          this.choice('Merge', 'merge', [['transpose, reshape', 'right'], ['reshape alone', 'wrong']])),
        this.sentence,
        el('div', {className: 'w-pair'}, this.board, el('div', {className: 'w-stack'},
          el('p', {className: 'w-label'}, 'A tile: number, and token·feature. The same in memory:'), this.memory, this.changes, this.note)),
        this.foot());
    }

    choose(entry) { this.change(state => { state.entry = entry; }); }
    encode(state) { return state; }
    decode(pairs) { return this.chosen(pairs, {heads: HEADS, split: WAYS, merge: WAYS, stage: STAGES, entry: QUERIES.keys()}); }

    /** The entries in memory at a stage, the shape that is read into them, and the names of the first two axes. */
    tensor({heads, split: way, merge: back, stage}) {
      const whole = split(TOKENS, WIDTH, 1, 'right');
      const inHeads = split(TOKENS, WIDTH, heads, way);
      if (stage === 1) return {order: whole, shape: [1, TOKENS, WIDTH], axes: ['', 'token']};
      if (stage === 4) return {order: merge(inHeads, TOKENS, WIDTH, heads, back), shape: [1, TOKENS, WIDTH], axes: ['', 'row']};
      if (stage === 2 && way === 'right') return {order: whole, shape: [TOKENS, heads, WIDTH / heads], axes: ['token', 'piece']};
      return {order: inHeads, shape: [heads, TOKENS, WIDTH / heads], axes: ['head', 'row']};
    }

    /** Arrow keys go to the next tile as the tiles lie now. */
    walk(event) {
      const move = MOVES[event.key];
      if (!move) return;
      event.preventDefault();
      const {order, shape} = this.tensor(this.state), columns = shape[2], place = order.indexOf(this.state.entry);
      const column = place % columns + move[1], next = order[(Math.floor(place / columns) + move[0]) * columns + column];
      if (column < 0 || column >= columns || next === undefined) return;
      this.choose(next);
      this.tiles[next].focus();
    }

    show(state) {
      const {order, shape, axes} = this.tensor(state);
      this.board.style.setProperty('--rows', Math.max(TOKENS, TOKENS * state.heads));
      this.board.style.setProperty('--blocks', state.heads === 1 ? 1 : Math.max(TOKENS, state.heads));
      order.forEach((entry, place) => {
        const tile = this.tiles[entry], [block, row, column] = indices(place, shape), cell = this.memory.children[place];
        const there = `translate(calc(${column} * var(--step)), ${this.down(block, row, shape)})`;
        if (tile.place !== there) tile.style.transform = tile.place = there;
        put(tile, 'tabindex', entry === state.entry ? 0 : -1);
        put(tile, 'aria-pressed', entry === state.entry);
        put(tile, 'aria-label', `${nameOf(entry)}: ${QUERIES[entry]}. ${this.standing(place, shape, axes)}`);
        const [name, text] = [`hs-${tokenOf(entry) + 1}${entry === state.entry ? ' here' : ''}`, String(QUERIES[entry])];
        if (cell.className !== name) cell.className = name;
        if (cell.textContent !== text) cell.textContent = text;
      });
      this.part('labels', [shape, axes], () => this.labels.replaceChildren(...Array.from({length: shape[0] * shape[1]}, (_, at) => {
        const [block, row] = indices(at, shape.slice(0, 2));
        const label = el('span', {className: 'hs-label'}, ...(axes[0] && !row ? [el('b', {}, `${axes[0]} ${block + 1}`)] : []), el('span', {}, `${axes[1]} ${row + 1}`));
        label.style.transform = `translateY(${this.down(block, row, shape)})`;
        return label;
      })));
      this.explain(state, shape);
      this.part('test', [state.heads, state.split, state.merge], () => this.test(state));
    }

    down(block, row, shape) { return `calc(${block * shape[1] + row} * var(--step) + ${block} * var(--gap))`; }

    standing(place, shape, axes) {
      const [block, row, column] = indices(place, shape);
      return `${axes[0] ? `${axes[0]} ${block + 1}, ` : ''}${axes[1]} ${row + 1}, column ${column + 1}; number ${place + 1} in memory`;
    }

    explain({split: way, merge: back, stage, heads}, shape) {
      const text = shape.join(', '), right = way === 'right';
      this.sentence.textContent = {
        1: `The queries of two heads, side by side: one row per token, shape (${TOKENS}, ${WIDTH}).`,
        2: right ? `Reshape to (${text}): each token's row is cut into ${heads}. Nothing moves in memory.` : `Reshape straight to (${text}). Nothing moves in memory.`,
        3: right ? `Transpose to (${text}): pieces with the same number come together, so each head has one row per token.`
          : heads === 1 ? 'One head: the reshape is all that is needed.' : `The shape is (${text}), as it should be. But the rows of a head are not one per token.`,
        4: `Merged to (${TOKENS}, ${WIDTH}) by ${back === 'right' ? 'transpose and reshape' : 'reshape alone'}.`,
      }[stage];
    }

    /** The chapter's test: change one token, and count the rows that change in each head. */
    test({heads, split: way, merge: back}) {
      const order = split(TOKENS, WIDTH, heads, way);
      const counts = [0, 1, 2].map(token => rowsThatChange(order, TOKENS, WIDTH, heads, token));
      this.changes.replaceChildren(table('Change a token: rows that change in each head. Right is 1.',
        ['', ...order.slice(0, heads).map((_, head) => `head ${head + 1}`)],
        counts.map((rows, token) => [`token ${token + 1}`,
          ...rows.map(count => el('td', {className: count === 1 ? 'good' : 'bad'}, `${count} ${count === 1 ? '✓' : '✗'}`))])));
      const moved = merge(order, TOKENS, WIDTH, heads, back).filter((entry, place) => entry !== place).length;
      const wrong = counts.flat().some(count => count !== 1);
      this.note.textContent = moved ? `Merged, ${moved} of ${QUERIES.length} entries are not where they were.`
        : `Merged, every entry is where it was${wrong ? ': the two mistakes hide each other' : ''}.`;
    }

    summary(state) {
      const {order, shape, axes} = this.tensor(state);
      return `${nameOf(state.entry)} stands in ${this.standing(order.indexOf(state.entry), shape, axes)}.`;
    }
  }
  customElements.define('head-split', HeadSplit);
})();
