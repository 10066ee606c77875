// uses: living-example-sums.js
// Chapter 4: a mask to paint. Hidden before the softmax, or erased after it, where the row no longer sums to 1.
(() => {
  'use strict';
  const {EXAMPLE, PYTHON, PYTHON_SOFTMAX, PYTHON_START, array, attention, copyOf, emptyRows, fmt, inputs, projections, range, result, softmaxLead, softmaxLine, symbol} = Widgets;
  const {attend, causal, everything, filled, multiply, zip} = Widgets.arithmetic;

  const PRESETS = {
    Everything: everything(3),
    Padding: filled(3, 3, (i, j) => Number(j < 2)),
    Causal: causal(3),
    Window: filled(3, 3, (i, j) => Number(j <= i && j > i - 2)),
    Documents: filled(3, 3, (i, j) => Number((i < 2) === (j < 2))),
    'Causal, padding left': filled(3, 3, (i, j) => Number(j <= i && j > 0)),
  };
  const start = () => ({m: {x: copyOf(EXAMPLE.x), mask: causal(3)}, o: {after: false}});
  const compute = ({m, o}) => {
    const [q, k, v] = ['wq', 'wk', 'wv'].map(name => multiply(m.x, EXAMPLE[name]));
    const options = {divisor: Math.sqrt(3)};
    const whole = attend(q, k, v, {...options, mask: o.after ? everything(3) : m.mask});
    if (o.after) {
      whole.a = zip(whole.a, m.mask, (weight, seen) => seen ? weight : 0);
      whole.y = multiply(whole.a, v);
    }
    return {...m, q, k, v, ...whole, total: whole.a.map(row => [row.reduce((a, b) => a + b, 0)])};
  };
  const made = attention();
  const off = (r, i, j) => !r.mask[i][j];
  const panels = {
    x: inputs,
    v: {...projections().v, subtitle: '= <i>X</i> · <i>W</i> value'},
    t: {...made.t, title: 'Scaled scores', subtitle: '<i>Q</i> · <i>K</i>ᵀ ÷ √3', lead: (r, i) => `Each score of ${symbol('q', i + 1)}, divided by √3 = 1.7321`,
      explain: (r, i, j) => ({html: `${symbol('q', i + 1)}·${symbol('k', j + 1)} = ${result('w', r.s[i][j])}, ÷ 1.7321 = ${result('w', r.t[i][j], 4)}`, lit: range(4).flatMap(f => [['x', i, f], ['x', j, f]])})},
    m: {...made.m, off, brush: true, title: 'Mask', subtitle: ({m}) => `${m.mask.flat().filter(seen => !seen).length} of 9 hidden; paint`,
      explain: (r, i, j, {o}) => ({
        html: `${symbol('k', j + 1)} ${r.mask[i][j] ? `visible: ${result('w', r.t[i][j], 4)} stays` : o.after ? `hidden, but only its weight will be erased: ${result('w', r.t[i][j], 4)} stays` : `hidden: ${fmt(r.t[i][j], 4)} becomes ${result('w', -Infinity)}`}`,
        lit: [['t', i, j]],
      })},
    a: {...made.a, off, subtitle: ({o}) => o.after ? 'erased after the softmax' : 'each row sums to 1',
      explain: (r, i, j, {o}) => {
        const unmasked = Widgets.arithmetic.softmax(r.m[i]);
        return {html: softmaxLine(r.m[i], unmasked, j) + (o.after && !r.mask[i][j] ? `, erased: ${result('w', 0)}` : ''), lit: range(3).map(one => ['m', i, one])};
      },
      lead: (r, i) => softmaxLead(r.m[i])},
    total: {name: 'Sum of each row of weights', title: 'Sum', subtitle: 'of the row', hue: 'w', lead: (r, i) => `Sum of the weights of ${symbol('q', i + 1)}`,
      different: (r, i) => Math.abs(r.total[i][0] - 1) > 1e-9 && r.mask[i].some(Boolean),
      explain: (r, i) => ({html: `${r.a[i].map(weight => result('w', weight, 4)).join(' + ')} = ${result('w', r.total[i][0], 4)}`, lit: range(3).map(j => ['a', i, j])})},
    y: made.y,
  };
  const remark = ({m, o}, r, {row}) => {
    const isHidden = m.mask[row].includes(0);
    const future = range(3).filter(j => j > row && m.mask[row][j]);
    if (o.after && !m.mask[row].includes(1)) return `Query ${row + 1} may look at nothing: all its weights are erased and its output is 0.`;
    if (o.after && isHidden) return `Row ${row + 1} sums to ${fmt(r.total[row][0], 4)}: the hidden keys are gone from the numerators but stay in the denominator. The size of each weight still tells of them: a leak.`;
    if (emptyRows(r.m)) return emptyRows(r.m);
    return future.length ? `Query ${row + 1} sees token${future.length > 1 ? 's' : ''} ${future.map(j => j + 1).join(' and ')}, which come${future.length > 1 ? '' : 's'} later. A decoder that is trained like this reads its answer off: a leak.` : '';
  };

  Widgets.views.masks = {
    start, compute, panels, remark, first: 1,
    tiers: [['t', 'm', 'a', 'total'], ['x', 'v', 'y']], ledgerAt: 1,
    controls: [
      ...Object.entries(PRESETS).map(([label, mask]) => ({kind: 'preset', label, step: 0, holds: state => String(state.m.mask) === String(mask), apply: state => { state.m.mask = copyOf(mask); }})),
      {kind: 'choice', key: 'after', label: 'Hide', step: 1, values: [[false, 'scores, before the softmax'], [true, 'weights, after it']]},
    ],
    steps: [
      {title: 'Mask', panels: ['m', 't'], say: 'Paint the mask: click, drag, or press Space on a cell. Rows are queries, columns are keys; a hidden score becomes −∞.'},
      {title: 'Softmax', panels: ['a', 'total'], say: 'e<sup>−∞</sup> = 0: a hidden key gets no weight and is in no sum. The visible ones share out 1.'},
      {title: 'Mix', panels: ['y', 'v'], say: 'The output mixes the values of visible tokens only.'},
    ],
    python: ({m, o}) => [
      ...PYTHON_START, ...Object.keys(PYTHON).map(name => array(PYTHON[name], name === 'x' ? m.x : EXAMPLE[name])), '# True (1): may be attended to', array('mask', m.mask, ', dtype=bool'), '', PYTHON_SOFTMAX, '',
      'queries, keys, values = inputs @ w_query, inputs @ w_key, inputs @ w_value', 'scores = queries @ keys.T / np.sqrt(3)',
      o.after ? 'weights = np.where(mask, softmax(scores), 0)  # too late: the rows do not sum to 1' : 'weights = softmax(np.where(mask, scores, -np.inf))',
      'outputs = weights @ values', 'print(weights.round(4), outputs.round(4), sep="\\n")', '',
    ].join('\n'),
    names: {t: 'scores', a: 'weights', y: 'outputs'},
  };
})();
