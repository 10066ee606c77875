// uses: controls.js attention-sentence-data.js
// <attention-sentence>: where two models of the course look in real texts, head by head, and their answer without a head or a token.
(() => {
  'use strict';

  // Arithmetic. A text of the data has tokens, weights [layer][head][query][key] and questions, numbers in thousandths.

  /** The answer's name: the label with the largest probability. */
  const answerOf = (labels, probabilities) => labels[probabilities.indexOf(Math.max(...probabilities))];

  /** The keys of a row of weights, the heaviest first; ties in the order of the text. */
  const heaviest = row => row.map((_, key) => key).sort((one, other) => row[other] - row[one] || one - other);

  /** How far a probability moves: of the label that is the answer as things are. */
  const shift = (whole, changed) => {
    const at = whole.indexOf(Math.max(...whole));
    return (changed[at] - whole[at]) / 1000;
  };

  /** The token whose strike-out moves the answer most, apart from the one that is asked about. */
  const mattersMost = ({at, whole, struck}) => heaviest(struck.map((changed, token) => token === at ? -1 : Math.abs(shift(whole, changed))))[0];

  if (typeof module === 'object' && module.exports) {
    module.exports = {answerOf, heaviest, shift, mattersMost};
    return;
  }

  const {el, fmt, put, table, Figure} = Widgets;
  const DATA = Widgets.attentionSentence;
  const TEXTS = ['functions', 'sentences'].flatMap(kind => DATA[kind].texts.map((text, at) =>
    ({...text, kind, name: `${kind.slice(0, -1)} ${at + 1}`, labels: DATA[kind].labels, share: DATA[kind].share})));
  const HEADS = [[0, 0], [0, 1], [1, 0], [1, 1]];
  const percent = thousandths => `${(thousandths / 10).toFixed(1)} %`;
  const word = token => token === '\n' ? '⏎' : token;

  class AttentionSentence extends Figure {
    start() { return {text: 0, head: 0, asks: TEXTS[0].questions[0].at, struck: null, click: 'ask'}; }

    build(ui) {
      this.board = el('div', {className: 'as-text', role: 'group', 'aria-label': 'The text; arrow keys move'});
      this.heads = this.choice('Head', 'head', HEADS.map(([layer, head], at) => [`layer ${layer + 1}, head ${head + 1}`, at]));
      this.looks = el('p', {className: 'w-sentence'});
      this.answers = el('div');
      this.note = el('p', {className: 'w-note'});
      this.source = el('p', {className: 'w-label'});
      ui.append(
        this.invite('in function 1, choose head after head: without one of them the answer turns. Then strike out the word with the largest weight. It is not always the one that matters.'),
        el('div', {className: 'w-bar'}, this.choice('Text', 'text', TEXTS.map(({name}, at) => [name, at]))),
        el('div', {className: 'w-bar'}, this.heads, this.choice('A click', 'click', [['asks', 'ask'], ['strikes out', 'strike']])),
        this.board, this.looks, this.answers, this.note, this.source, this.foot());
      this.board.addEventListener('keydown', event => this.walk(event));
    }

    encode(state) { return {text: state.text, head: state.head, asks: state.asks, struck: state.struck ?? 'none'}; }

    decode(pairs) {
      const state = this.start(), number = name => /^\d+$/.test(pairs.get(name) ?? '') ? Number(pairs.get(name)) : null;
      if (TEXTS[number('text')]) state.text = number('text');
      const {tokens, weights, questions} = TEXTS[state.text];
      if (number('head') !== null && number('head') < 2 * weights.length) state.head = number('head');
      state.asks = number('asks') !== null && number('asks') < tokens.length ? number('asks') : questions[0].at ?? 0;
      state.struck = number('struck') !== null && number('struck') < tokens.length ? number('struck') : null;
      return state;
    }

    /** Another text begins anew: its first question asks, and nothing is struck out. */
    change(edit) {
      super.change(state => {
        const before = state.text;
        edit(state);
        const {weights, questions} = TEXTS[state.text];
        if (state.text !== before) Object.assign(state, {asks: questions[0].at ?? 0, struck: null});
        if (state.head >= 2 * weights.length) state.head = 0;
      });
    }

    /** What is asked: the model's one question about a sentence; of a function the name that asks, else the first name. */
    question({text, asks}) {
      const {questions} = TEXTS[text];
      return questions.find(({at}) => at === asks) ?? questions[0];
    }

    press(at) {
      this.change(state => {
        if (state.click === 'ask') state.asks = at;
        else state.struck = state.struck === at ? null : at;
      });
      this.tiles.forEach((tile, other) => { tile.tabIndex = other === at ? 0 : -1; });
    }

    walk(event) {
      const at = this.tiles.indexOf(event.target);
      const next = {ArrowRight: at + 1, ArrowLeft: at - 1, Home: 0, End: this.tiles.length - 1}[event.key];
      if (at < 0 || !this.tiles[next]) return;
      event.preventDefault();
      this.tiles[at].tabIndex = -1;
      this.tiles[next].tabIndex = 0;
      this.tiles[next].focus();
    }

    show(state) {
      const text = TEXTS[state.text], [layer, head] = HEADS[state.head], row = text.weights[layer][head][state.asks];
      this.heads.querySelectorAll('button').forEach((button, at) => { button.hidden = at >= 2 * text.weights.length; });
      this.drawText(state, text, row);
      const [first, second] = heaviest(row);
      this.looks.replaceChildren(`Layer ${layer + 1}, head ${head + 1}: `, el('b', {}, word(text.tokens[state.asks])), `, token ${state.asks + 1}, looks most at `,
        el('b', {}, word(text.tokens[first])), `, token ${first + 1} (${percent(row[first])}), and `, el('b', {}, word(text.tokens[second])), `, token ${second + 1} (${percent(row[second])}).`);
      this.drawAnswers(state, text, layer, head);
    }

    drawText({text, asks, struck}, {tokens, questions}, row) {
      this.part('text', text, () => this.makeText(tokens, questions));
      this.tiles.forEach((tile, at) => {
        const weight = fmt(row[at] / 10, 0), asked = tile.classList.contains('asked');
        if (tile.weight !== row[at]) tile.style.setProperty('--portion', (tile.weight = row[at]) / 1000);
        if (tile.lastChild.textContent !== weight) tile.lastChild.textContent = weight;
        tile.classList.toggle('asks', at === asks);
        tile.classList.toggle('struck', at === struck);
        const notes = [at === asks ? ', asks' : '', asked ? ', its role is asked' : '', at === struck ? ', struck out' : ''].join('');
        put(tile, 'aria-label', `${tokens[at] === '\n' ? 'end of line' : tokens[at]}: weight ${percent(row[at])}${notes}`);
      });
      if (!this.board.contains(document.activeElement)) this.tiles.forEach((tile, at) => { tile.tabIndex = at === asks ? 0 : -1; });
    }

    makeText(tokens, questions) {
      this.tiles = tokens.map((token, at) => {
        const tile = this.button('', () => this.press(at), {className: 'as-token', tabIndex: -1});
        tile.classList.toggle('asked', questions.some(question => question.at === at));
        tile.append(el('span', {}, word(token)), el('small'));
        return tile;
      });
      this.board.replaceChildren(...this.tiles.flatMap((tile, at) => tokens[at] === '\n' ? [tile, el('span', {className: 'as-break'})] : [tile]));
    }

    drawAnswers(state, text, layer, head) {
      const question = this.question(state), {whole, without, struck, truth} = question, {labels, tokens} = text;
      const columns = [['as it is', whole], [`without head ${layer + 1}.${head + 1}`, without[layer][head]]];
      if (state.struck !== null) columns.push([`without “${word(tokens[state.struck])}”`, struck[state.struck]]);
      const asked = text.kind === 'functions' ? `Role of ${tokens[question.at]}` : 'Which library wrote this sentence?';
      this.answers.replaceChildren(table(`${asked}: probabilities; true is ${truth}.`, ['', ...columns.map(([name]) => name)],
        labels.map((label, at) => [label + (label === truth ? ' ✓' : ''), ...columns.map(([, numbers]) =>
          el('td', {className: answerOf(labels, numbers) === label ? 'as-answer' : ''}, percent(numbers[at])))])));
      const most = mattersMost(question);
      this.note.textContent = `${this.effect(state, layer, head)} The other word whose loss moves this answer most is “${word(tokens[most])}”, token ${most + 1} (${this.points(shift(whole, struck[most]))}).`;
      const {environment} = DATA, {share} = text;
      this.source.textContent = `${text.kind === 'functions' ? 'A test function of the standard library, names exchanged, read by the encoder of this chapter' : `A test sentence of ${text.source}, read by the encoder of “Which library wrote this sentence?”`}, seed ${DATA.seed}. `
        + `Of ${share.questions} test questions it gets ${percent(1000 * share.whole)} right, without this head ${percent(1000 * share.without[layer][head])}. `
        + `A head is removed by setting its block of W output to zero, a word by making it unknown. One trained model, ${environment.date.slice(0, 10)}, torch ${environment.torch}.`;
    }

    points(change) { return `${change > 0 ? '+' : ''}${fmt(100 * change, 1)} points`; }

    /** What removing the head does to the answer. */
    effect(state, layer, head) {
      const {whole, without} = this.question(state), {labels} = TEXTS[state.text], changed = without[layer][head];
      const [before, after] = [answerOf(labels, whole), answerOf(labels, changed)];
      return before === after ? `Without this head the answer stays ${before} (${this.points(shift(whole, changed))}).` : `Without this head the answer turns from ${before} to ${after}.`;
    }

    summary(state) {
      const text = TEXTS[state.text], [layer, head] = HEADS[state.head], row = text.weights[layer][head][state.asks], [first] = heaviest(row);
      return `${word(text.tokens[state.asks])} looks most at ${word(text.tokens[first])}, ${percent(row[first])}. ${this.effect(state, layer, head)}`;
    }
  }
  customElements.define('attention-sentence', AttentionSentence);
})();
