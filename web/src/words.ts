// A view in words. The address of the page holds them (`#run/prl?n=64&seed=7&init=random`), the
// command line takes them, and the engine reads them: three ways to write one thing.
import type { Words } from "./engine";

export interface Run {
  protocol: string;
  words: Words;          // options of `run`: n, seed, init, engine, graph, param, fault, delay, ...
  at: string;            // the number of interactions that is shown; empty: the start
  view: string;          // what agents are coloured by; empty: their output
  overlay: number;       // further trials in the chart
  text: string;          // of an own protocol; empty: one of the catalog
}

const forPage = new Set(["at", "view", "overlay", "text"]);

export const emptyRun = (protocol: string): Run => ({ protocol, words: [], at: "", view: "", overlay: 0, text: "" });

export function value(run: Run, option: string): string {
  return run.words.find(([name]) => name === option)?.[1] ?? "";
}

export function values(run: Run, option: string): string[] {
  return run.words.filter(([name]) => name === option).map(([, text]) => text);
}

// The same run with another value of an option; an empty value takes it out.
export function withValue(run: Run, option: string, text: string): Run {
  const words = run.words.filter(([name]) => name !== option);
  return { ...run, words: text === "" ? words : [...words, [option, text]], at: "" };
}

export function withParam(run: Run, name: string, text: string): Run {
  const words = run.words.filter(([option, old]) => option !== "param" || !old.startsWith(`${name}=`));
  return { ...run, words: text === "" ? words : [...words, ["param", `${name}=${text}`]], at: "" };
}

export function param(run: Run, name: string): string {
  return values(run, "param").find((each) => each.startsWith(`${name}=`))?.slice(name.length + 1) ?? "";
}

export function runOfAddress(hash: string): Run | null {
  const match = /^#run\/([^?]*)\??(.*)$/.exec(hash);
  if (!match) return null;
  const run = emptyRun(decodeURIComponent(match[1]!));
  for (const [name, text] of new URLSearchParams(match[2])) {
    if (!forPage.has(name)) run.words.push([name, text]);
    if (name === "at") run.at = text;
    if (name === "view") run.view = text;
    if (name === "overlay") run.overlay = Math.max(0, Math.min(20, Number(text) || 0));
    if (name === "text") run.text = text;
  }
  return run;
}

export function addressOf(run: Run): string {
  const query = new URLSearchParams(run.words);
  if (run.view) query.set("view", run.view);
  if (run.overlay) query.set("overlay", String(run.overlay));
  if (run.at) query.set("at", run.at);
  if (run.text) query.set("text", run.text);
  // Signs that need no escape in a fragment stay readable.
  const readable = query.toString().replace(/%3A/g, ":").replace(/%40/g, "@").replace(/%2C/g, ",").replace(/%2F/g, "/").replace(/%3D/g, "=");
  return `#run/${encodeURIComponent(run.protocol)}${readable ? `?${readable}` : ""}`;
}

const quoted = (text: string) => (/^[\w.,:=+@/^-]+$/.test(text) ? text : `'${text.replace(/'/g, "'\\''")}'`);

// `order` is that of the options (Look.options).
export function commandOf(run: Run, order: string[]): string {
  const sorted = [...run.words].filter(([name]) => name !== "trial").sort(([a], [b]) => order.indexOf(a) - order.indexOf(b));
  return ["conclave run", run.protocol, ...sorted.map(([name, text]) => `--${name} ${quoted(text)}`)].join(" ");
}

// The words that the engine takes.
export function wordsOf(run: Run, trial = 0): Words {
  const words: Words = [["protocol", run.protocol], ...run.words];
  return trial > 0 ? [...words, ["trial", String(trial)]] : words;
}

// The shortest decimal time at which a fault strikes after exactly so many of n agents' interactions.
export function timeOf(interactions: number, n: number): string {
  for (let digits = 0; digits < 18; ++digits) {
    for (const text of [(interactions / n).toFixed(digits), ((interactions + 0.5) / n).toFixed(digits)]) {
      if (Math.floor(Number(text) * n) === interactions) return text;
    }
  }
  return String((interactions + 0.5) / n);
}
