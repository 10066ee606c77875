// Runs gate.py in the page's Python: node gate.mjs FOLDER; FOLDER has the page's files, gate.json and asked.json.
import fs from "node:fs";
import path from "node:path";
import { pathToFileURL } from "node:url";

main().catch((error) => {
  console.error(String(error.message).slice(-3000)); // Node would print Pyodide's one long line
  process.exit(1);
});

async function main() {

const folder = path.resolve(process.argv[2]);
const { loadPyodide } = await import(pathToFileURL(path.join(folder, "pyodide.mjs")));
const started = performance.now();
const python = await loadPyodide({
  indexURL: folder + path.sep,
  stdLibURL: path.join(folder, "python_stdlib.zip"),
  lockFileContents: fs.readFileSync(path.join(folder, "lock.json"), "utf-8"),
});
const booted = performance.now();
for (const name of ["course.json", "gate.json"]) {
  const files = JSON.parse(fs.readFileSync(path.join(folder, name), "utf-8"));
  for (const [file, text] of Object.entries(files)) {
    python.FS.mkdirTree(path.posix.dirname(`/course/${file}`));
    python.FS.writeFile(`/course/${file}`, text);
  }
}
python.FS.writeFile("/whole.json", fs.readFileSync(path.join(folder, "whole.json")));
python.runPython("import sys; sys.path.insert(0, '/course')\nimport in_the_page; in_the_page.prepare(); in_the_page.warm_up()");
const warm = performance.now();
const asked = fs.readFileSync(path.join(folder, "asked.json"), "utf-8");
const found = JSON.parse(python.runPython("import gate; gate.run").callKwargs(asked, {}));
const imported = JSON.parse(python.runPython(`
import json, sys
json.dumps(sorted(str(one.__spec__.origin) for one in list(sys.modules.values()) if getattr(one, "__spec__", None)))`));
found.imported = imported;
found.seconds = { boot: (booted - started) / 1000, warm: (warm - booted) / 1000, gate: (performance.now() - warm) / 1000 };
fs.writeFileSync(path.join(folder, "found.json"), JSON.stringify(found));
}
