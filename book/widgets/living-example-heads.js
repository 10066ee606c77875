// uses: living-example-sums.js
// Chapter 5: two heads, from one wide projection to W_O. The cut into heads is right or wrong; both have the same shapes.
(() => {
  'use strict';
  const {EXAMPLE, PYTHON_SOFTMAX, PYTHON_START, array, attention, copyOf, fmt, inputs, product, products, projections, range, result, symbol} = Widgets;
  const {attend, filled, multiply} = Widgets.arithmetic;

  const SECOND = {
    wq: [[0, 1, 0], [1, 0, 0], [1, 0, 1], [0, 0, 1]],
    wk: [[1, 0, 0], [0, 1, 0], [0, 0, 1], [0, 1, 1]],
    wv: [[1, 0, 0], [0, 1, 1], [0, 2, 0], [1, 0, 1]],
  };
  const OUTPUT = [[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1], [1, 0, 0, 1], [0, 1, 1, 0]];
  const beside = name => EXAMPLE[name].map((row, i) => [...row, ...SECOND[name][i]]);

  /** Where cell (i, j) of a head (0 or 1) comes from: [token, column] of the wide matrix. */
  const origin = (wrong, head, i, j) => {
    const place = 9 * head + 3 * i + j;
    return wrong ? [Math.floor(place / 6), place % 6] : [i, 3 * head + j];
  };
  /** Where cell (i, j) of the joined matrix comes from: [head, row, column]. */
  const source = (wrong, i, j) => {
    const place = 6 * i + j;
    return wrong ? [Math.floor(place / 9), Math.floor(place % 9 / 3), place % 3] : [Math.floor(j / 3), i, j % 3];
  };
  const start = () => ({m: {x: copyOf(EXAMPLE.x), wq: beside('wq'), wk: beside('wk'), wv: beside('wv'), wo: copyOf(OUTPUT)}, o: {head: 1, wrong: false}});
  const compute = ({m, o}) => {
    const wide = {q6: multiply(m.x, m.wq), k6: multiply(m.x, m.wk), v6: multiply(m.x, m.wv)};
    const cut = (matrix, head) => filled(3, 3, (i, j) => { const [row, column] = origin(o.wrong, head, i, j); return matrix[row][column]; });
    const heads = [0, 1].map(head => {
      const [q, k, v] = ['q6', 'k6', 'v6'].map(name => cut(wide[name], head));
      return {q, k, v, ...attend(q, k, v, {divisor: Math.sqrt(3)})};
    });
    const {y: yh, ...chosen} = heads[o.head - 1];
    const joined = filled(3, 6, (i, j) => { const [head, row, column] = source(o.wrong, i, j); return heads[head].y[row][column]; });
    return {...m, ...wide, ...chosen, yh, o1: heads[0].y, o2: heads[1].y, joined, y: multiply(joined, m.wo)};
  };

  const made = attention({divisor: () => [Math.sqrt(3), '√3']});
  const single = projections();
  const wide = hue => ({...single[hue], heads: [hue], small: true, subtitle: 'head 1 | head 2', explain: product({of: `${hue}6`, letter: hue, a: 'x', hueA: '', b: `w${hue}`, hueB: hue, hue})});
  const half = hue => ({
    ...single[hue], title: `${{q: 'Queries', k: 'Keys', v: 'Values'}[hue]}`, subtitle: ({o}) => `of head ${o.head}`,
    different: (r, i, j, {o}) => origin(o.wrong, o.head - 1, i, j)[0] !== i,
    lead: (r, i, {o}) => `Row ${i + 1} of head ${o.head}${o.wrong ? ': the next three of the 18 numbers, read line by line' : ': the part of token ' + (i + 1) + ' that belongs to this head'}`,
    explain: (r, i, j, {o}) => {
      const [token, column] = origin(o.wrong, o.head - 1, i, j);
      return {html: `${result(hue, r[hue][i][j])} is token ${token + 1}, column ${column + 1}${token === i ? '' : `: <b>not token ${i + 1}</b>`}`, lit: [[`${hue}6`, token, column]]};
    },
  });
  const ofHead = ({o}) => `of head ${o.head}`;
  const out = head => ({...made.y, title: `Head ${head}`, name: `Outputs of head ${head}`, subtitle: '= <i>A</i> · <i>V</i>', heads: [''], explain: undefined});
  const panels = {
    x: inputs, ...Object.fromEntries(['q', 'k', 'v'].flatMap(hue => [
      [`w${hue}`, {...single[`w${hue}`], small: true, subtitle: 'head 1 | head 2'}], [`${hue}6`, wide(hue)], [hue, half(hue)],
    ])),
    t: {...made.t, title: 'Scaled scores', subtitle: '<i>Q</i> · <i>K</i>ᵀ ÷ √3', lead: (r, i) => `Query ${i + 1} of this head meets each of its keys, ÷ √3 = 1.7321`,
      explain: (r, i, j) => ({html: `${products(r.q[i], 'q', r.k[j], 'k')} = ${result('w', r.s[i][j])}, ÷ 1.7321 = ${result('w', r.t[i][j], 4)}`, lit: range(3).flatMap(f => [['q', i, f], ['k', j, f]])})},
    a: {...made.a, subtitle: ofHead, explain: (r, i, j) => ({...made.a.explain(r, i, j), lit: range(3).map(one => ['t', i, one])})},
    yh: {...made.y, title: 'Outputs', subtitle: ofHead, explain: product({of: 'yh', letter: 'h', a: 'a', hueA: 'w', b: 'v', hueB: 'v', hue: 'y', decimals: 3, digits: 4}), lead: (r, i) => `Row ${i + 1} of the head: its weights with each column of its values`},
    o1: out(1), o2: out(2),
    joined: {name: 'Heads side by side', title: 'Side by side', subtitle: 'head 1 | head 2', hue: 'y', heads: ['x'], different: (r, i, j, {o}) => { const [head, row] = source(o.wrong, i, j); return o.wrong && (row !== i || head !== Math.floor(j / 3)); },
      lead: (r, i) => `Row ${i + 1}: what both heads made for token ${i + 1}`,
      explain: (r, i, j, {o}) => { const [head, row, column] = source(o.wrong, i, j); return {html: `${result('y', r.joined[i][j], 4)} is head ${head + 1}, row ${row + 1}, column ${column + 1}`, lit: [[`o${head + 1}`, row, column]]}; }},
    wo: {name: 'Output weights', title: '<i>W</i> output', hue: 'y', editable: true},
    y: {...made.y, subtitle: '= joined · <i>W</i> output', explain: product({of: 'y', a: 'joined', hueA: 'y', b: 'wo', hueB: 'y', hue: 'y', decimals: 2, digits: 4}), lead: (r, i) => `The output of token ${i + 1}: its six numbers with each column of <i>W</i> output`},
  };
  const remark = ({o}) => {
    if (!o.wrong) return '';
    const rows = range(3).map(i => origin(true, o.head - 1, i, 0)[0] + 1).join(', ');
    return `Wrong cut: the rows of head ${o.head} belong to tokens ${rows}, not 1, 2, 3. Every shape fits and nothing raises. Change one token: in each head exactly one row may change.`;
  };

  Widgets.views.heads = {
    start, compute, panels, remark, token: 'Token', letter: 'x', first: 1, staged: true,
    tiers: [['x', ['wq', 'q6'], ['wk', 'k6'], ['wv', 'v6']], ['q', 'k', 'v'], ['t', 'a', 'yh'], ['o1', 'o2'], ['joined', ['wo', 'y']]],
    controls: [
      {kind: 'choice', key: 'head', label: 'Head', values: [[1, '1'], [2, '2']]},
      {kind: 'choice', key: 'wrong', label: 'Cut', step: 1, values: [[false, 'reshape, transpose'], [true, 'reshape alone']]},
    ],
    steps: [
      {title: 'Project', panels: ['q6', 'k6', 'v6'], shows: ['x', 'wq', 'q6', 'wk', 'k6', 'wv', 'v6'], say: 'The matrices of both heads stand side by side, so one product makes the queries of both. Every head reads all of <i>x</i>.'},
      {title: 'Split', panels: ['q', 'k', 'v'], shows: ['q6', 'k6', 'v6', 'q', 'k', 'v'], say: 'Each head takes its three columns of every token: reshape to (3, 2, 3), then transpose to (2, 3, 3).'},
      {title: 'Attend', panels: ['t', 'a', 'yh'], shows: ['q', 'k', 'v', 't', 'a', 'yh'], say: 'Each head has a softmax of its own. The divisor is the root of its width, √3.'},
      {title: 'Join', panels: ['joined'], shows: ['o1', 'o2', 'joined'], say: 'Transpose back, then reshape: the two heads of a token are one row of six numbers.'},
      {title: 'Mix', panels: ['y'], shows: ['joined', 'wo', 'y'], say: '<i>W</i> output mixes the heads: rows 1 to 3 say where head 1 writes, rows 4 to 6 where head 2 does.'},
    ],
    python: ({m, o}) => [
      ...PYTHON_START, ...[['inputs', 'x'], ['w_query', 'wq'], ['w_key', 'wk'], ['w_value', 'wv'], ['w_output', 'wo']].map(([name, key]) => array(name, m[key])), '', PYTHON_SOFTMAX, '',
      'def split(wide):', '    """(3, 6) to (heads, tokens, width), (2, 3, 3)"""',
      o.wrong ? '    return wide.reshape(2, 3, 3)  # wrong: mixes tokens' : '    return wide.reshape(3, 2, 3).transpose(1, 0, 2)', '', '',
      'queries, keys, values = (split(inputs @ w) for w in (w_query, w_key, w_value))', 'weights = softmax(queries @ keys.transpose(0, 2, 1) / np.sqrt(3))', 'heads = weights @ values',
      `joined = heads${o.wrong ? '' : '.transpose(1, 0, 2)'}.reshape(3, 6)`, 'outputs = joined @ w_output', 'print(joined.round(4), outputs.round(4), sep="\\n")', '',
    ].join('\n'),
    names: {joined: 'joined', y: 'outputs', wo: 'w_output'},
  };
  Object.assign(Widgets, {twoHeads: x => compute({m: {...start().m, x}, o: {head: 1, wrong: false}}).y});
})();
