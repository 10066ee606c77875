// uses: controls.js
// <attention-cost>: what attention computes, holds and moves, from its sizes, with the formulas and the numbers put into them.
(() => {
  'use strict';

  // Arithmetic. sizes: n tokens, d features of a head, heads, groups of key and value heads, layers, batch, bytes of a number, causal.

  const COSTS = {
    /** FLOPs of the two products with scores and weights, forward; a causal mask halves them. */
    products: ({n, d, heads, layers, batch, causal}) => 4 * batch * heads * n ** 2 * d * layers / (causal ? 2 : 1),
    /** FLOPs of the four projections, forward; the model is heads · d wide. */
    projections: ({n, d, heads, groups, layers, batch}) => 2 * batch * n * (heads * d) * (2 * heads * d + 2 * groups * d) * layers,
    /** Bytes of the weights of one layer where they are written down. */
    matrix: ({n, heads, batch, bytes}) => batch * heads * n ** 2 * bytes,
    /** Bytes that one layer moves to and from slow memory with its matrices written down, without a mask. */
    written: ({n, d, heads, batch, bytes}) => (4 * n ** 2 + 4 * n * d) * heads * batch * bytes,
    /** The same with tiles of so many queries. */
    tiled: ({n, d, heads, batch, bytes, tile}) => (2 * n * d + 2 * n ** 2 * d / tile) * heads * batch * bytes,
    /** Bytes of keys and values of all tokens in all layers. */
    cache: ({n, d, groups, layers, batch, bytes}) => 2 * layers * groups * n * d * bytes * batch,
    /** FLOPs of the products for one new token that meets n keys, in each text of the batch. */
    token: ({n, d, heads, layers, batch}) => 4 * n * d * heads * layers * batch,
    /** FLOPs per byte of cache that is read for it. */
    intensity: sizes => COSTS.token(sizes) / COSTS.cache(sizes),
  };

  if (typeof module === 'object' && module.exports) {
    module.exports = Object.fromEntries(Object.entries(COSTS));
    return;
  }

  const {el, Figure} = Widgets;
  const LIMITS = {n: 2 ** 24, d: 1024, heads: 256, groups: 256, layers: 256, batch: 4096, tile: 1024};
  const PRESETS = {
    'LLaMA 7B': {n: 4096, d: 128, heads: 32, groups: 32, layers: 32, batch: 1, bytes: 2, causal: 1, tile: 128},
    'the same, G = 8': {n: 4096, d: 128, heads: 32, groups: 8, layers: 32, batch: 1, bytes: 2, causal: 1, tile: 128},
    'Transformer 2017, base': {n: 512, d: 64, heads: 8, groups: 8, layers: 6, batch: 1, bytes: 4, causal: 0, tile: 128},
    'one head, 32,768 tokens': {n: 32768, d: 64, heads: 1, groups: 1, layers: 1, batch: 1, bytes: 4, causal: 0, tile: 128},
  };
  const NAMES = {n: 'tokens n', d: 'head width d', heads: 'heads H', groups: 'key heads G', layers: 'layers N', batch: 'batch B', tile: 'tile T'};
  const whole = number => Math.round(number).toLocaleString('en');
  const withUnit = (number, units, base) => {
    let at = 0;
    while (number >= base && at < units.length - 1) { number /= base; at++; }
    return `${number >= 100 || Number.isInteger(number) ? whole(number) : number.toPrecision(3)} ${units[at]}`;
  };
  const bytesText = number => withUnit(number, ['bytes', 'KiB', 'MiB', 'GiB', 'TiB', 'PiB'], 1024);
  const flopsText = number => withUnit(number, ['FLOPs', 'thousand FLOPs', 'million FLOPs', 'GFLOPs', 'TFLOPs', 'PFLOPs', 'EFLOPs'], 1000);
  //: What is shown: name, formula, the formula with numbers, unit
  const LINES = [
    ['Computed, forward', [
      ['products', 'Scores and mix', 'B·N·H·4n²d', ' ÷ 2', flopsText],
      ['projections', 'Four projections', 'B·N·2n·Hd·(2Hd + 2Gd)', '', flopsText]]],
    ['One layer without a mask', [
      ['matrix', 'Weights, written down', 'B·H·n²·bytes', '', bytesText],
      ['written', 'Moved, written down', 'B·H·(4n² + 4nd)·bytes', '', bytesText],
      ['tiled', 'Moved, tiles of T queries', 'B·H·(2nd + 2n²d/T)·bytes', '', bytesText]]],
    ['Writing the next token', [
      ['cache', 'Cache of keys and values', 'B·N·2·G·n·d·bytes', '', bytesText],
      ['token', 'Products for one token', 'B·N·H·4nd', '', flopsText],
      ['intensity', 'FLOPs per byte of cache', '2H ÷ (G·bytes)', '', number => `${Number(number.toPrecision(3))}`]]],
  ];

  class AttentionCost extends Figure {
    start() { return {...PRESETS['LLaMA 7B']}; }

    build(ui) {
      this.results = {};
      const presets = Object.entries(PRESETS).map(([name, sizes]) => {
        const button = this.button(name, () => this.change(state => Object.assign(state, sizes)));
        button.show = state => button.setAttribute('aria-pressed', Object.entries(sizes).every(([key, value]) => state[key] === value));
        return this.keep(button);
      });
      const section = ([title, lines]) => el('section', {}, el('p', {className: 'w-caption'}, title), el('dl', {className: 'ac-list'}, ...lines.map(([key, name, formula]) => {
        const [result, numbers] = [el('dd', {className: 'ac-result'}), el('small', {})];
        this.results[key] = {result, numbers};
        return el('div', {}, el('dt', {}, name, el('small', {}, formula), numbers), result);
      })));
      ui.append(
        this.invite('double the tokens and see what doubles and what quadruples; then divide G by four.'),
        el('div', {className: 'w-bar', role: 'group', 'aria-label': 'Examples'}, ...presets),
        el('div', {className: 'ac-fields'}, ...Object.keys(NAMES).map(name => this.count(name))),
        el('div', {className: 'w-bar'}, this.choice('Number', 'bytes', [['32 bits', 4], ['16 bits', 2], ['8 bits', 1]]),
          this.choice('Mask', 'causal', [['causal', 1], ['none', 0]])),
        el('div', {className: 'ac-results'}, ...LINES.map(section)),
        this.foot());
    }

    /** A whole number from 1 on: typed, or halved and doubled. */
    count(name) {
      const input = el('input', {type: 'text', inputMode: 'numeric', autocomplete: 'off', id: `${this.id}-${name}`});
      const put = (value, said) => {
        const problem = this.problem({...this.state, [name]: value}, name);
        if (problem) this.tell(`${said} is not possible: ${problem}`);
        else this.change(state => { state[name] = value; });
        input.value = this.state[name];
      };
      const bump = (text, factor, words) => this.button(text, () => put(this.state[name] * factor, String(this.state[name] * factor)), {'aria-label': `${NAMES[name]}: ${words}`});
      input.addEventListener('change', event => {
        event.stopPropagation();
        put(/^\d+$/.test(input.value.replace(/[ ,.]/g, '')) ? Number(input.value.replace(/[ ,.]/g, '')) : NaN, `“${input.value}”`);
      });
      const box = el('div', {className: 'ac-field'}, el('label', {htmlFor: input.id}, NAMES[name]), el('div', {}, bump('÷2', 0.5, 'halve'), input, bump('×2', 2, 'double')));
      box.show = state => { if (document.activeElement !== input) input.value = state[name]; };
      return this.keep(box);
    }

    /** Why these sizes make no attention, or nothing. */
    problem(sizes, name) {
      if (!Number.isInteger(sizes[name]) || sizes[name] < 1 || sizes[name] > LIMITS[name]) return `${NAMES[name]} is a whole number from 1 to ${whole(LIMITS[name])}.`;
      if (sizes.heads % sizes.groups) return `the ${sizes.heads} heads must fall into equal groups, so G must divide ${sizes.heads}.`;
      return '';
    }

    encode(state) { return state; }

    decode(pairs) {
      const state = this.chosen(pairs, {bytes: [4, 2, 1], causal: [0, 1]});
      for (const name of Object.keys(NAMES)) if (/^\d+$/.test(pairs.get(name) ?? '')) state[name] = Number(pairs.get(name));
      return Object.keys(NAMES).some(name => this.problem(state, name)) ? this.start() : state;
    }

    show(state) {
      const {n, d, heads: H, groups: G, layers: N, batch: B, bytes, tile: T} = state;
      const numbers = {B, N, H, G, T, n: whole(n), d, bytes};
      for (const [, lines] of LINES) for (const [key, , formula, halved, text] of lines) {
        const full = formula + (halved && state.causal ? halved : '');
        this.results[key].result.textContent = text(COSTS[key](state));
        this.results[key].numbers.textContent = full.replace(/bytes|\d?[BNHGTnd]²?d?/g, part => this.put(part, numbers));
      }
    }

    /** A piece of a formula, such as 4n²d or Hd, with numbers. */
    put(part, numbers) {
      if (part === 'bytes') return numbers.bytes;
      return (part.match(/\d|[BNHGTnd]²?/g) ?? []).map(one => one.endsWith('²') ? `${numbers[one[0]]}²` : numbers[one] ?? one).join('·');
    }

    summary(state) {
      return `Products ${flopsText(COSTS.products(state))}, weights of one layer ${bytesText(COSTS.matrix(state))}, cache ${bytesText(COSTS.cache(state))}.`;
    }
  }
  customElements.define('attention-cost', AttentionCost);
})();
