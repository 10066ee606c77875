// Runs Lighthouse as a phone on each address and prints one JSON line for each.
// node lighthouse.mjs '{"categories": [...], "runs": 1, "chromium": "/usr/bin/chromium", "addresses": [...]}'
import * as chromeLauncher from "chrome-launcher";
import lighthouse from "lighthouse";

const { categories, runs, chromium, addresses } = JSON.parse(process.argv[2]);
const median = (values) => values.sort((one, other) => one - other)[Math.floor(values.length / 2)];
const chrome = await chromeLauncher.launch({ chromePath: chromium, chromeFlags: ["--headless=new", "--no-sandbox", "--disable-gpu"] });
try {
  for (const address of addresses) {
    const results = [];
    for (let run = 0; run < runs; run += 1) {
      const { lhr } = await lighthouse(address, { port: chrome.port, logLevel: "silent", onlyCategories: categories });
      results.push(lhr);
    }
    const scores = Object.fromEntries(
      categories.map((name) => [name, Math.round(100 * median(results.map((result) => result.categories[name].score)))]),
    );
    const [last] = results.slice(-1);
    const decided = Object.entries(last.categories).filter(([name]) => name !== "performance");
    const failed = decided
      .flatMap(([, category]) => category.auditRefs.filter(({ weight }) => weight > 0).map(({ id }) => last.audits[id]))
      .filter(({ score }) => score !== null && score < 1)
      .map(({ id, title, details }) => `${id}: ${title} ${JSON.stringify(details?.items?.[0] ?? "").slice(0, 300)}`);
    const paint = results.map((result) => result.audits["largest-contentful-paint"]?.numericValue ?? 0);
    const blocked = results.map((result) => result.audits["total-blocking-time"]?.numericValue ?? 0);
    console.log(JSON.stringify({ address, scores, failed, error: last.runtimeError?.message, paint: median(paint), blocked: median(blocked) }));
  }
} finally {
  await chrome.kill();
}
