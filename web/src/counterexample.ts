// Counterexamples that `conclave explore` and `conclave verify` print with --format json, as files
// and as links. Both may come from anybody: the size is limited, every field is checked, and the
// rest is text that is shown as text.
import type { Flow } from "./draw/space_time";
import type { NetworkEvent } from "./engine";

export const mostBytes = 1 << 20;
const mostNodes = 64, mostSteps = 5000, longestText = 1000, mostDetails = 200, longestLink = 6000;

// An event at a node in a step of `explore`.
export type Happening = { event: "wake" | "timeout"; node: number } | { event: "become"; node: number; standing: string; phase: number }
  | { event: "receive" | "send"; from: number; to: number; kind: string; payload: Record<string, number> };

// One step: what happens, in a sentence and in events of `explore`, or who meets whom, in `verify`.
export interface Step { title: string; details: string[]; events: Happening[]; words: string[]; pair: [number, number] | null }

export interface Counterexample {
  kind: "messages" | "agents";
  protocol: string; n: number; params: string; claim: string; steps: Step[];
}

class Unreadable extends Error {}

function check(condition: boolean, what: string): asserts condition {
  if (!condition) throw new Unreadable(`this is no counterexample of explore or verify: ${what}`);
}

const isObject = (thing: unknown): thing is Record<string, unknown> => typeof thing === "object" && thing !== null && !Array.isArray(thing);

function text(thing: unknown, what: string): string {
  check(typeof thing === "string" && thing.length <= longestText, `${what} is not a string of at most ${longestText} characters`);
  return thing;
}

function list(thing: unknown, most: number, what: string): unknown[] {
  check(Array.isArray(thing) && thing.length <= most, `${what} is no list of at most ${most}`);
  return thing;
}

// All that the content of a file holds. Throws an Error that says what is wrong with it.
export function counterexamplesIn(content: string): Counterexample[] {
  check(content.length <= mostBytes, `it is larger than ${mostBytes} bytes`);
  let document: unknown;
  try { document = JSON.parse(content); } catch { check(false, "it is not JSON"); }
  check(isObject(document), "it is no object");
  const { protocol, n, params } = document;
  check(typeof n === "number" && Number.isInteger(n) && n >= 1 && n <= mostNodes, `n is no number from 1 to ${mostNodes}`);
  const about = { protocol: text(protocol, "the protocol"), n, params: paramsText(params) };
  const found: Counterexample[] = [];
  for (const property of list(document.properties, 100, "properties")) {
    check(isObject(property), "a property is no object");
    if (property.counterexample === undefined) continue;
    const steps = list(property.counterexample, mostSteps, "a counterexample");
    check(steps.length > 0 && steps.every(isObject), "a step is no object");
    const isVerified = "configuration" in (steps[0] as object);
    const claim = isVerified ? `${text(property.name, "the name")}: ${text(property.statement, "the statement")}` : text(property.property, "the property");
    found.push({ ...about, claim, kind: isVerified ? "agents" : "messages", steps: (steps as Record<string, unknown>[]).map((step) => (isVerified ? meeting(step, n) : sentence(step, n))) });
  }
  check(found.length > 0, "it holds none; everything that it is about holds");
  return found;
}

function paramsText(params: unknown): string {
  if (params === undefined) return "";
  check(isObject(params) && Object.keys(params).length <= 64, "params is no object");
  return Object.entries(params).map(([name, value]) => {
    check(["string", "number", "boolean"].includes(typeof value), "a parameter is no value");
    return `${text(name, "a parameter")}=${text(String(value), "a parameter")}`;
  }).join(" ");
}

function sentence(step: Record<string, unknown>, n: number): Step {
  const details = list(step.details ?? [], mostDetails, "details").map((each) => text(each, "a detail"));
  const events = list(step.events ?? [], mostDetails, "events").map((each) => happening(each, n));
  return { title: text(step.step, "a step"), details, events, words: [], pair: null };
}

function happening(thing: unknown, n: number): Happening {
  check(isObject(thing), "an event is no object");
  const number = (each: unknown, most: number, what: string): number => {
    check(typeof each === "number" && Number.isInteger(each) && each >= 0 && each <= most, `${what} of an event is no number up to ${most}`);
    return each;
  };
  const { event } = thing;
  if (event === "wake" || event === "timeout") return { event, node: number(thing.node, n - 1, "the node") };
  if (event === "become") return { event, node: number(thing.node, n - 1, "the node"), standing: text(thing.standing, "the standing"), phase: number(thing.phase, 1e9, "the phase") };
  check(event === "receive" || event === "send", "an event is none of wake, timeout, receive, send, become");
  const { payload } = thing;
  check(isObject(payload) && Object.keys(payload).length <= 16, "the payload of a message is no object");
  const fields = Object.entries(payload).map(([name, value]) => [text(name, "a field"), number(value, Number.MAX_SAFE_INTEGER, "a field")]);
  return { event, from: number(thing.from, n - 1, "from"), to: number(thing.to, n - 1, "to"), kind: text(thing.kind, "the kind"), payload: Object.fromEntries(fields) as Record<string, number> };
}

