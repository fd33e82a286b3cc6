// Whether memory stays as it is while a trial plays: `node tests/memory.mjs [MINUTES]`, after
// tools/page. Looks every half minute, after a collection of garbage, at the heap of the page and at
// the engine's memory, and fails where the second half needs more than a tenth above the first.
import { browser, open, serve } from "./browser.mjs";

const minutes = Number(process.argv[2] ?? 10);
const server = await serve();
const chrome = await browser();
const { page } = await open(chrome.context, `${server.address}#run/pll?n=2000&engine=agents&seed=1&until=100000000`);
const session = await chrome.context.newCDPSession(page);
await page.evaluate(() => { const slider = document.querySelector("#speed"); slider.value = "8"; slider.dispatchEvent(new Event("input")); });
await page.getByRole("button", { name: /Play/ }).click();
const looks = [];
for (let i = 0; i < 2 * minutes; ++i) {
  await page.waitForTimeout(30000);
  await session.send("HeapProfiler.collectGarbage");
  const { usedSize } = await session.send("Runtime.getHeapUsage");
  const told = await page.evaluate(() => ({ bytes: window.conclave.frame().bytes, now: Number(window.conclave.frame().look.now) }));
  looks.push({ heap: usedSize, engine: told.bytes });
  console.log(`${((i + 1) / 2).toFixed(1)} min  ${told.now.toExponential(2)} interactions  page ${(usedSize / 2 ** 20).toFixed(1)} MiB  engine ${(told.bytes / 2 ** 20).toFixed(1)} MiB`);
}
await chrome.close();
server.close();
const most = (part, what) => Math.max(...part.map((each) => each[what]));
const [early, late] = [looks.slice(0, looks.length / 2), looks.slice(looks.length / 2)];
const grows = ["heap", "engine"].filter((what) => most(late, what) > 1.1 * most(early, what));
console.log(grows.length > 0 ? `grows: ${grows.join(", ")}` : `flat over ${minutes} minutes`);
process.exit(grows.length > 0 ? 1 : 0);
