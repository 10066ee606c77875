// Fetches a widget's files when it comes within a screen of the reader, is pointed at, gets the focus, or is named in the address.
(() => {
  'use strict';
  const folder = document.currentScript.src.replace(/[^/]*$/, '');
  const fetched = new Map();
  const fetchFile = name => {
    if (!fetched.has(name)) fetched.set(name, new Promise((done, failed) => {
      const sheet = name.endsWith('.css');
      const file = document.createElement(sheet ? 'link' : 'script');
      if (sheet) Object.assign(file, {rel: 'stylesheet', href: folder + name});
      else Object.assign(file, {src: folder + name, async: false});
      file.onload = done;
      file.onerror = () => failed(new Error(`${name} could not be loaded`));
      document.head.append(file);
    }));
    return fetched.get(name);
  };
  const fetchWidget = async widget => {
    if ('asked' in widget.dataset) return;
    widget.dataset.asked = '';
    const files = widget.dataset.files.split(' ');
    const last = files.pop();  // defines the element, which is drawn at once: with its style, and all that it uses
    try {
      document.head.append(Object.assign(document.createElement('link'), {rel: 'preload', as: 'script', href: folder + last}));
      await Promise.all(files.map(fetchFile));
      await fetchFile(last);
    } catch (problem) {  // the table stays; the next focus or pointer tries again
      delete widget.dataset.asked;
      fetched.clear();
      console.warn(problem.message);
    }
  };
  const named = () => {  // #NAME:… shows what a reader saw who made the link
    const name = location.hash.slice(1).split(':')[0];
    const widget = name && location.hash.includes(':') && document.getElementById(name);
    if (widget && widget.dataset.files) {
      widget.scrollIntoView();
      fetchWidget(widget);
    }
  };
  const begin = () => {
    const widgets = document.querySelectorAll('[data-files]');
    const near = new IntersectionObserver(seen => seen.forEach(entry => {
      if (!entry.isIntersecting) return;
      near.unobserve(entry.target);
      entry.target.dataset.height = entry.boundingClientRect.height;  // known here; read later, it would force a layout
      fetchWidget(entry.target);
    }), {rootMargin: '100% 0px'});
    for (const widget of widgets) {
      near.observe(widget);
      for (const kind of ['pointerover', 'focusin']) widget.addEventListener(kind, () => fetchWidget(widget));
    }
    addEventListener('hashchange', named);
    named();
  };
  if (document.readyState === 'complete') begin();
  else addEventListener('load', begin);  // the page itself comes first
})();
