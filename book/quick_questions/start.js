// Remembers that a page was read to its end, and fetches what makes questions answerable when one comes near.
"use strict";
(() => {
  const here = document.currentScript;
  const page = here.dataset.page;

  const near = (elements, margin, act) => {
    if (!elements.length) return;
    const watch = new IntersectionObserver((seen) => {
      if (!seen.some((one) => one.isIntersecting)) return;
      watch.disconnect();
      act();
    }, { rootMargin: margin });
    elements.forEach((one) => watch.observe(one));
  };

  near([...document.querySelectorAll(".quick-question")], "100% 0px", () => {
    const script = document.createElement("script");
    script.src = new URL("questions.js", here.src).href;
    document.head.append(script);
  });

  if (!/^(chapters\/|deeper\/|prerequisites$|notation$)/.test(page)) return;
  near([...document.querySelectorAll(".prev-next-area, .bd-footer-content")].slice(0, 1), "0px", () => {
    try {
      const key = `attention.read.${page}`;
      if (!localStorage.getItem(key)) localStorage.setItem(key, new Date().toISOString().slice(0, 10));
    } catch { /* A browser that keeps nothing shows the page all the same. */ }
  });
})();
