// Measures what the page promises, in Debian's Chromium: `node tests/goals.mjs [CONCLAVE] [MINUTES]`,
// after tools/page. Prints the table of docs/how-to/explorer.md and ends after about three minutes; nothing is
// compared but rows, since the figures are the machine's. Work per frame and the engines' speed are in
// CPU time, which a busy machine does not spoil; the program is timed in turns. The memory is
// watched for MINUTES, 2 unless told; tests/memory.mjs does that for ten.
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, readdirSync, statSync } from "node:fs";
import { loadavg, tmpdir } from "node:os";
import { gzipSync } from "node:zlib";
import { join } from "node:path";
import { rolldown } from "rolldown";
import { browser, built, here, open, serve } from "./browser.mjs";

const conclave = process.argv[2] ?? join(here, "../../build/release/conclave");
const minutes = Number(process.argv[3] ?? 2);
const files = ["index.html", "conclave.wasm", ...readdirSync(join(built, "assets")).filter((each) => !each.endsWith(".br")).map((each) => `assets/${each}`)];
const sum = (size) => files.reduce((all, file) => all + size(join(built, file)), 0);
const gzip = sum((file) => gzipSync(readFileSync(file), { level: 9 }).length);
const brotli = sum((file) => statSync(`${file}.br`).size);

// The engines alone, in CPU time: the module in Node, and the program, whose row must be the same.
const trials = [
  { protocol: "pll", n: "1e4", engine: "agents", until: "2e4" },
  { protocol: "pll", n: "1e7", engine: "counts", until: "100" },
  { protocol: "prl", n: "1000", init: "random", engine: "events", until: "1e7" },
  { protocol: "kmpp-async", n: "1e5" },
];
async function engineSpeeds() {
  const folder = mkdtempSync(join(tmpdir(), "conclave-"));
  await (await rolldown({ input: join(here, "../src/engine.ts"), logLevel: "silent" })).write({ file: join(folder, "engine.mjs") });
  const { Engine } = await import(join(folder, "engine.mjs"));
  const engine = await Engine.of(await WebAssembly.compile(readFileSync(join(built, "conclave.wasm"))));
  const inModule = (words) => {
    const begin = process.cpuUsage();
    engine.open(words);
    engine.advance(Infinity);
    const { user, system } = process.cpuUsage(begin);
    return { seconds: (user + system) / 1e6, row: `${engine.row()}\n` };
  };
  const inProgram = (protocol, flags) => {
    const times = join(folder, "times");
    const row = execFileSync("bash", ["-c", `TIMEFORMAT="%U %S"; { time "$@" 2>/dev/null; } 2>"$0"`, times, conclave, "run", protocol, ...flags, "--threads", "1", "--quiet", "--format", "jsonl"], { encoding: "utf8" });
    return { seconds: readFileSync(times, "utf8").trim().split(" ").reduce((sum, each) => sum + Number(each), 0), row };
  };
  return trials.map((trial) => {
    const words = Object.entries(trial);
    const flags = words.slice(1).flatMap(([name, value]) => [`--${name}`, value]);
    inModule(words);  // until it is compiled well
    const both = [0, 1, 2].map(() => [inModule(words), inProgram(trial.protocol, flags)]);
    if (both.some(([page, program]) => page.row !== program.row)) throw new Error(`rows of ${trial.protocol} differ`);
    const least = (which) => Math.min(...both.map((each) => each[which].seconds));
    return { name: `${trial.protocol}, n = ${trial.n}${trial.engine ? `, ${trial.engine}` : ""}`, module: least(0), program: least(1) };
  });
}

const load = () => loadavg()[0].toFixed(1);
const begun = load();
const speeds = await engineSpeeds();

const server = await serve();
const chrome = await browser();

// From asking for the address to the first frame, in a page of its own; the best and the worst of five.
const firsts = [];
for (let i = 0; i < 5; ++i) {
  const begin = performance.now();
  const { page } = await open(chrome.context, `${server.address}#run/pll?n=1000&engine=agents&seed=1`);
  firsts.push(performance.now() - begin);
  await page.close();
}
firsts.sort((a, b) => a - b);

const { page } = await open(chrome.context, `${server.address}#run/pll?n=10000&engine=agents&seed=1&until=100000000`);
const session = await chrome.context.newCDPSession(page);
await session.send("Performance.enable", { timeDomain: "threadTicks" });
const busy = async () => (await session.send("Performance.getMetrics")).metrics.find((each) => each.name === "TaskDuration").value;

const play = page.getByRole("button", { name: /Play|Pause/ });
const setSpeed = (index) => page.evaluate((to) => { const slider = document.querySelector("#speed"); slider.value = String(to); slider.dispatchEvent(new Event("input")); }, index);
const now = () => page.evaluate(() => Number(window.conclave.frame().look.now));

// Plays for some seconds; counts frames that show something new.
async function played(index, seconds) {
  await setSpeed(index);
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
const slow = await played(8, 5);
const fast = await played(13, 5);

// The heap of the page and the memory of the engine, after a collection of garbage, while it plays on.
const looks = [];
await setSpeed(8);
await play.click();
for (let i = 0; i <= 4 * minutes; ++i) {
  if (i > 0) await page.waitForTimeout(15000);
  await session.send("HeapProfiler.collectGarbage");
  const { usedSize } = await session.send("Runtime.getHeapUsage");
  looks.push({ heap: usedSize / 2 ** 20, engine: await page.evaluate(() => window.conclave.frame().bytes) / 2 ** 20 });
}
await chrome.close();
server.close();

const range = (what) => { const all = looks.map((each) => each[what]); return `${Math.min(...all).toFixed(1)} to ${Math.max(...all).toFixed(1)} MiB`; };
const kB = (bytes) => `${(bytes / 1000).toFixed(0)} kB`;
console.log(`Load of the machine ${begun} to ${load()}.

| | goal | measured |
|---|---|---|
| size, compressed | 600 kB | ${kB(brotli)} by Brotli, ${kB(gzip)} by gzip |
| first picture | 1 s | ${(firsts[0] / 1000).toFixed(2)} to ${(firsts.at(-1) / 1000).toFixed(2)} s in five openings |
| 10^4 agents drawn | 60 frames per second | ${slow.perSecond.toFixed(0)} at 10^4 interactions a second, ${fast.perSecond.toFixed(0)} at full speed; ${slow.cpu.toFixed(1)} and ${fast.cpu.toFixed(1)} ms of CPU time a frame in the page's thread |
| \`pll\`, n = 10^4 | 5e7 interactions per second | ${fast.speed.toExponential(1)} while it is drawn |
| memory while playing | flat | page ${range("heap")}, engine ${range("engine")} over ${minutes} minutes |
${speeds.map((each) => `| ${each.name} | 60 % of the program's speed | ${((100 * each.program) / each.module).toFixed(0)} %: ${each.module.toFixed(2)} and ${each.program.toFixed(2)} s of CPU time |`).join("\n")}`);
