// uses: living-example-sums.js
// Chapter 6: positions added to the tokens, or turning them. Without them, attention sees a set.
(() => {
  'use strict';
  const {EXAMPLE, PYTHON, PYTHON_SOFTMAX, PYTHON_START, array, attention, copyOf, fmt, inputs, product, products, projections, range, result, symbol, tinted} = Widgets;
  const {add, attend, filled, map, multiply} = Widgets.arithmetic;
  const SPEEDS = [1, 0.01];

  const start = () => ({m: {x: copyOf(EXAMPLE.x), p: [[0], [1], [2]]}, o: {mode: 'added'}});
  const angle = (position, column) => position * SPEEDS[Math.floor(column / 2)];
  /** Columns 2i and 2i + 1 of each row turned by its position times the pair's speed. */
  const turn = (x, p) => map(x, (value, i, j) => {
    const [cos, sin] = [Math.cos(angle(p[i][0], j)), Math.sin(angle(p[i][0], j))];
    return j % 2 ? x[i][j - 1] * sin + value * cos : value * cos - x[i][j + 1] * sin;
  });
  const compute = ({m, o}) => {
    const e = filled(3, 4, (i, j) => (j % 2 ? Math.cos : Math.sin)(angle(m.p[i][0], j)));
    const z = {none: m.x, added: add(m.x, e), rotated: turn(m.x, m.p)}[o.mode];
    const [q, k] = ['wq', 'wk'].map(name => multiply(z, EXAMPLE[name]));
    const turned = o.mode === 'rotated';
    const {s, t, m: masked, a} = turned ? attend(z, z, z, {divisor: 2}) : attend(q, k, k, {divisor: Math.sqrt(3)});
    return {...m, e, z, q, k, s, t, m: masked, a};
  };
  const made = attention();
  const single = projections();
  const turned = state => state.o.mode === 'rotated';
  const root = state => turned(state) ? [2, '√4'] : [Math.sqrt(3), '√3'];
  const fromZ = hue => ({...single[hue], subtitle: `= <i>X</i>′ · <i>W</i> ${{q: 'query', k: 'key'}[hue]}`, absent: turned,
    explain: (r, i, j) => ({...product({of: hue, a: 'z', hueA: '', b: 'w', hueB: hue, hue})({...r, w: EXAMPLE[`w${hue}`]}, i, j), lit: range(4).map(f => ['z', i, f])})});
  const panels = {
    x: inputs, p: {name: 'Positions', title: 'Position', subtitle: 'editable', hue: '', editable: true, limit: 99},
    e: {name: 'Position vectors', title: 'Positions <i>E</i>', subtitle: 'sine, cosine', hue: '', heads: ['e'], absent: ({o}) => o.mode !== 'added',
      lead: (r, i) => `The vector of position ${fmt(r.p[i][0])}: two hands, at speeds 1 and 0.01`,
      explain: (r, i, j) => ({html: `${j % 2 ? 'cos' : 'sin'}(${fmt(r.p[i][0])} · ${SPEEDS[Math.floor(j / 2)]}) = <b>${fmt(r.e[i][j], 4)}</b>`, lit: [['p', i, 0]]})},
    z: {name: 'Tokens with positions', title: 'Tokens <i>X</i>′', hue: '', heads: ['x'], subtitle: ({o}) => ({none: 'without positions', added: '= <i>X</i> + <i>E</i>', rotated: 'each pair turned'}[o.mode]),
      lead: (r, i, {o}) => ({none: `Token ${i + 1} stays as it is`, added: `Token ${i + 1} and the vector of its position`, rotated: `Each pair of token ${i + 1}, turned by position × speed`}[o.mode]),
      explain: (r, i, j, {o}) => {
        const value = `<b>${fmt(r.z[i][j], 4)}</b>`;
        if (o.mode === 'none') return {html: `feature ${j + 1}: ${value}`, lit: [['x', i, j]]};
        if (o.mode === 'added') return {html: `feature ${j + 1}: ${fmt(r.x[i][j])} + ${tinted('', r.e[i][j], 4)} = ${value}`, lit: [['x', i, j], ['e', i, j]]};
        const pair = j - j % 2;
        const by = fmt(angle(r.p[i][0], j), 2);
        const [even, odd] = [tinted('', r.x[i][pair]), tinted('', r.x[i][pair + 1])];
        return {html: j % 2 ? `${even} · sin ${by} + ${odd} · cos ${by} = ${value}` : `${even} · cos ${by} − ${odd} · sin ${by} = ${value}`, lit: [['x', i, pair], ['x', i, pair + 1], ['p', i, 0]]};
      }},
    q: fromZ('q'), k: fromZ('k'),
    s: {...made.s, subtitle: state => turned(state) ? '<i>X</i>′ · <i>X</i>′ᵀ' : '= <i>Q</i> · <i>K</i>ᵀ',
      lead: (r, i, state) => turned(state) ? `Token ${i + 1} stands for its query and meets each token as a key` : `${symbol('q', i + 1)} meets each key`,
      explain: (r, i, j, state) => turned(state) ? {
        html: `${symbol('q', i + 1)}·${symbol('k', j + 1)} = ${products(r.z[i], 'q', r.z[j], 'k')} = ${result('w', r.s[i][j], 4)}, ${fmt(r.p[i][0] - r.p[j][0])} apart`,
        lit: range(4).flatMap(f => [['z', i, f], ['z', j, f]]),
      } : made.s.explain(r, i, j)},
    a: {...made.a, subtitle: state => `softmax of scores ÷ ${root(state)[1]}`, explain: (r, i, j) => ({...made.a.explain(r, i, j), lit: range(3).map(one => ['s', i, one])})},
  };
  const remark = ({o}, r) => {
    if (o.mode === 'none') return 'Without positions, exchanging tokens exchanges rows and columns of the scores and changes no number: attention sees a set.';
    return o.mode === 'rotated' ? 'A score depends on the difference of the two positions alone: add the same number to every position, and no score changes.' : '';
  };

  Widgets.views.positions = {
    start, compute, panels, remark, made: 'a', counted: 'a', first: 1,
    tiers: [['x', 'p', 'e', 'z'], ['q', 'k', 's', 'a']], ledgerAt: 1,
    controls: [
      {kind: 'choice', key: 'mode', label: 'Positions', step: 0, values: [['none', 'none'], ['added', 'added'], ['rotated', 'rotated']]},
      {kind: 'action', label: 'Exchange tokens 1 and 3', can: () => true, apply: state => { state.m.x.reverse(); }},
      {kind: 'action', label: 'All positions + 1', can: state => state.m.p.every(([position]) => position <= 98), apply: state => { state.m.p = state.m.p.map(([position]) => [position + 1]); }},
    ],
    steps: [
      {title: 'Positions', panels: ['z', 'e'], say: 'Added: a vector of sines and cosines joins the token. Rotated: the pairs of the token turn. Speeds are 1 for the first pair and 0.01 for the second.'},
      {title: 'Compare', panels: ['s', 'q', 'k'], say: 'Added positions go through the projections with the token. Turned ones are compared directly: the example has heads three wide, without pairs, so the inputs stand for queries and keys.'},
      {title: 'Softmax', panels: ['a'], say: 'The weights, from scaled scores.'},
    ],
    python: ({m, o}) => [
      ...PYTHON_START, array('inputs', m.x), `positions = np.array([${m.p.flat().join(', ')}])`, ...o.mode === 'rotated' ? [] : ['wq', 'wk'].map(name => array(PYTHON[name], EXAMPLE[name])), '', PYTHON_SOFTMAX, '',
      'angles = positions[:, None] * np.array([1, 0.01])',
      ...{
        none: ['tokens = inputs'],
        added: ['vectors = np.stack([np.sin(angles), np.cos(angles)], axis=-1).reshape(3, 4)', 'tokens = inputs + vectors'],
        rotated: ['even, odd = inputs[:, ::2], inputs[:, 1::2]', 'tokens = np.stack([', '    even * np.cos(angles) - odd * np.sin(angles),', '    even * np.sin(angles) + odd * np.cos(angles),', '], axis=-1).reshape(3, 4)'],
      }[o.mode],
      ...o.mode === 'rotated' ? ['scores = tokens @ tokens.T'] : ['queries, keys = tokens @ w_query, tokens @ w_key', 'scores = queries @ keys.T'],
      `weights = softmax(scores / np.sqrt(${o.mode === 'rotated' ? 4 : 3}))`, 'print(scores.round(4), weights.round(4), sep="\\n")', '',
    ].join('\n'),
    names: {z: 'tokens', s: 'scores', a: 'weights'},
  };
})();