function meeting(step: Record<string, unknown>, n: number): Step {
  const words = text(step.configuration, "a configuration").split(" ");
  check(words.length === n, `a configuration has not ${n} agents`);
  const title = text(step.interaction, "an interaction");
  const pair = /^\((\d+),(\d+)\)/.exec(title)?.slice(1).map(Number) as [number, number] | undefined;
  check(!pair || pair.every((agent) => agent < n), "an interaction is between agents that are not there");
  return { title, details: [], events: [], words, pair: pair ?? null };
}

// The messages of a schedule, step i at time i. What is not received stays under way to the end.
export function flowOf({ steps }: Counterexample): Flow {
  const events: NetworkEvent[] = [];
  const waiting = new Map<string, NetworkEvent[]>();   // on each edge in the order of sending
  steps.forEach((step, i) => {
    const time = i + 1;
    for (const each of step.events) {
      if (each.event === "wake" || each.event === "timeout") events.push({ time, event: each.event, node: each.node });
      if (each.event === "become") events.push(...standing(each.node, each.standing, each.phase, time));
      if (each.event !== "send" && each.event !== "receive") continue;
      const edge = `${each.from}-${each.to}`;
      if (each.event === "receive") {
        const oldest = waiting.get(edge)?.shift();
        if (oldest) oldest.time = time;
        continue;
      }
      const message: NetworkEvent = { time: steps.length + 1, event: "deliver", node: each.to, from: each.from, message: each.kind, sent: time };
      waiting.set(edge, [...(waiting.get(edge) ?? []), message]);
      events.push(message);
    }
  });
  return { events, kinds: [...new Set(events.flatMap((each) => each.message ?? []))], end: steps.length, unit: "step" };
}

function standing(node: number, name: string, phase: number, time: number): NetworkEvent[] {
  if (name === "candidate") return phase > 0 ? [{ time, event: "phase", node, phase }] : [];
  if (name === "not elected") return [{ time, event: "retire", node }];
  return name === "elected" ? [{ time, event: "elect", node }] : [];
}

// A short counterexample as a link: the file it would be, compressed, in letters of addresses.
export async function linkOf({ kind, protocol, n, params, claim, steps }: Counterexample): Promise<string | null> {
  const told = kind === "agents" ? { name: claim.split(": ")[0], statement: claim.split(": ").slice(1).join(": ") } : { property: claim };
  const lines = steps.map((step) => (kind === "agents" ? { interaction: step.title, configuration: step.words.join(" ") } : { step: step.title, details: step.details, events: step.events }));
  const settings = Object.fromEntries(params.split(" ").filter((each) => each).map((each) => [each.split("=")[0], each.slice(each.indexOf("=") + 1)]));
  const document = JSON.stringify({ protocol, n, params: settings, properties: [{ ...told, counterexample: lines }] });
  const packed = await bytesOf(new Blob([document]).stream().pipeThrough(new CompressionStream("deflate-raw")));
  const letters = btoa(String.fromCharCode(...packed)).replaceAll("+", "-").replaceAll("/", "_").replace(/=+$/, "");
  return letters.length > longestLink ? null : `#traces/${letters}`;
}

export async function contentOfLink(hash: string): Promise<string> {
  const letters = /^#traces\/([\w-]+)$/.exec(hash)?.[1];
  check(letters !== undefined && letters.length <= longestLink, "the link is damaged");
  try {
    const packed = Uint8Array.from(atob(letters.replaceAll("-", "+").replaceAll("_", "/")), (letter) => letter.charCodeAt(0));
    return new TextDecoder().decode(await bytesOf(new Blob([packed]).stream().pipeThrough(new DecompressionStream("deflate-raw"))));
  } catch (error) {
    if (error instanceof Unreadable) throw error;
    throw new Unreadable("the link is damaged");
  }
}

// Everything that a stream gives, as long as that is not too much: a short link can unfold to gigabytes.
async function bytesOf(stream: ReadableStream<Uint8Array>): Promise<Uint8Array> {
  const parts: Uint8Array[] = [];
  let size = 0;
  const reader = stream.getReader();
  for (let next = await reader.read(); !next.done; next = await reader.read()) {
    parts.push(next.value);
    size += next.value.length;
    if (size > mostBytes) await reader.cancel();
    check(size <= mostBytes, "it is too large");
  }
  const all = new Uint8Array(size);
  let at = 0;
  for (const part of parts) { all.set(part, at); at += part.length; }
  return all;
}
