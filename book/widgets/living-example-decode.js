// uses: living-example-sums.js
// Chapter 10: one token more at each step. Keys and values are kept, everything else is used once.
(() => {
  'use strict';
  const {EXAMPLE, PYTHON, PYTHON_SOFTMAX, PYTHON_START, array, attention, copyOf, fmt, inputs, projections, range, result, symbol} = Widgets;
  const {attend, causal, filled, map, multiply} = Widgets.arithmetic;
  const COUNT = 4;

  const start = () => ({m: {x: [...copyOf(EXAMPLE.x), [1, 0, 0, 1]]}, o: {written: 1}});
  /** Rows that are not written yet, and queries that are used up, hold NaN and are shown empty. */
  const compute = ({m, o}) => {
    const [q, k, v] = ['wq', 'wk', 'wv'].map(name => multiply(m.x, EXAMPLE[name]));
    const whole = attend(q, k, v, {divisor: Math.sqrt(3), mask: causal(COUNT)});
    const until = (matrix, keep) => map(matrix, (number, i, j) => keep(i, j) ? number : NaN);
    const written = i => i < o.written;
    const pairs = (i, j) => written(i) && j <= i;
    return {
      ...m, q: until(q, i => i === o.written - 1), k: until(k, written), v: until(v, written), s: until(whole.s, pairs), t: until(whole.t, pairs), m: until(whole.t, pairs),
      a: until(whole.a, pairs), y: until(whole.y, written),
    };
  };
  const isEmpty = name => (r, i, j) => Number.isNaN(r[name][i][j]);
  const made = attention({divisor: () => [Math.sqrt(3), '√3']});
  const projected = projections();
  const explained = (panel, name) => ({...panel, off: isEmpty(name),
    explain: (r, i, j, state) => Number.isNaN(r[name][i][j]) ? {html: `${symbol('k', j + 1)} is not written yet`, lit: []} : panel.explain(r, i, j, state)});
  const known = row => row.filter(number => !Number.isNaN(number));
  const panels = {
    x: {...inputs, subtitle: 'token 4 is yours too', off: (r, i, j, {o}) => i >= o.written},
    q: {...explained(projected.q, 'q'), subtitle: 'the newest alone', explain: projected.q.explain && ((r, i, j) => Number.isNaN(r.q[i][j]) ? {html: '', lit: []} : {...Widgets.product({of: 'q', a: 'x', hueA: '', b: 'wq', hueB: 'q', hue: 'q'})({...r, wq: EXAMPLE.wq}, i, j), lit: range(4).map(f => ['x', i, f])})},
    ...Object.fromEntries(['k', 'v'].map(name => [name, {
      ...projected[name], off: isEmpty(name), title: `${name === 'k' ? 'Keys' : 'Values'} in the cache`, subtitle: ({o}) => o.written === 1 ? '1 row, new' : `${o.written - 1} kept, 1 new`,
      explain: (r, i, j) => ({...Widgets.product({of: name, a: 'x', hueA: '', b: `w${name}`, hueB: name, hue: name})({...r, [`w${name}`]: EXAMPLE[`w${name}`]}, i, j), lit: range(4).map(f => ['x', i, f])}),
    }])),
    t: {...explained(made.t, 't'), title: 'Scaled scores', subtitle: '<i>q</i> · <i>k</i> ÷ √3', lead: (r, i) => `${symbol('q', i + 1)} meets the keys in the cache, ÷ √3`,
      explain: (r, i, j) => Number.isNaN(r.t[i][j]) ? {html: `${symbol('k', j + 1)} is not written yet`, lit: []} : {
        html: `${symbol('q', i + 1)}·${symbol('k', j + 1)} = ${Widgets.products(r.q[i], 'q', r.k[j], 'k')} = ${result('w', r.s[i][j])}, ÷ 1.7321 = ${result('w', r.t[i][j], 4)}`,
        lit: range(3).flatMap(f => [['q', i, f], ['k', j, f]]),
      }},
    a: {...explained(made.a, 'a'), subtitle: ({o}) => `row ${o.written} is new`, lead: (r, i) => Widgets.softmaxLead(known(r.t[i])),
      explain: (r, i, j) => Number.isNaN(r.a[i][j]) ? {html: `${symbol('k', j + 1)} is not written yet: it is in no sum`, lit: []} : {html: Widgets.softmaxLine(known(r.t[i]), known(r.a[i]), j), lit: known(r.t[i]).map((_, one) => ['t', i, one])}},
    y: {...made.y, off: isEmpty('y'), subtitle: ({o}) => `row ${o.written} is new`,
      explain: (r, i, j) => {
        const weights = known(r.a[i]);
        return {
          html: `${symbol('y', `${i + 1},${j + 1}`)} = ${Widgets.products(weights, 'w', weights.map((_, t) => r.v[t][j]), 'v', 3)} = ${result('y', r.y[i][j], 4)}`,
          lit: weights.flatMap((_, t) => [['a', i, t], ['v', t, j]]),
        };
      }},
  };
  const remark = ({o: {written}}) => `Step ${written} computes 1 query, 1 key, 1 value and ${written} score${written > 1 ? 's' : ''}. Without the cache it would be ${written} of each, and ${written * (written + 1) / 2} scores${written > 1 ? ', whose earlier rows come out as before' : ''}.`.replace('and 1 scores', 'and 1 score');

  Widgets.views.decode = {
    start, compute, panels, remark, rowOption: 'written', token: 'Newest token', letter: 'x', counted: 'x', first: 2,
    tiers: [['x', 'q', 'k', 'v'], ['t', 'a', 'y']], ledgerAt: 1,
    controls: [{kind: 'action', label: 'Write one token more', can: state => state.o.written < COUNT, apply: state => { state.o.written += 1; }}, {kind: 'hidden', key: 'written', min: 1, max: COUNT}],
    steps: [
      {title: 'Project', panels: ['k', 'v', 'q'], say: 'The newest token makes a query, a key and a value. Key and value join those in the cache.'},
      {title: 'Scores', panels: ['t'], say: 'The newest query meets every key in the cache. No mask is needed: what it may not see has not been written.'},
      {title: 'Softmax', panels: ['a'], say: 'One row of weights is new. The earlier rows stay as they were.'},
      {title: 'Mix', panels: ['y'], say: 'The output mixes the values in the cache. The query is not needed again.'},
    ],
    python: ({m, o}) => [
      ...PYTHON_START, array('inputs', m.x), ...['wq', 'wk', 'wv'].map(name => array(PYTHON[name], EXAMPLE[name])), '', PYTHON_SOFTMAX, '',
      'keys, values, rows, outputs = np.empty((0, 3)), np.empty((0, 3)), [], []', `for token in inputs[:${o.written}]:`,
      '    keys = np.vstack([keys, token @ w_key])  # the cache', '    values = np.vstack([values, token @ w_value])', '    weights = softmax(token @ w_query @ keys.T / np.sqrt(3))',
      '    rows.append(weights)', '    outputs.append(weights @ values)', '    print(weights.round(4), outputs[-1].round(4))', '',
    ].join('\n'),
    names: {k: 'keys', v: 'values', y: 'outputs'},
  };
})();
