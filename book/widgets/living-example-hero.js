// uses: living-example-sums.js
// The front page: the whole example, compact. The chapter's view shows the same, matrix by matrix.
(() => {
  'use strict';
  const {EXAMPLE, PYTHON, PYTHON_SOFTMAX, PYTHON_START, array, attention, copyOf, emptyRows, inputs, products, projections, range, result, symbol} = Widgets;
  const {attend, causal, everything, multiply} = Widgets.arithmetic;

  const start = element => ({
    m: {...copyOf(EXAMPLE), mask: element.hasAttribute('causal') ? causal(3) : everything(3)},
    o: {scale: !element.hasAttribute('unscaled')},
  });
  const compute = ({m, o}) => {
    const [q, k, v] = [m.wq, m.wk, m.wv].map(weights => multiply(m.x, weights));
    return {...m, q, k, v, ...attend(q, k, v, {divisor: o.scale ? Math.sqrt(3) : 1, mask: m.mask})};
  };
  const isCausal = state => String(state.m.mask) === String(causal(3));
  const controls = [
    {kind: 'switch', key: 'scale', label: 'Scale by √3'},
    {kind: 'preset', label: 'Causal mask', holds: isCausal, apply: state => { state.m.mask = isCausal(state) ? everything(3) : causal(3); }},
  ];
  const python = ({m, o}) => [
    ...PYTHON_START, ...Object.keys(PYTHON).map(name => array(PYTHON[name], m[name])), '', PYTHON_SOFTMAX, '',
    'queries = inputs @ w_query', 'keys = inputs @ w_key', 'values = inputs @ w_value', '',
    `scores = queries @ keys.T${o.scale ? ' / np.sqrt(keys.shape[-1])' : ''}`,
    ...m.mask.flat().includes(0) ? [array('mask', m.mask, ', dtype=bool'), 'scores = np.where(mask, scores, -np.inf)'] : [],
    'weights = softmax(scores)', 'outputs = weights @ values', 'print(outputs.round(4))', '',
  ].join('\n');
  const names = {q: 'queries', k: 'keys', v: 'values', m: 'scores', a: 'weights', y: 'outputs'};
  const panels = {x: inputs, ...projections(), ...attention()};
  const remark = (state, r) => emptyRows(r.m);

  const whole = {start, compute, controls, panels, python, names, remark};

  // Compact: one line for each key, from its score to its weight.
  const short = {
    ...panels.m, title: 'Scores', heads: ['q', 'k'], subtitle: ({o, m}) => `<i>Q</i> · <i>K</i>ᵀ${o.scale ? ' ÷ √3' : ''}${m.mask.flat().includes(0) ? ', masked' : ''}`,
    lead: (r, i) => `${symbol('q', i + 1)} meets each key`,
    explain: (r, i, j, {o}) => ({
      html: `${symbol('q', i + 1)}·${symbol('k', j + 1)} = ${products(r.q[i], 'q', r.k[j], 'k')} = <b>${Widgets.fmt(r.s[i][j])}</b>`
        + `${o.scale ? ` → ${Widgets.fmt(r.t[i][j])}` : ''}${r.m[i][j] === -Infinity ? ' → hidden' : ''} → ${result('w', r.a[i][j])}`,
      lit: range(4).map(f => ['x', i, f]),
    }),
  };
  Widgets.views.hero = {
    ...whole, panels: {...panels, m: short},
    tiers: [['x', 'm', 'a', 'y']],
    steps: [{title: 'Attention', say: '', panels: ['m', 'a', 'y']}],
  };
  Object.assign(Widgets, {whole});
})();
