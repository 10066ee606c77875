// uses: controls.js
// <rotary-dial>: a query at position m and a key at position n, turned pair by pair; their score follows m − n alone.
(() => {
  'use strict';

  // Arithmetic

  /** Radians per position of pair i, of a head so wide. */
  const frequency = (i, width, base = 10000) => base ** (-2 * i / width);

  /** A pair of numbers, turned by an angle. */
  const turn = ([x, y], angle) => [x * Math.cos(angle) - y * Math.sin(angle), x * Math.sin(angle) + y * Math.cos(angle)];

  const pairsOf = row => Array.from({length: row.length / 2}, (_, i) => row.slice(2 * i, 2 * i + 2));
  const dot = (a, b) => a.reduce((sum, value, i) => sum + value * b[i], 0);

  /** The pairs of a row at a position, each turned by position · frequency. */
  const turned = (row, position, base) => pairsOf(row).map((pair, i) => turn(pair, position * frequency(i, row.length, base)));

  /** What each pair adds to the score of a query at m and a key at n. */
  const pairScores = (query, key, m, n, base) => {
    const [q, k] = [turned(query, m, base), turned(key, n, base)];
    return q.map((pair, i) => dot(pair, k[i]));
  };

  const total = numbers => numbers.reduce((a, b) => a + b, 0);

  if (typeof module === 'object' && module.exports) {
    module.exports = {frequency, turn, turned, pairScores, total};
    return;
  }

  const {el, fmt, Figure} = Widgets;
  const [LAST, REACH, NAMES] = [63, 20, ['pair 0', 'pair 1', 'both']];
  const SVG = 'http://www.w3.org/2000/svg';
  const svg = (tag, attributes, ...children) => {
    const element = document.createElementNS(SVG, tag);
    for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
    element.append(...children);
    return element;
  };

  /** A circle with the arrows of a query and a key, and thin lines where they were before the turn. */
  class Dial {
    constructor(title) {
      const arrow = hue => svg('g', {class: hue}, svg('path', {class: 'rd-arrow'}), svg('text', {}, hue));
      this.before = {q: svg('path', {class: 'q rd-before'}), k: svg('path', {class: 'k rd-before'})};
      this.arrows = {q: arrow('q'), k: arrow('k')};
      this.element = el('figure', {className: 'rd-dial'}, svg('svg', {viewBox: '-60 -60 120 120', 'aria-hidden': 'true'},
        svg('circle', {r: 46, class: 'rd-rim'}), svg('path', {d: 'M-46 0H46M0 -46V46', class: 'rd-rim'}), this.before.q, this.before.k, this.arrows.q, this.arrows.k));
      this.turns = {q: el('span', {className: 'q'}), k: el('span', {className: 'k'})};
      this.caption = el('figcaption', {}, el('b', {}, title), el('br'), this.turns.q, el('br'), this.turns.k);
      this.element.append(this.caption);
    }

    /** pairs: {q: [before, after, angle], k: […]}; scale: pixels per unit */
    show(pairs, scale) {
      for (const [hue, [before, [x, y], angleOf]] of Object.entries(pairs)) {
        const turn = `${hue} turned by ${fmt(angleOf)}`;
        if (this.turns[hue].textContent !== turn) this.turns[hue].textContent = turn;
        const [endX, endY, length] = [x * scale, -y * scale, Math.hypot(x, y)];
        this.before[hue].setAttribute('d', `M0 0L${before[0] * scale} ${-before[1] * scale}`);
        const angle = Math.atan2(endY, endX), wing = side => `${endX - 7 * Math.cos(angle + side)} ${endY - 7 * Math.sin(angle + side)}`;
        this.arrows[hue].firstChild.setAttribute('d', length ? `M0 0L${endX} ${endY}M${wing(0.45)}L${endX} ${endY}L${wing(-0.45)}` : '');
        const label = this.arrows[hue].lastChild, far = length ? 1 + 10 / (length * scale) : 0;
        label.setAttribute('transform', `translate(${endX * far} ${endY * far + 4})`);
      }
    }
  }

  class RotaryDial extends Figure {
    start() { return {query: [[0, 2, 0, 2]], key: [[1, 0, 1, 0]], m: 1, n: 0, pair: 'both'}; }

    build(ui) {
      const heads = [0, 1].flatMap(i => [`pair ${i}`, `<span class="hidden">pair ${i}</span>`]);
      const vector = (name, title, hue) => this.numbers(name, {name: title, title: `${title} <i>${hue}</i>`, subtitle: 'yours', hue, limit: 9, columnHeads: heads});
      this.dials = [0, 1].map(i => new Dial(`pair ${i}, θ = ${fmt(frequency(i, 4))}`));
      this.facts = el('div', {className: 'w-facts', role: 'region', 'aria-label': 'Score'});
      this.curve = svg('svg', {viewBox: '0 0 320 132', class: 'rd-curve', role: 'img'});
      const position = (label, name) => this.dial({label, name, min: 0, max: LAST, text: String});
      ui.append(
        this.invite('move both. The arrows turn, and the score stays: only m − n is left in it. Then swap m and n.'),
        el('div', {className: 'w-bar'}, position('Query at m', 'm'), position('Key at n', 'n')),
        el('div', {className: 'w-bar'}, this.button('◀ Both', () => this.together(-1)), this.button('Both ▶', () => this.together(1)),
          this.button('Swap m, n', () => this.change(state => { [state.m, state.n] = [state.n, state.m]; }))),
        el('div', {className: 'w-bar rd-vectors'}, vector('query', 'Query', 'q').element, vector('key', 'Key', 'k').element),
        el('div', {className: 'w-pair'}, el('div', {className: 'rd-dials'}, ...this.dials.map(dial => dial.element)),
          el('div', {className: 'w-stack'}, this.facts, this.choice('Score by distance', 'pair', NAMES.map(name => [name, name])), this.curve)),
        this.foot());
    }

    together(by) { this.change(state => { if (Math.min(state.m, state.n) + by >= 0 && Math.max(state.m, state.n) + by <= LAST) { state.m += by; state.n += by; } }); }

    encode({query, key, m, n, pair}) { return {q: query[0], k: key[0], m, n, pair: NAMES.indexOf(pair)}; }

    decode(pairs) {
      const state = this.start();
      for (const [short, name] of [['q', 'query'], ['k', 'key']]) {
        const row = (pairs.get(short) ?? '').split(',').map(Number);
        if (pairs.has(short) && row.length === 4 && row.every(number => Math.abs(number) <= 9)) state[name] = [row];
      }
      for (const name of ['m', 'n']) if (/^\d+$/.test(pairs.get(name) ?? '') && Number(pairs.get(name)) <= LAST) state[name] = Number(pairs.get(name));
      state.pair = NAMES[pairs.get('pair')] ?? state.pair;
      return state;
    }

    show(state) {
      const [query, key, {m, n}] = [state.query[0], state.key[0], state];
      const [q, k, parts] = [turned(query, m), turned(key, n), pairScores(query, key, m, n)];
      const scale = 40 / Math.max(1, ...[...q, ...k].map(pair => Math.hypot(...pair)));
      this.dials.forEach((dial, i) => {
        const theta = frequency(i, 4), pair = row => row.slice(2 * i, 2 * i + 2);
        dial.show({q: [pair(query), q[i], m * theta], k: [pair(key), k[i], n * theta]}, scale);
      });
      const line = (pair, i) => `<p>${pair}: <b class="q">(${q[i].map(x => fmt(x, 4)).join(', ')})</b> · <b class="k">(${k[i].map(x => fmt(x, 4)).join(', ')})</b> = <b>${fmt(parts[i], 4)}</b></p>`;
      this.facts.innerHTML = line('pair 0', 0) + line('pair 1', 1)
        + `<p>Score at <i>m</i> − <i>n</i> = ${fmt(m - n)}: <b class="w-hue">${fmt(total(parts), 4)}</b></p>`
        + `<p>Ten places on, at ${m + 10} and ${n + 10}: ${fmt(total(pairScores(query, key, m + 10, n + 10)), 4)}</p>`;
      const reach = Math.max(REACH, Math.abs(m - n));
      this.part('curve', [query, key, state.pair, reach], () => this.drawCurve(state.pair, query, key, reach));
      this.drawDot(m - n, state.pair);
    }

    /** The score over the distance. */
    drawCurve(pair, query, key, reach) {
      const at = distance => {
        const parts = pairScores(query, key, Math.max(distance, 0), Math.max(-distance, 0));
        return pair === 'both' ? total(parts) : parts[NAMES.indexOf(pair)];
      };
      const distances = Array.from({length: 2 * reach + 1}, (_, i) => i - reach);
      const most = Math.max(0.5, ...distances.map(distance => Math.abs(at(distance))));
      const x = distance => 34 + 276 * (distance + reach) / (2 * reach), y = score => 58 - 48 * score / most;
      const fine = Array.from({length: 161}, (_, i) => -reach + i * reach / 80);
      const label = (text, left, top, anchor = 'middle') => svg('text', {x: left, y: top, 'text-anchor': anchor}, text);
      this.dot = {circle: svg('circle', {class: 'rd-dot', r: 5}), at, x, y, reach};
      this.curve.replaceChildren(
        svg('path', {class: 'rd-rim', d: `M34 58H310M${x(0)} 8V108`}),
        svg('path', {class: 'rd-line', d: fine.map((distance, i) => `${i ? 'L' : 'M'}${x(distance).toFixed(1)} ${y(at(distance)).toFixed(1)}`).join('')}),
        this.dot.circle, label(fmt(-reach), x(-reach), 126, 'start'), label('m − n = 0', x(0), 126), label(String(reach), x(reach), 126, 'end'),
        label(fmt(most, 1), 30, 14, 'end'), label(fmt(-most, 1), 30, 110, 'end'));
    }

    /** A dot where the two positions are now. */
    drawDot(distance, pair) {
      const {circle, at, x, y, reach} = this.dot;
      circle.setAttribute('cx', x(distance));
      circle.setAttribute('cy', y(at(distance)));
      this.curve.setAttribute('aria-label', `Score of ${pair} over m − n from ${fmt(-reach)} to ${reach}; at ${fmt(distance)} it is ${fmt(at(distance), 4)}.`);
    }

    summary({query, key, m, n}) { return `Query at ${m}, key at ${n}: score ${fmt(total(pairScores(query[0], key[0], m, n)), 4)}.`; }
  }
  customElements.define('rotary-dial', RotaryDial);
})();
