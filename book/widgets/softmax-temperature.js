// uses: controls.js
// <softmax-temperature>: one row of scores through a softmax, divided by √d and not, at a temperature: weights, entropy, derivative.
(() => {
  'use strict';

  // Arithmetic

  const softmax = row => {
    const top = Math.max(...row);
    const powers = row.map(input => Math.exp(input - top)), sum = powers.reduce((a, b) => a + b, 0);
    return powers.map(power => power / sum);
  };

  /** In bits; 0 · log 0 counts as 0. */
  const entropy = weights => weights.reduce((sum, weight) => weight > 0 ? sum - weight * Math.log2(weight) : sum, 0);

  /** The largest |∂aᵢ / ∂sⱼ|: max aᵢ (1 − aᵢ), with 1 − aᵢ as the sum of the others, where nothing cancels. */
  const largestDerivative = weights => Math.max(...weights.map((weight, i) =>
    weight * weights.reduce((sum, other, j) => i === j ? sum : sum + other, 0)));

  /**
   * A row of scores and what becomes of it. standard: the scores divided by √width, which do not grow with the width.
   * derivative: of a weight by an input of the softmax; atQuery: times what stands between that input and the query,
   * a key's length √width over the divisor.
   */
  const row = ({standard, width, temperature, scaled}) => {
    const root = Math.sqrt(width), divisor = (scaled ? root : 1) * temperature;
    const inputs = standard.map(score => score * root / divisor);
    const weights = softmax(inputs), derivative = largestDerivative(weights);
    return {inputs, weights, derivative, entropy: entropy(weights), atQuery: derivative * root / divisor};
  };

  if (typeof module === 'object' && module.exports) {
    module.exports = {softmax, entropy, largestDerivative, row};
    return;
  }

  const {el, fmt, Figure, Matrix} = Widgets;
  const [WIDTHS, KEYS] = [[1, 4, 16, 64, 256, 1024], 5];
  const keyHeads = Array.from({length: KEYS}, (_, at) => `<span class="k"><i>k</i><sub>${at + 1}</sub></span>`);
  const raised = number => [...String(number)].map(digit => '⁰¹²³⁴⁵⁶⁷⁸⁹'[digit]).join('');

  /** Three digits that count, also of a number that is nearly 0. */
  const small = number => {
    if (number === 0 || number >= 0.001) return fmt(number, 3);
    const power = Math.floor(Math.log10(number));
    return `${(number / 10 ** power).toFixed(1)} · 10⁻${raised(-power)}`;
  };

  class SoftmaxTemperature extends Figure {
    start() { return {standard: [[1.2, 0.9, 0.2, -0.5, -1.1]], width: 64, heat: 0}; }

    build(ui) {
      this.given = this.numbers('standard', {name: 'Scores divided by the root of d', title: 'Scores ÷ √<i>d</i>', subtitle: 'yours', hue: 'w', limit: 20, columnHeads: keyHeads,
        text: number => String(number).replace('-', '−')});
      this.cases = [false, true].map(scaled => this.case(scaled));
      ui.append(
        this.invite('make the keys wider. Without ÷ √d one weight takes all and the derivative vanishes; with it nothing moves.'),
        el('div', {className: 'w-bar'}, this.choice('Width d', 'width', WIDTHS.map(width => [String(width), width])),
          this.dial({label: 'Temperature', name: 'heat', min: -3, max: 3, step: 0.25, text: heat => fmt(2 ** heat)})),
        this.given.element,
        el('div', {className: 'w-pair'}, ...this.cases.map(one => one.element)),
        this.foot());
    }

    /** The panel of one way: what enters the softmax, the weights, three facts. */
    case(scaled) {
      const one = {scaled, found: null, facts: el('div', {className: 'w-facts', role: 'region', 'aria-label': scaled ? 'Facts, divided by the root of d' : 'Facts, not divided'})};
      const words = scaled ? 'divided by the root of d' : 'not divided';
      const panel = (name, title, read, shares, text) => new Matrix(this, {name: `${name}, ${words}`, title, subtitle: shares ? 'sum 1' : '', rows: 1, columns: KEYS, hue: 'w', shares, read, text});
      one.inputs = panel('Input of the softmax', scaled ? 'Divided by √<i>d</i>' : 'Not divided', (i, j) => one.found.inputs[j], false, number => fmt(number, 1));
      one.weights = panel('Weights', 'Weights', (i, j) => one.found.weights[j], true, number => number.toFixed(2));
      one.element = el('section', {className: 'st-case w-stack'}, one.inputs.element, one.weights.element, one.facts);
      return one;
    }

    encode({standard, width, heat}) { return {standard: standard[0], width, heat}; }

    decode(pairs) {
      const state = this.chosen(pairs, {width: WIDTHS}), scores = (pairs.get('standard') ?? '').split(',').map(Number);
      if (pairs.has('standard') && scores.length === KEYS && scores.every(score => Math.abs(score) <= 20)) state.standard = [scores];
      const heat = Number(pairs.get('heat'));
      if (Math.abs(heat) <= 3) state.heat = heat;
      return state;
    }

    rows({standard, width, heat}) { return [false, true].map(scaled => row({standard: standard[0], width, temperature: 2 ** heat, scaled})); }

    show(state) {
      const found = this.rows(state), heat = fmt(2 ** state.heat), root = `√${state.width}`;
      this.cases.forEach((one, at) => {
        one.found = found[at];
        one.inputs.draw();
        one.weights.draw();
        const subtitle = [...(one.scaled ? [`÷ ${root}`] : []), ...(state.heat ? [`÷ temperature ${heat}`] : [])].join(' ');
        one.inputs.subtitle.textContent = `the scores${subtitle ? ` ${subtitle}` : ' as they are'}`;
        const {entropy: bits, derivative, atQuery} = found[at];
        one.facts.innerHTML = `<p>Entropy <b>${fmt(bits)}</b> of ${fmt(Math.log2(KEYS))} bits</p><p>Largest ∂<i>a</i>/∂<i>s</i> <b>${small(derivative)}</b></p>`
          + `<p>At the query, × ${root}${one.scaled ? ` ÷ ${root}` : ''}${state.heat ? ` ÷ ${heat}` : ''}: <b>${small(atQuery)}</b></p>`;
      });
    }

    summary(state) {
      const [plain, scaled] = this.rows(state).map(({weights, derivative}) => `largest weight ${fmt(Math.max(...weights))}, largest derivative ${small(derivative)}`);
      return `Width ${state.width}. Not divided: ${plain}. Divided: ${scaled}.`;
    }
  }
  customElements.define('softmax-temperature', SoftmaxTemperature);
})();
