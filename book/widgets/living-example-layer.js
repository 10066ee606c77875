// uses: living-example-heads.js
// Chapter 7: what an encoder layer does to a token around attention: residual sums, norms, the feed-forward network.
(() => {
  'use strict';
  const {EXAMPLE, PYTHON_START, array, copyOf, fmt, inputs, products, range, result, symbol, tinted, twoHeads} = Widgets;
  const {add, column, map, multiply} = Widgets.arithmetic;
  const EPSILON = 1e-5;

  const FEED_FORWARD = {
    w1: [[1, 0, -1, 0, 1, 0], [0, 1, 0, -1, 1, 1], [1, 0, 1, 0, 0, -1], [0, 1, 0, 1, 0, -1]],
    b1: [[1, 0, 1, 2, -1, 1]],
    w2: [[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1], [1, 0, 0, -1], [0, -1, 1, 0]],
    b2: [[0, 1, 0, -1]],
  };
  /** Of each row: its mean, and √(variance + ε). */
  const statistics = matrix => matrix.map(row => {
    const mean = row.reduce((a, b) => a + b, 0) / row.length;
    return [mean, Math.sqrt(row.reduce((sum, value) => sum + (value - mean) ** 2, 0) / row.length + EPSILON)];
  });
  const start = () => ({m: {x: copyOf(EXAMPLE.x), ...copyOf(FEED_FORWARD)}, o: {residual: true, norm: true}});
  const compute = ({m, o}) => {
    const plus = (stream, branch) => o.residual ? add(stream, branch) : branch;
    const normed = (matrix, stats) => o.norm ? map(matrix, (value, i) => (value - stats[i][0]) / stats[i][1]) : matrix;
    const z = twoHeads(m.x);
    const r1 = plus(m.x, z);
    const s1 = statistics(r1);
    const n1 = normed(r1, s1);
    const u = map(multiply(n1, m.w1), (value, i, j) => value + m.b1[0][j]);
    const h = map(u, value => Math.max(0, value));
    const f = map(multiply(h, m.w2), (value, i, j) => value + m.b2[0][j]);
    const r2 = plus(n1, f);
    const s2 = statistics(r2);
    return {...m, z, r1, s1, n1, u, h, f, r2, s2, n2: normed(r2, s2)};
  };

  const heads = ['x'];
  const sum = (of, stream, branch, hue) => ({
    name: 'Sum', title: 'Sum', heads, hue: '', subtitle: ({o}) => o.residual ? 'stream + branch' : 'no residual: the branch alone', lead: (r, i, {o}) => o.residual ? `Token ${i + 1}, and what the branch adds to it` : `Token ${i + 1} is lost: only the branch goes on`,
    explain: (r, i, j, {o}) => ({html: `feature ${j + 1}: ${o.residual ? `${result('', r[stream][i][j], 4)} + ` : ''}${tinted(hue, r[branch][i][j], 4)} = ${result('', r[of][i][j], 4)}`, lit: [...o.residual ? [[stream, i, j]] : [], [branch, i, j]]}),
  });
  const stats = of => ({
    name: 'Mean and root of the variance of each row', title: 'μ, √(σ² + ε)', subtitle: 'of each row', hue: '', heads,
    lead: (r, i) => `Token ${i + 1} by itself: its mean and the size of its deviations`,
    explain: (r, i, j) => {
      const row = r[of][i];
      const mean = statistics(r[of])[i][0];
      const terms = row.map(value => j ? `${tinted('', value - mean, 2)}²` : tinted('', value, 2)).join(' + ');
      return {html: j ? `√((${terms}) ÷ 4 + 0.00001) = <b>${fmt(statistics(r[of])[i][1], 4)}</b>` : `(${terms}) ÷ 4 = <b>${fmt(mean, 4)}</b>`, lit: range(4).map(f => [of, i, f])};
    },
  });
  const norm = (of, from, by) => ({
    name: 'Normalised', title: of === 'n1' ? 'After norm 1' : 'After norm 2', hue: '', heads, subtitle: ({o}) => o.norm ? 'mean 0, variance 1' : 'norms are off',
    lead: (r, i, {o}) => o.norm ? `Each feature of token ${i + 1}, minus the mean, divided by the root` : `Norms are off: token ${i + 1} stays as it is`,
    explain: (r, i, j, {o}) => ({html: o.norm ? `(${fmt(r[from][i][j], 4)} − ${fmt(r[by][i][0], 4).replace(/^(−.*)$/, '($1)')}) ÷ ${fmt(r[by][i][1], 4)} = ${result('', r[of][i][j], 4)}` : `${result('', r[of][i][j], 4)} stays`, lit: [[from, i, j], ...o.norm ? [[by, i, 0], [by, i, 1]] : []]}),
  });
  const linear = (of, from, weights, bias) => (r, i, j) => {
    const terms = r[from][i].map((value, t) => [value, r[weights][t][j]]).filter(([, weight]) => weight !== 0);
    return {
      html: `${symbol(of, `${i + 1},${j + 1}`)} = ${terms.length ? products(terms.map(([value]) => value), '', terms.map(([, weight]) => weight), '', 2) : '0'} + ${tinted('', r[bias][0][j])} = ${result('', r[of][i][j], 4)}`,
      lit: [...range(r[weights].length).filter(t => r[weights][t][j] !== 0).flatMap(t => [[from, i, t], [weights, t, j]]), [bias, 0, j]],
    };
  };
  const panels = {
    x: inputs, z: {name: 'What attention makes', title: 'Attention', subtitle: 'two heads, <i>W</i> output', hue: 'y', heads}, r1: sum('r1', 'x', 'z', 'y'), s1: stats('r1'), n1: norm('n1', 'r1', 's1'),
    w1: {name: 'Weights 1', title: '<i>W</i><sub>1</sub>', hue: '', editable: true}, b1: {name: 'Bias 1', title: '<i>b</i><sub>1</sub>', hue: '', editable: true},
    u: {name: 'Hidden units', title: 'Hidden units <i>u</i>', subtitle: '= <i>x</i> · <i>W</i><sub>1</sub> + <i>b</i><sub>1</sub>', hue: '', heads, lead: (r, i) => `Token ${i + 1} with each column of <i>W</i><sub>1</sub>; products with 0 are left out`, explain: linear('u', 'n1', 'w1', 'b1')},
    h: {name: 'After ReLU', title: 'ReLU', subtitle: 'negative ones become 0', hue: '', heads, off: (r, i, j) => r.u[i][j] <= 0, lead: (r, i) => `ReLU of the six units of token ${i + 1}`, explain: (r, i, j) => ({html: `max(0, ${result('', r.u[i][j], 4)}) = ${result('', r.h[i][j], 4)}`, lit: [['u', i, j]]})},
    w2: {name: 'Weights 2', title: '<i>W</i><sub>2</sub>', hue: '', editable: true}, b2: {name: 'Bias 2', title: '<i>b</i><sub>2</sub>', hue: '', editable: true},
    f: {name: 'Feed-forward', title: 'Feed-forward', subtitle: '= ReLU · <i>W</i><sub>2</sub> + <i>b</i><sub>2</sub>', hue: '', heads, lead: (r, i) => `The units of token ${i + 1} with each column of <i>W</i><sub>2</sub>; products with 0 are left out`, explain: linear('f', 'h', 'w2', 'b2')},
    r2: sum('r2', 'n1', 'f', ''), s2: stats('r2'), n2: norm('n2', 'r2', 's2'),
  };
  const remark = ({o}, r) => {
    const largest = Math.max(...r.n2.flat().map(Math.abs));
    if (!o.norm) return `Without norms the output's largest number is ${fmt(largest, 1)}; each further layer would add to it.`;
    return o.residual ? '' : 'Without the residual a layer has to carry everything of a token through attention and feed-forward: what these drop is gone.';
  };

  Widgets.views.layer = {
    start, compute, panels, remark, token: 'Token', letter: 'x', counted: 'n2', made: 'n2', first: 1, staged: true,
    tiers: [['x', 'z', 'r1', 's1', 'n1', ['w1', 'b1', 'u'], 'h', ['w2', 'b2', 'f'], 'r2', 's2', 'n2']],
    controls: [{kind: 'switch', key: 'residual', label: 'Residual'}, {kind: 'switch', key: 'norm', label: 'Norms'}],
    steps: [
      {title: 'Add', panels: ['r1'], shows: ['x', 'z', 'r1'], say: 'The residual connection adds what attention makes to the token itself.'},
      {title: 'Norm 1', panels: ['n1', 's1'], shows: ['r1', 's1', 'n1'], say: 'Each token by itself: minus its mean, divided by the root of its variance. The pattern stays; level and size go.'},
      {title: 'Widen', panels: ['u', 'h'], shows: ['n1', 'w1', 'b1', 'u', 'h'], say: 'The feed-forward network sees one token at a time: four features become six units, and ReLU sets the negative ones to 0.'},
      {title: 'Narrow', panels: ['f'], shows: ['h', 'w2', 'b2', 'f'], say: 'Back to four features, so that they can be added to the stream.'},
      {title: 'Add', panels: ['r2'], shows: ['n1', 'f', 'r2'], say: 'The second residual connection.'},
      {title: 'Norm 2', panels: ['n2', 's2'], shows: ['r2', 's2', 'n2'], say: 'The output of the layer, as wide as its input.'},
    ],
    python: ({m, o}) => [
      ...PYTHON_START, array('inputs', m.x), '', '# what attention with two heads makes of the inputs', array('attended', twoHeads(m.x)), '',
      array('w_1', m.w1), `b_1 = np.array([${m.b1[0].join(', ')}])`, array('w_2', m.w2), `b_2 = np.array([${m.b2[0].join(', ')}])`, '', '',
      'def norm(rows):', ...o.norm ? ['    deviations = rows - rows.mean(axis=-1, keepdims=True)', '    return deviations / np.sqrt((deviations**2).mean(axis=-1, keepdims=True) + 1e-5)'] : ['    return rows  # norms are off'], '', '',
      `first = norm(${o.residual ? 'inputs + attended' : 'attended'})`, 'units = np.maximum(first @ w_1 + b_1, 0)', 'added = units @ w_2 + b_2', `outputs = norm(${o.residual ? 'first + added' : 'added'})`, 'print(first.round(4), outputs.round(4), sep="\\n")', '',
    ].join('\n'),
    names: {n1: 'first', h: 'units', f: 'added', n2: 'outputs'},
  };
})();
