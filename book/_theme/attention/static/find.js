// Finds passages of the book. Needs MiniSearch, Sphinx's stemmer for the book's language, and passages.js.
"use strict";
const bookSearch = (() => {
  const FIELDS = { title: 5, names: 6, page: 1.5, text: 1, more: 0.4 };
  const KINDS = { page: 1.25, section: 1.15, term: 0.5, exercise: 0.5 };
  const FOLDERS = { chapters: 1.3, guides: 0.85, "problem-sets": 0.6, measuring: 0.8, notation: 0.7, references: 0.5 };
  const EXACT = 3; // what a title or another name that is the query itself counts for
  const PHRASE = 1.5; // and one that contains it
  const EXCERPT = 170; // characters
  const SAME = new Map([["inf", "infinity"], ["∞", "infinity"], ["√", "sqrt"]]);
  const stemmer = new Stemmer();
  const unimportant = new Set(stopwords);
  let index, passages;

  const split = (text) => text.normalize("NFKC").toLowerCase().match(/[\p{L}\p{N}_]+|[∞√]/gu) ?? [];
  const word = (token) => SAME.get(token) ?? token.replace(/i[sz](ation|e|es|ed|ing|er)$/u, "iz$1");
  const parts = (token) => (/[^_]_[^_]/.test(token) ? [token, ...token.split("_").filter(Boolean)] : [token]);
  const stem = (token) => (/^[a-z]{4,}$/.test(token) ? stemmer.stemWord(token) : token);
  const phrase = (text) => ` ${weighty(split(text).map(word)).map(stem).join(" ")} `;

  /** The tokens that are no words like "the", or all where no others are. */
  function weighty(tokens) {
    const important = tokens.filter((token) => !unimportant.has(token));
    return important.length ? important : tokens;
  }

  /** Takes the passages in, a few at a time; resolves to itself. given: {pages, passages}, as passages.js has them. */
  async function read(given) {
    passages = given.passages.map(([page, anchor, kind, title, text, more, names], id) => {
      const [address, name] = given.pages[page];
      const headings = [title, ...names].map(phrase);
      const weight = KINDS[kind] * (FOLDERS[address.split(/[/.]/)[0]] ?? 1);
      return { id, href: anchor ? `${address}#${anchor}` : address, address, page: name, title, text, more, names: names.join(" "), headings, weight };
    });
    index = new MiniSearch({
      fields: Object.keys(FIELDS),
      tokenize: (text) => split(text).flatMap(parts),
      processTerm: word,
      extractField: (passage, field) => (field === "page" && passage.page === passage.title ? "" : passage[field]),
    });
    await index.addAllAsync(passages, { chunkSize: 50 });
    return bookSearch;
  }

  /** The best pages for a query, each with its best passages: [{page, address, passages: [{title, href, excerpt}]}] */
  function find(query, limit = 12) {
    const words = weighty([...new Set(split(query).map(word))]);
    if (!words.length) return [];
    const either = words.map((token) => ({ combineWith: "OR", queries: [...new Set([token, stem(token)])] }));
    const asked = phrase(query);
    const found = index.search(
      { combineWith: "OR", queries: either },
      {
        tokenize: (text) => [text],
        boost: FIELDS,
        prefix: (term) => term.length > 2,
        fuzzy: (term) => (term.length > 5 && !term.includes("_") ? 0.15 : false),
        weights: { prefix: 0.5, fuzzy: 0.2 },
        boostDocument: (id) => passages[id].weight,
      },
    );
    const ranked = found.map(({ id, score, queryTerms }) => {
      const passage = passages[id];
      const share = words.filter((token) => queryTerms.includes(token) || queryTerms.includes(stem(token))).length / words.length;
      const named = passage.headings.includes(asked) ? EXACT : passage.headings.some((name) => name.includes(asked)) ? PHRASE : 1;
      return { passage, score: score * share ** 2 * named };
    });
    ranked.sort((one, other) => other.score - one.score);
    const pages = new Map();
    for (const { passage } of ranked) {
      if (!pages.has(passage.address)) pages.set(passage.address, { page: passage.page, address: passage.address, passages: [] });
      pages.get(passage.address).passages.push(passage);
    }
    return [...pages.values()].slice(0, limit).map((page) => ({ ...page, passages: page.passages.slice(0, 3).map((one) => shown(one, words)) }));
  }

  const shown = ({ title, href, text }, words) => ({ title, href, excerpt: excerpt(text, words, phrase(title)) });

  /** Pieces of the sentences that have most of the words that the title lacks: [[text, whether it is one of the words]] */
  function excerpt(text, words, title) {
    const starts = words.map(stem).filter((start) => start.length > 1 || words.length === 1);
    const isFound = (piece) => starts.some((start) => split(piece).some((token) => word(token).startsWith(start)));
    const sentences = text.match(/.+?(?:[.?!:](?=\s)|$)\s*/gsu) ?? [];
    const missing = starts.filter((start) => !title.includes(` ${start}`));
    const counts = sentences.map((sentence) => missing.filter((start) => split(sentence).some((token) => word(token).startsWith(start))).length);
    const first = Math.max(0, counts.indexOf(Math.max(...counts)));
    let cut = sentences.slice(first).join("");
    if (cut.length > EXCERPT) cut = `${cut.slice(0, EXCERPT).replace(/\s+\S*$/u, "")} …`;
    return cut.split(/([\p{L}\p{N}_∞√]+)/u).filter(Boolean).map((piece) => [piece, isFound(piece)]);
  }

  return { read, find };
})();
