// The module against the command line: rows and traces must be equal, byte for byte, also where the
// trial was watched in pieces and where it went back. `node tests/engine_test.mjs [CONCLAVE [MODULE]]`
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import assert from "node:assert/strict";
import { rolldown } from "rolldown";

const here = fileURLToPath(new URL(".", import.meta.url));
const conclave = process.argv[2] ?? join(here, "../../build/release/conclave");
const path = process.argv[3] ?? join(here, "../../build/wasm/conclave.wasm");

const folder = mkdtempSync(join(tmpdir(), "conclave-"));
const bundle = await rolldown({ input: join(here, "../src/trial.ts"), logLevel: "silent" });
await bundle.write({ file: join(folder, "trial.mjs") });
const bundleOfEngine = await rolldown({ input: join(here, "../src/engine.ts"), logLevel: "silent" });
await bundleOfEngine.write({ file: join(folder, "engine.mjs") });
const { Engine } = await import(join(folder, "engine.mjs"));
const { Trial } = await import(join(folder, "trial.mjs"));

const module = await WebAssembly.compile(readFileSync(path));
const engine = await Engine.of(module);
const known = new Set(engine.list().map((each) => each.name));

// Trials of every kind: engines, starts, parameters, faults, graphs, networks, ends.
const trials = [
  ["pll", ["n", "1000"], ["engine", "agents"]],
  ["pll", ["n", "20000"], ["seed", "7"]],
  ["pll", ["n", "300"], ["engine", "counts"], ["fault", "corrupt:30%@5"]],
  ["pll", ["n", "200"], ["param", "reading=printed"], ["seed", "25"]],
  ["fratricide", ["n", "500"]],
  ["fratricide", ["n", "1e9"], ["engine", "counts"], ["until", "3.5"]],
  ["prl", ["n", "64"], ["init", "random"], ["seed", "5"], ["engine", "agents"], ["fault", "kill-leaders@convergence+20"], ["fault", "corrupt:50%@convergence+900"]],
  ["prl", ["n", "100"], ["init", "all-leaders"], ["engine", "events"]],
  ["ppl", ["n", "60"], ["init", "random"], ["engine", "agents"], ["param", "hold=1"], ["max-parallel-time", "20000"]],
  ["electleader", ["n", "64"], ["param", "r=16"], ["init", "same"]],
  ["coalescence", ["n", "64"], ["graph", "grid:8x8"]],
  ["kmpp-async", ["n", "32"], ["delay", "exponential"], ["seed", "3"]],
  ["kmpp-async", ["n", "5"], ["delay", "order:0-1/2-1/1-0"], ["seed", "3"]],
  ["kmpp-sync", ["n", "40"]],
  ["flooding", ["n", "12"], ["delay", "uniform"]],
].filter(([name]) => known.has(name));

const flags = (words) => words.flatMap(([name, text]) => [`--${name}`, text]);
const command = (protocol, words, file) => {
  const args = ["run", protocol, ...flags(words), "--format", "jsonl", "--quiet", "--threads", "1", "--trace", file];
  try { return execFileSync(conclave, args, { encoding: "utf8" }); } catch (error) {
    if (error.status === 3) return error.stdout;  // did not converge, as planned
    throw error;
  }
};

let compared = 0;
for (const [protocol, ...words] of trials) {
  const file = join(folder, "trace.csv");
  const row = command(protocol, words, file);
  const all = [["protocol", protocol], ...words];
  engine.open(all, "", "log");
  // In uneven pieces, to the end.
  let at = 0;
  while (!engine.look().over && at < 4e5) { at += 1 + Math.floor(at / 3); engine.advance(at); engine.table(); }
  engine.advance(Infinity);
  assert.equal(`${engine.row()}\n`, row, `${protocol} ${JSON.stringify(words)}`);
  assert.equal(engine.trace(), readFileSync(file, "utf8"), `trace of ${protocol} ${JSON.stringify(words)}`);
  ++compared;
}
assert.ok(compared >= 5, "too few protocols are built in to compare");

// A text, given by its content, and one with a mistake in its second line.
const text = readFileSync(join(here, "../../protocols/epidemic.pp"), "utf8");
writeFileSync(join(folder, "epidemic.pp"), text);
const words = [["n", "500"], ["seed", "4"]];
engine.open([["protocol", "epidemic.pp"], ...words], text, "log");
engine.advance(Infinity);
assert.equal(`${engine.row()}\n`, command(join(folder, "epidemic.pp"), words, join(folder, "trace.csv")));
assert.throws(() => engine.describe("mine.pp", "states A, B\nstrt A\n"), /mine\.pp:2:1/);
assert.throws(() => engine.open([["protocol", "pl"], ["n", "10"]]), /did you mean 'pll'/);
assert.throws(() => engine.open([["protocol", "pll"], ["n", "1e9"], ["engine", "agents"]]), /no room/);

// Going back and forth ends where a straight way ends; agents named by an attack are hit.
const trial = new Trial(await Engine.of(module));
const attack = [["protocol", "prl"], ["n", "40"], ["init", "random"], ["engine", "agents"], ["fault", "make-leaders:#3@10"]];
trial.open(attack, "", "");
trial.goTo(399);
const led = trial.table().values[3 * 6];
trial.goTo(400);
const table = trial.table();
assert.equal(table.columns[4].name, "distL");
assert.equal(table.values[3 * 6], 1, "agent 3 was crowned");
assert.equal(trial.look().faults[0].agents, led === 1 ? 0 : 1);
trial.goTo(3000);
trial.keep();
const there = trial.table().values;
trial.goTo(120);
assert.equal(trial.now, 120);
trial.goTo(3000);
assert.deepEqual(trial.table().values, there);
const change = trial.change(10000);
assert.equal(change.agents[1], (change.agents[0] + 1) % 40, "neighbours met");
assert.notDeepEqual(trial.table().values, there);

console.log(`engine_test: ${compared} trials of the page are those of the command line, byte for byte`);
