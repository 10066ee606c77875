// Sets formulas with KaTeX: one JSON text a line comes in, {tex, display}, and one goes out, MathML or null.
// The first line that goes out says that the program is ready.
const katex = require(process.argv[2]);
const OPTIONS = {
  output: "mathml",
  throwOnError: true,
  strict: "ignore",
  trust: false,
  maxSize: 20,
  maxExpand: 200,
  errorColor: "currentcolor",
};
process.stdout.write("true\n");
require("readline")
  .createInterface({ input: process.stdin })
  .on("line", (line) => {
    let html = null;
    try {
      const { tex, display } = JSON.parse(line);
      html = katex.renderToString(tex, { ...OPTIONS, displayMode: display });
    } catch {
      // Not TeX that KaTeX knows: the page shows it as it was written.
    }
    process.stdout.write(JSON.stringify(html) + "\n");
  });
