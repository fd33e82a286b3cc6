// Measures what the page promises, in Debian's Chromium: `node tests/goals.mjs [CONCLAVE]`, after
// tools/page. Prints a table; nothing is compared, since the figures are the machine's. Work per
// frame and speed are also given in CPU time, which a busy machine does not spoil; the native
// engine is timed in the same minute.
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, readdirSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { gzipSync } from "node:zlib";
import { join } from "node:path";
import { rolldown } from "rolldown";
import { browser, built, here, open, serve } from "./browser.mjs";

const conclave = process.argv[2] ?? join(here, "../../build/release/conclave");
const files = ["index.html", "conclave.wasm", ...readdirSync(join(built, "assets")).filter((each) => !each.endsWith(".br")).map((each) => `assets/${each}`)];
const sum = (size) => files.reduce((all, file) => all + size(join(built, file)), 0);
const gzip = sum((file) => gzipSync(readFileSync(file), { level: 9 }).length);
const brotli = sum((file) => statSync(`${file}.br`).size);

// The engine alone, per second of CPU time: the module in Node, and the program.
async function engineSpeed() {
  const folder = mkdtempSync(join(tmpdir(), "conclave-"));
  await (await rolldown({ input: join(here, "../src/engine.ts"), logLevel: "silent" })).write({ file: join(folder, "engine.mjs") });
  const { Engine } = await import(join(folder, "engine.mjs"));
  const engine = await Engine.of(await WebAssembly.compile(readFileSync(join(built, "conclave.wasm"))));
  engine.open([["protocol", "pll"], ["n", "10000"], ["engine", "agents"], ["until", "1000000"]]);
  let at = 0;
  const go = (seconds) => {
    const begin = process.cpuUsage(), from = at;
    const spent = () => { const { user, system } = process.cpuUsage(begin); return (user + system) / 1e6; };
    while (spent() < seconds) engine.advance(at += 2e6);
    return (at - from) / spent();
  };
  go(1);  // until it is compiled well
  return go(2);
}

function nativeSpeed() {
  const interactions = 1e8;
  const seconds = (until) => execFileSync("bash", ["-c", `TIMEFORMAT=%U; { time "$0" run pll --n 10000 --engine agents --until ${until} --threads 1 --quiet --format jsonl >/dev/null; } 2>&1`, conclave], { encoding: "utf8" });
  return interactions / (Number(seconds(interactions / 1e4 + 1)) - Number(seconds(1)));
}

const wasm = await engineSpeed();
let native = 0;
try { native = nativeSpeed(); } catch (error) { console.error(`the native engine is not timed: ${error.message}`); }

const server = await serve();
const chrome = await browser();
let begin = performance.now();
const { page } = await open(chrome.context, `${server.address}#run/pll?n=10000&engine=agents&seed=1&until=1000000`);
const first = performance.now() - begin;
const session = await chrome.context.newCDPSession(page);
await session.send("Performance.enable", { timeDomain: "threadTicks" });
const busy = async () => (await session.send("Performance.getMetrics")).metrics.find((each) => each.name === "TaskDuration").value;

const play = page.getByRole("button", { name: /Play|Pause/ });
const speed = (index) => page.evaluate((to) => { const slider = document.querySelector("#speed"); slider.value = String(to); slider.dispatchEvent(new Event("input")); }, index);
const now = () => page.evaluate(() => Number(window.conclave.frame().look.now));

// Plays for some seconds; counts frames that show something new.
async function played(index, seconds) {
  await speed(index);
  await play.click();
  await page.waitForTimeout(1500);
  const work = await busy(), from = await now(), start = performance.now();
  const frames = await page.evaluate((ms) => new Promise((resolve) => {
    let count = 0, last = null;
    const begin = performance.now();
    const tick = () => {
      if (window.conclave.frame() !== last) ++count;
      last = window.conclave.frame();
      if (performance.now() - begin < ms) requestAnimationFrame(tick); else resolve(count);
    };
    requestAnimationFrame(tick);
  }), seconds * 1000);
  const wall = (performance.now() - start) / 1000;
  const result = { perSecond: frames / wall, cpu: (1000 * ((await busy()) - work)) / frames, speed: ((await now()) - from) / wall };
  await play.click();
  await page.waitForTimeout(300);
  return result;
}
const slow = await played(8, 4);
const fast = await played(13, 4);
const bytes = await page.evaluate(() => window.conclave.frame().bytes);
await chrome.close();
server.close();

const ratio = native ? `; ${(wasm / native).toFixed(2)} of the native engine's ${native.toExponential(2)}` : "";
console.log(`size, compressed                 ${(brotli / 1000).toFixed(0)} kB by Brotli, ${(gzip / 1000).toFixed(0)} kB by gzip
first picture                    ${first.toFixed(0)} ms
10^4 agents at 10^4 a second     ${slow.perSecond.toFixed(0)} frames per second, ${slow.cpu.toFixed(1)} ms of CPU time each in the page's thread
10^4 agents at full speed        ${fast.perSecond.toFixed(0)} frames per second, ${fast.cpu.toFixed(1)} ms of CPU time each
pll, n = 10^4, drawn             ${fast.speed.toExponential(2)} interactions per second of this machine as it is
pll, n = 10^4, engine alone      ${wasm.toExponential(2)} interactions per second of CPU time${ratio}
engine's memory                  ${(bytes / 2 ** 20).toFixed(1)} MiB`);
