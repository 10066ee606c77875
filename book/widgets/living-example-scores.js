// uses: living-example-sums.js
// Chapter 3: temperature and width. Features beyond the running example's three are drawn, each +1 or −1.
(() => {
  'use strict';
  const {EXAMPLE, PYTHON_SOFTMAX, PYTHON_START, array, attention, fmt, projections, range, result, symbol, tinted} = Widgets;
  const {map, multiply, softmax} = Widgets.arithmetic;
  const WIDTHS = [3, 16, 64, 256, 1024];

  /** Features 4 to `width` of the three queries and the three keys, row by row: +1 or −1, the same each time. */
  const drawn = width => {
    let number = 20;
    return range(6).map(() => range(width - 3).map(() => {
      number = (Math.imul(number, 1664525) + 1013904223) >>> 0;
      return number >>> 31 ? 1 : -1;
    }));
  };
  const sums = new Map(WIDTHS.map(width => {
    const rows = drawn(width);
    return [width, rows.slice(0, 3).map(query => rows.slice(3).map(key => Widgets.arithmetic.dot(query, key)))];
  }));
  const start = () => ({m: {q: multiply(EXAMPLE.x, EXAMPLE.wq), k: multiply(EXAMPLE.x, EXAMPLE.wk)}, o: {width: 3, scale: true, temperature: 1}});
  const divisor = ({o}) => {
    const root = o.scale ? `√${o.width}` : '';
    return [(o.scale ? Math.sqrt(o.width) : 1) * o.temperature, [root, o.temperature === 1 ? '' : fmt(o.temperature)].filter(Boolean).join(' · ')];
  };
  const compute = state => {
    const {m, o} = state;
    const more = sums.get(o.width);
    const s = m.q.map((query, i) => m.k.map((key, j) => Widgets.arithmetic.dot(query, key) + more[i][j]));
    const t = map(s, score => score / divisor(state)[0]);
    const a = t.map(softmax);
    return {...m, more, s, t, m: t, a, g: map(a, weight => weight * (1 - weight))};
  };
  const made = attention({divisor});
  const own = hue => ({...projections()[hue], editable: true, subtitle: ({o}) => o.width > 3 ? `features 1 to 3 of ${o.width}` : 'editable'});
  const panels = {
    q: {...own('q'), explain: undefined}, k: {...own('k'), explain: undefined},
    s: {...made.s, subtitle: ({o}) => o.width > 3 ? `${o.width} products each` : '= <i>Q</i> · <i>K</i>ᵀ',
      explain: (r, i, j, state) => {
        const sum = made.s.explain(r, i, j);
        const more = state.o.width > 3 ? ` + ${tinted('', r.more[i][j])}` : '';
        return {...sum, html: sum.html.replace(/ = (?!.* = )/, `${more} = `)};
      },
      lead: (r, i, {o}) => `${symbol('q', i + 1)} meets each key${o.width > 3 ? `; the last number is the sum over features 4 to ${o.width}` : ''}`},
    t: {...made.t, lead: (r, i, state) => divisor(state)[1] ? `Each score of ${symbol('q', i + 1)}, divided by ${divisor(state)[1]}${state.o.scale ? ` = ${fmt(divisor(state)[0], 4)}` : ''}` : `Nothing divides the scores of ${symbol('q', i + 1)}`},
    a: {...made.a, off: undefined, explain: (r, i, j) => ({...made.a.explain(r, i, j), lit: range(3).map(one => ['t', i, one])})},
    g: {name: 'Slopes', title: 'Slopes', subtitle: '<i>a</i> · (1 − <i>a</i>)', hue: 'w', heads: ['q', 'k'],
      lead: (r, i) => `How much a weight of ${symbol('q', i + 1)} moves with its own score`,
      explain: (r, i, j) => ({html: `${symbol('k', j + 1)}: ${result('w', r.a[i][j], 4)} · (1 − ${result('w', r.a[i][j], 4)}) = <b class="w-hue">${r.g[i][j] > 0 && r.g[i][j] < 5e-5 ? r.g[i][j].toExponential(1).replace('-', '−') : fmt(r.g[i][j], 4)}</b>`, lit: [['a', i, j]]})},
  };
  const remark = ({o}, r, {row}) => {
    const largest = Math.max(...r.a[row]);
    return largest > 0.99 ? `Query ${row + 1} is saturated: one weight is ${fmt(largest, 4)}, and no weight moves any more when its score does.${o.scale ? '' : ' Nothing divides the scores.'}` : '';
  };

  Widgets.views.scores = {
    start, compute, panels, remark, made: 'a', counted: 'a', first: 2,
    tiers: [['q', 'k'], ['s', 't', 'a', 'g']], ledgerAt: 1,
    corner: '',
    controls: [
      {kind: 'choice', key: 'width', label: 'Width of a key, <i>d</i>'.replace(/<.?i>/g, ''), step: 0, values: WIDTHS.map(width => [width, String(width)])},
      {kind: 'switch', key: 'scale', label: 'Divide by √d', step: 1},
      {kind: 'slider', key: 'temperature', label: 'Temperature', min: 0.25, max: 4, step: 0.25},
    ],
    steps: [
      {title: 'Scores', panels: ['s'], say: 'A score adds one product for each feature. Choose a larger width: every further feature is drawn, +1 or −1, and the scores spread like √<i>d</i>.'},
      {title: 'Scale', panels: ['t'], say: 'Dividing by √<i>d</i> takes the spread out again. A temperature divides once more: above 1 the scores move together, below 1 apart.'},
      {title: 'Softmax', panels: ['a'], say: 'Only differences of scores count. Where they are large, one weight takes everything.'},
      {title: 'Slope', panels: ['g'], say: 'The derivative of a weight with respect to its own score, <i>a</i>(1 − <i>a</i>), is at most 0.25, and practically 0 where the weight is near 0 or 1.'},
    ],
    python: ({m, o}) => [
      ...PYTHON_START, array('queries', m.q), array('keys', m.k),
      ...o.width > 3 ? [
        '', `d = ${o.width}  # features 4 to d are drawn, each +1 or -1`, 'number, signs = 20, []', 'for _ in range(6 * (d - 3)):', '    number = (number * 1664525 + 1013904223) % 2**32', '    signs.append(1 if number >= 2**31 else -1)',
        'drawn = np.array(signs).reshape(6, d - 3)', 'queries, keys = np.hstack([queries, drawn[:3]]), np.hstack([keys, drawn[3:]])',
      ] : [],
      '', PYTHON_SOFTMAX, '', 'scores = queries @ keys.T', `scaled = scores${o.scale ? ' / np.sqrt(queries.shape[-1])' : ''}${o.temperature === 1 ? '' : ` / ${o.temperature}`}`,
      'weights = softmax(scaled)', 'slopes = weights * (1 - weights)', 'print(weights.round(4), slopes.round(4), sep="\\n")', '',
    ].join('\n'),
    names: {s: 'scores', t: 'scaled', a: 'weights', g: 'slopes'},
  };
})();
