// uses: living-example-hero.js
// Chapter 2: the whole example, from inputs and weights to outputs.
(() => {
  'use strict';
  const {whole} = Widgets;

  Widgets.views.full = {
    ...whole, first: 2,
    tiers: [['x', ['wq', 'q'], ['wk', 'k'], ['wv', 'v']], ['s', 't', 'm', 'a', 'y']],
    ledgerAt: 1,
    corner: '<p>Framed numbers are yours: click, type, or press ↑ ↓ while you type.</p><p>Shaded numbers follow. Each stands where its row of <i>X</i> meets its column of <i>W</i>.</p>',
    controls: whole.controls.map((control, i) => ({...control, step: i + 2})),
    steps: [
      {title: 'Project', panels: ['q', 'k', 'v'], say: 'Each token makes a query, a key and a value: its row of <i>X</i> times the columns of <i>W</i>.'},
      {title: 'Scores', panels: ['s'], say: 'The chosen query meets every key: multiply number by number, then add. A large score is a good match.'},
      {title: 'Scale', panels: ['t'], say: 'Divide every score by √<i>d</i>, here √3. Large scores would make one weight nearly 1 and the others nearly 0.'},
      {title: 'Mask', panels: ['m'], say: 'A forbidden key gets the score −∞ before the softmax. Nothing of it is left in any sum.'},
      {title: 'Softmax', panels: ['a'], say: 'Exponentials, divided by their sum: the row becomes weights, none negative, with sum 1.'},
      {title: 'Mix', panels: ['y'], say: 'The output is the values, mixed in these proportions: the row of weights times each column of <i>V</i>.'},
    ],
  };
})();
