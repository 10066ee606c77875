// A tab of Firefox, driven over WebDriver BiDi: reads [method of the page, …arguments] a line, answers a line of JSON each.
// node firefox.mjs /usr/bin/firefox-esr
import { createInterface } from "node:readline";
import puppeteer from "puppeteer-core";

const browser = await puppeteer.launch({ browser: "firefox", executablePath: process.argv[2], headless: true });
try {
  const page = await browser.newPage();
  page.setDefaultTimeout(280_000);
  const foreign = { press: (key) => page.keyboard.press(key), type: (text) => page.keyboard.type(text) };
  const fill = (selector, text) => page.locator(selector).fill(text);
  const version = () => browser.version();
  const methods = { ...foreign, fill, version };
  for await (const line of createInterface({ input: process.stdin })) {
    const [method, ...given] = JSON.parse(line);
    try {
      const got = await (methods[method] ?? page[method].bind(page))(...given);
      console.log(JSON.stringify({ got: ["boolean", "number", "string"].includes(typeof got) || Array.isArray(got) ? got : null }));
    } catch (error) {
      console.log(JSON.stringify({ error: String(error) }));
    }
  }
} finally {
  await browser.close();
}
