// uses: base.js living-example-arithmetic.js
// The running example's numbers, and panels of attention: how each cell's sum is written out, and which cells enter it.
(() => {
  'use strict';
  const {fmt} = Widgets;
  const {column} = Widgets.arithmetic;

  const EXAMPLE = {
    x: [[1, 0, 1, 0], [0, 2, 0, 2], [1, 1, 1, 1]],
    wq: [[1, 0, 1], [1, 0, 0], [0, 0, 1], [0, 1, 1]],
    wk: [[0, 0, 1], [1, 1, 0], [0, 1, 0], [1, 1, 0]],
    wv: [[0, 2, 0], [0, 3, 0], [1, 0, 3], [1, 1, 0]],
  };
  const WHOLE = {q: 'query', k: 'key', v: 'value'};
  const PYTHON = {x: 'inputs', wq: 'w_query', wk: 'w_key', wv: 'w_value'};

  /** A symbol with an index, as HTML: symbol('q', 1). */
  const symbol = (letter, index) => `<span class="le-symbol"><i>${letter}</i><sub>${index}</sub></span>`;
  /** A number in the colour of its matrix, as HTML. */
  const result = (hue, number, decimals = 2) => `<b class="${hue === 'w' ? 'w-hue' : hue}">${fmt(number, decimals)}</b>`;
  /** The same where it stands after a sign: a negative number in brackets. */
  const tinted = (hue, number, decimals = 2) => fmt(number, decimals).startsWith('−') ? `<b class="${hue === 'w' ? 'w-hue' : hue}">(${fmt(number, decimals)})</b>` : result(hue, number, decimals);
  /** The terms of a sum of products: 1·0 + 0·1 + 2·1. */
  const products = (a, hueA, b, hueB, decimals = 2) => a.map((value, t) => `${tinted(hueA, value, decimals)}·${tinted(hueB, b[t], decimals)}`).join(' + ');
  const range = count => Array.from({length: count}, (_, t) => t);

  /** explain of cell (i, j) of `of` = a · b: row i of a with column j of b. */
  const product = ({of, letter = of, a, hueA, b, hueB, hue, decimals = 2, digits = 2}) => (r, i, j) => ({
    html: `${symbol(letter, `${i + 1},${j + 1}`)} = ${products(r[a][i], hueA, column(r[b], j), hueB, decimals)} = ${result(hue, r[of][i][j], digits)}`,
    lit: range(r[b].length).flatMap(t => [[a, i, t], [b, t, j]]),
  });

  /** The panels x, wq, q, wk, k, wv, v. suffix: of a further head's matrices, such as '2' */
  const projections = (suffix = '') => Object.fromEntries(['q', 'k', 'v'].flatMap(hue => [
    [`w${hue}${suffix}`, {name: `${WHOLE[hue]} weights${suffix && `, head ${suffix}`}`, title: `<i>W</i> ${WHOLE[hue]}`, hue, editable: true}],
    [`${hue}${suffix}`, {
      name: `${{q: 'Queries', k: 'Keys', v: 'Values'}[hue]}${suffix && `, head ${suffix}`}`,
      title: `${{q: 'Queries', k: 'Keys', v: 'Values'}[hue]} <i>${hue.toUpperCase()}</i>`,
      subtitle: `= <i>X</i> · <i>W</i> ${WHOLE[hue]}`, hue, heads: [hue],
      lead: (r, i) => `The ${WHOLE[hue]} of token ${i + 1}: its row of <i>X</i> with each column of <i>W</i> ${WHOLE[hue]}`,
      explain: product({of: hue + suffix, letter: hue, a: 'x', hueA: '', b: `w${hue}${suffix}`, hueB: hue, hue}),
    }],
  ]));
  const inputs = {name: 'Inputs X', title: 'Inputs <i>X</i>', hue: '', heads: ['x'], editable: true};

  /**
   * The panels s, t, m, a and y of one head.
   * options: suffix of all its names; divisor(state) -> [number, HTML], 1 where nothing is divided; rowLetter 'q'; brush: the mask is painted
   */
  const attention = ({suffix = '', divisor = state => state.o.scale ? [Math.sqrt(3), '√3'] : [1, ''], brush = false, letter = 'q'} = {}) => {
    const [q, k, v, s, t, m, a, y] = [...'qkvstmay'].map(name => name + suffix);
    const heads = [letter, 'k'];
    const plain = suffix && `, head ${suffix}`;
    const hue = 'w';
    const query = i => symbol(letter, i + 1);
    const hidden = r => r[m].flat().filter(score => score === -Infinity).length;
    return {
      [s]: {
        name: `Scores${plain}`, title: 'Scores', subtitle: '= <i>Q</i> · <i>K</i>ᵀ', hue, heads, lead: (r, i) => `${query(i)} meets each key`,
        explain: (r, i, j) => ({
          html: `${query(i)}·${symbol('k', j + 1)} = ${products(r[q][i], 'q', r[k][j], 'k')} = ${result('w', r[s][i][j])}`,
          lit: range(r[q][i].length).flatMap(f => [[q, i, f], [k, j, f]]),
        }),
      },
      [t]: {
        name: `Scaled scores${plain}`, title: 'Scaled', hue, heads, subtitle: state => divisor(state)[0] === 1 ? 'not scaled' : `÷ ${divisor(state)[1]}`,
        lead: (r, i, state) => divisor(state)[0] === 1 ? `Scaling is off: each score of ${query(i)} stays as it is` : `Each score of ${query(i)}, divided by ${divisor(state)[1]}${divisor(state)[1].includes('√') ? ` = ${fmt(divisor(state)[0], 4)}` : ''}`,
        explain: (r, i, j, state) => ({
          html: divisor(state)[0] === 1 ? `${result('w', r[s][i][j])} stays ${result('w', r[t][i][j])}` : `${result('w', r[s][i][j])} ÷ ${fmt(divisor(state)[0], 4)} = ${result('w', r[t][i][j], 4)}`,
          lit: [[s, i, j]],
        }),
      },
      [m]: {
        name: `Masked scores${plain}`, title: 'Masked', hue, heads, subtitle: (state, r) => hidden(r) ? `${hidden(r)} of ${r[m].flat().length} hidden` : 'all visible', brush,
        off: (r, i, j) => r[m][i][j] === -Infinity, lead: (r, i) => `What may ${query(i)} look at?`,
        explain: (r, i, j) => ({
          html: `${symbol('k', j + 1)} ${r[m][i][j] === -Infinity ? `hidden: ${result('w', r[t][i][j], 4)} becomes ${result('w', -Infinity)}` : `visible: ${result('w', r[t][i][j], 4)} stays`}`,
          lit: [[t, i, j]],
        }),
      },
      [a]: {
        name: `Weights${plain}`, title: 'Weights <i>A</i>', subtitle: 'each row sums to 1', hue, heads, shares: true, off: (r, i, j) => r[m][i][j] === -Infinity,
        lead: (r, i) => softmaxLead(r[m][i]), explain: (r, i, j) => ({html: softmaxLine(r[m][i], r[a][i], j), lit: range(r[m][i].length).map(one => [m, i, one])}),
      },
      [y]: {
        name: `Outputs${plain}`, title: 'Outputs <i>Y</i>', subtitle: '= <i>A</i> · <i>V</i>', hue: 'y', heads: ['y'],
        lead: (r, i) => `The output of token ${i + 1}: its weights with each column of <i>V</i>`,
        explain: product({of: y, letter: 'y', a, hueA: 'w', b: v, hueB: 'v', hue: 'y', decimals: 3, digits: 4}),
      },
    };
  };

  // Large scores are written out as the computer takes them: minus the row's largest.
  const shiftOf = row => Math.max(...row.filter(Number.isFinite).map(Math.abs), 0) > 9 ? Math.max(...row) : 0;
  const powersOf = row => row.map(score => score === -Infinity ? 0 : Math.exp(score - shiftOf(row)));
  const sumOf = row => powersOf(row).reduce((a, b) => a + b, 0);
  const softmaxLead = row => row.every(score => score === -Infinity) ? 'No key is visible: there is nothing to share out'
    : `exp of each score${shiftOf(row) ? ', minus the largest,' : ''} divided by their sum, ${powersOf(row).map(power => fmt(power, 3)).join(' + ')} = ${fmt(sumOf(row), 3)}`;
  const softmaxLine = (row, weights, j) => {
    const shift = shiftOf(row);
    const less = shift ? ` − ${shift < 0 ? `(${fmt(shift)})` : fmt(shift)}` : '';
    if (row.every(score => score === -Infinity)) return `${symbol('k', j + 1)} hidden: ${result('w', 0)}`;
    if (row[j] === -Infinity) return `${symbol('k', j + 1)}: e<sup>−∞</sup> = 0, weight ${result('w', 0)}`;
    return `${symbol('k', j + 1)}: e<sup>${fmt(row[j])}${less}</sup> = ${fmt(powersOf(row)[j], 3)}, ÷ ${fmt(sumOf(row), 3)} = ${result('w', weights[j], 4)}`;
  };

  /** The sentence for rows that may look at nothing, or ''. */
  const emptyRows = masked => {
    const rows = range(masked.length).filter(i => masked[i].every(score => score === -Infinity)).map(i => i + 1);
    if (!rows.length) return '';
    return `Query ${rows.join(' and ')} may look at nothing: every score is −∞. There is nothing to share out, so weights and output are 0. A plain softmax computes 0 ÷ 0 there, which is NaN.`;
  };

  // Python

  const number = value => Object.is(value, -0) ? '0' : String(value);
  const literal = matrix => `[${matrix.map(row => `[${row.map(number).join(', ')}]`).join(', ')}]`;
  /** A matrix as NumPy code, a row on each line: name = np.array([[1, 2], …]) */
  const array = (name, matrix, more = '') => `${name} = np.array([\n${matrix.map(row => `    [${row.map(number).join(', ')}],`).join('\n')}\n]${more})`;
  /** How each program begins: numbers are printed as decimals, not as powers of ten. */
  const PYTHON_START = ['import numpy as np', '', 'np.set_printoptions(suppress=True)', ''];
  /** A softmax whose fully masked rows are zeros, as NumPy code. */
  const PYTHON_SOFTMAX = `
def softmax(scores):
    """Weights along the last axis; a row that is -inf throughout gives zeros."""
    top = scores.max(axis=-1, keepdims=True)
    powers = np.exp(scores - np.where(np.isfinite(top), top, 0))
    total = powers.sum(axis=-1, keepdims=True)
    return powers / np.where(total > 0, total, 1)
`;

  Object.assign(Widgets, {EXAMPLE, PYTHON, PYTHON_SOFTMAX, PYTHON_START, symbol, result, tinted, products, range, product, projections, inputs, attention, softmaxLead, softmaxLine, emptyRows, array, literal, views: {}});
})();
