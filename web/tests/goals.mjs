// Measures what the page promises, in Debian's Chromium: `node tests/goals.mjs [SECONDS]`, after
// tools/page. Prints a table; nothing is compared, since the figures are the machine's.
import { readFileSync, readdirSync } from "node:fs";
import { gzipSync } from "node:zlib";
import { join } from "node:path";
import { browser, built, open, serve } from "./browser.mjs";

const seconds = Number(process.argv[2] ?? 10);
const server = await serve();
const chrome = await browser();
const size = ["index.html", "conclave.wasm", ...readdirSync(join(built, "assets")).map((each) => `assets/${each}`)]
  .reduce((sum, file) => sum + gzipSync(readFileSync(join(built, file)), { level: 9 }).length, 0);

let begin = performance.now();
const { page } = await open(chrome.context, `${server.address}#run/pll?n=10000&engine=agents&seed=1`);
const first = performance.now() - begin;

// Frames while ten thousand agents are drawn at a million interactions a second.
const play = page.getByRole("button", { name: /Play|Pause/ });
const speed = (index) => page.evaluate((to) => { const slider = document.querySelector("#speed"); slider.value = String(to); slider.dispatchEvent(new Event("input")); }, index);
const now = () => page.evaluate(() => Number(window.conclave.frame().look.now));
await speed(8);
await play.click();
const frames = await page.evaluate((ms) => new Promise((resolve) => {
  let count = 0;
  const begin = performance.now();
  const tick = () => { ++count; if (performance.now() - begin < ms) requestAnimationFrame(tick); else resolve((1000 * count) / (performance.now() - begin)); };
  requestAnimationFrame(tick);
}), 3000);
await play.click();

// As fast as it goes; the horizon keeps the trial from ending.
const bytesBefore = await page.evaluate(() => window.conclave.frame().bytes);
await page.evaluate(() => { location.hash = "#run/pll?n=10000&engine=agents&seed=1&until=1000000"; });
await page.waitForFunction(() => /until/.test(JSON.stringify(window.conclave.run().words)));
await speed(13);
await play.click();
await page.waitForTimeout(1000);
const from = await now();
begin = performance.now();
await page.waitForTimeout(seconds * 1000);
const perSecond = ((await now()) - from) / ((performance.now() - begin) / 1000);
const bytesAfter = await page.evaluate(() => window.conclave.frame().bytes);
await play.click();

console.log(`size, compressed            ${(size / 1000).toFixed(0)} kB
first picture               ${first.toFixed(0)} ms
frames, 10^4 agents drawn   ${frames.toFixed(0)} per second
pll, n = 10^4               ${perSecond.toExponential(2)} interactions per second
engine's memory             ${(bytesBefore / 2 ** 20).toFixed(1)} MiB before, ${(bytesAfter / 2 ** 20).toFixed(1)} MiB after ${seconds} s of playing`);
await chrome.close();
server.close();
