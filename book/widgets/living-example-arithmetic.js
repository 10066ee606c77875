// The arithmetic of attention on small matrices, rows of numbers in arrays, in float64. Nothing here touches a page.
(() => {
  'use strict';
  const zip = (a, b, combine) => a.map((row, i) => row.map((value, j) => combine(value, b[i][j])));
  const map = (a, change) => a.map((row, i) => row.map((value, j) => change(value, i, j)));
  const column = (a, j) => a.map(row => row[j]);
  const dot = (a, b) => a.reduce((sum, value, i) => sum + value * b[i], 0);
  const transpose = a => a[0].map((_, j) => column(a, j));
  const multiply = (a, b) => { const columns = transpose(b); return a.map(row => columns.map(one => dot(row, one))); };
  const add = (a, b) => zip(a, b, (x, y) => x + y);

  /** Weights of one row of scores; a row that is −∞ throughout gives zeros. */
  const softmax = row => {
    const top = Math.max(...row);
    if (top === -Infinity) return row.map(() => 0);
    const powers = row.map(score => Math.exp(score - top));
    const sum = powers.reduce((a, b) => a + b, 0);
    return powers.map(power => power / sum);
  };

  /** Scores where the mask is 1, −∞ where it is 0. */
  const hide = (scores, mask) => map(scores, (score, i, j) => mask[i][j] ? score : -Infinity);
  const filled = (rows, columns, value) => Array.from({length: rows}, (_, i) => Array.from({length: columns}, (_, j) => typeof value === 'function' ? value(i, j) : value));
  const everything = size => filled(size, size, 1);
  const causal = size => filled(size, size, (i, j) => Number(j <= i));

  /** From queries, keys and values to outputs. options: divisor of the scores; mask */
  const attend = (q, k, v, {divisor = 1, mask = filled(q.length, k.length, 1)} = {}) => {
    const s = q.map(query => k.map(key => dot(query, key)));
    const t = map(s, score => score / divisor);
    const m = hide(t, mask);
    const a = m.map(softmax);
    return {s, t, m, a, y: multiply(a, v)};
  };

  Object.assign(globalThis.Widgets ??= {}, {arithmetic: {zip, map, column, dot, transpose, multiply, add, softmax, hide, filled, everything, causal, attend}});
})();
