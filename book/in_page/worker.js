// Python in the page: a module worker that loads Pyodide from this folder and answers one check at a time.
const folder = new URL(".", import.meta.url).href;
const LIMIT = 10_000; // milliseconds that a check may take
const AGAIN = 1_000; // and between two attempts to end it: the learner's own `except` may have caught the first
let check = null;
let end = Infinity;

async function cache() {
  try {
    return await caches.open(`attention-by-hand/${folder.split("/").at(-2)}`);
  } catch {
    return null; // storage is forbidden: each visit fetches anew
  }
}

async function stored(name, store, progress) {
  const url = folder + name;
  let found = await store?.match(url);
  if (!found) {
    found = await fetch(url, { credentials: "same-origin" });
    if (!found.ok) throw new Error(`${name}: ${found.status}`);
    try {
      await store?.put(url, found.clone());
    } catch {
      // no room: it is fetched anew next time
    }
  }
  const count = new TransformStream({
    transform(chunk, controller) {
      progress(chunk.length);
      controller.enqueue(chunk);
    },
  });
  return found.body.pipeThrough(count);
}

async function opened(name, store, progress) {
  if (typeof DecompressionStream !== "undefined") {
    try {
      const bytes = await new Response(await stored(`${name}.gz`, store, progress)).arrayBuffer();
      const [first, second] = new Uint8Array(bytes, 0, 2);
      if (first !== 0x1f || second !== 0x8b) return new Blob([bytes]).stream(); // the host has unpacked it already
      return new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
    } catch {
      // this host has the plain file alone
    }
  }
  return stored(name, store, () => {});
}

const response = (stream, type) => new Response(stream, { headers: { "Content-Type": type } });

async function start() {
  const store = await cache();
  const sizes = await (await fetchSmall("sizes.json", store)).json();
  const wanted = ["pyodide.asm.mjs", "pyodide.asm.wasm", "python_stdlib.zip", "course.json"];
  const total = wanted.reduce((sum, name) => sum + sizes[name], 0);
  let done = 0;
  const progress = (bytes) => {
    done += bytes;
    postMessage({ kind: "progress", done, total });
  };
  const [script, wasm, library, course, lock] = await Promise.all([
    opened("pyodide.asm.mjs", store, progress).then((stream) => response(stream, "text/javascript").blob()),
    opened("pyodide.asm.wasm", store, progress).then((stream) => response(stream, "application/wasm").arrayBuffer()),
    stored("python_stdlib.zip", store, progress).then((stream) => response(stream, "application/zip").blob()),
    opened("course.json", store, progress).then((stream) => response(stream, "application/json").json()),
    fetchSmall("lock.json", store).then((one) => one.text()),
  ]);
  postMessage({ kind: "loaded" });
  const loader = URL.createObjectURL(await (await fetchSmall("pyodide.mjs", store)).blob());
  const own = self.fetch.bind(self);
  self.fetch = (url, ...more) =>
    String(url).endsWith("pyodide.asm.wasm") ? Promise.resolve(response(wasm, "application/wasm")) : own(url, ...more);
  const scriptUrl = URL.createObjectURL(script);
  const [{ loadPyodide }, { default: createPyodideModule }] = await Promise.all([import(loader), import(scriptUrl)]);
  const python = await loadPyodide({
    indexURL: folder,
    stdLibURL: URL.createObjectURL(library),
    lockFileContents: lock,
    createPyodideModule,
  });
  for (const [path, text] of Object.entries(course)) {
    python.FS.mkdirTree(`/course/${path}`.split("/").slice(0, -1).join("/"));
    python.FS.writeFile(`/course/${path}`, text);
  }
  python.runPython("import sys; sys.path.insert(0, '/course')\nimport in_the_page");
  python.runPython("in_the_page.prepare(); in_the_page.warm_up()");
  check = python.globals.get("in_the_page").check;
  // Python asks this object now and then whether it is to stop; static hosts allow no shared memory to say so in.
  python.setInterruptBuffer({
    get 0() {
      if (performance.now() < end) return 0;
      end = performance.now() + AGAIN;
      return 2;
    },
    set 0(_) {},
  });
}

async function fetchSmall(name, store) {
  return new Response(await stored(name, store, () => {}), {
    headers: { "Content-Type": name.endsWith("js") ? "text/javascript" : "application/json" },
  });
}

onmessage = async ({ data }) => {
  try {
    if (data.kind === "start") {
      await start();
      postMessage({ kind: "ready" });
      return;
    }
    end = performance.now() + LIMIT;
    const told = check(JSON.stringify(data.request));
    end = Infinity;
    postMessage({ kind: "told", told: JSON.parse(told) });
  } catch (error) {
    end = Infinity;
    postMessage({ kind: "broken", text: String(error?.message ?? error).slice(-2000) });
  }
};
