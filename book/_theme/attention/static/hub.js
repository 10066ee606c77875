// Opens a notebook of the course on the reader's own JupyterHub, whose address stays in this browser.
"use strict";
document.addEventListener("DOMContentLoaded", () => {
  const form = document.querySelector("form.open-on-hub");
  const field = form.querySelector("input[type=url]");
  const { repo, branch, urlpath } = form.elements;
  const asked = new URLSearchParams(location.search).get("notebook");
  if (asked && /^[\w-]+$/.test(asked)) {
    urlpath.value = urlpath.value.replace(`/${form.dataset.notebook}.ipynb`, `/${asked}.ipynb`);
    form.querySelector("button span").textContent = asked;
  }
  try {
    field.value ||= localStorage.getItem("hub") ?? ""; // what was typed while this script was loading stays
  } catch { /* storage is forbidden: the address is typed anew */ }
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    const hub = new URL(field.value);
    if (!/^https?:$/.test(hub.protocol)) return;
    const base = `${hub.origin}${hub.pathname.replace(/\/(hub(\/.*)?)?$/, "")}`;
    try {
      localStorage.setItem("hub", base);
    } catch { /* as above */ }
    const query = new URLSearchParams({ repo: repo.value, branch: branch.value, urlpath: urlpath.value });
    location.assign(`${base}/hub/user-redirect/git-pull?${query}`);
  });
});
