// Messages: nodes as horizontal lines, time from left to right, messages as slanted strokes, up to
// the time that is shown.
import type { NetworkEvent } from "../engine";
import { messageColour } from "../palette";
import type { Context, Scene } from "./shapes";

export interface Flow { events: NetworkEvent[]; kinds: string[]; end: number; unit?: string }

// Where a message that is under way stands; the oldest of its edge can be clicked.
export interface Parcel { x: number; y: number; from: number; to: number }

interface Places { x(time: number): number; y(node: number): number; end: number }

// The messages under way at a time; on an edge the oldest first.
export function underWay(flow: Flow, time: number): NetworkEvent[] {
  return flow.events.filter((each) => each.event === "deliver" && each.sent! <= time && each.time > time);
}

// One per edge, since no message overtakes another there; in the order of their sending.
export function nextOnEdges(flow: Flow, time: number): NetworkEvent[] {
  const seen = new Set<string>();
  return underWay(flow, time).sort((a, b) => a.sent! - b.sent! || a.from! - b.from! || a.node - b.node)
    .filter((each) => !seen.has(`${each.from}-${each.node}`) && seen.add(`${each.from}-${each.node}`));
}

// The wake-ups, timeouts and deliveries that were the last ones up to a time.
export function latestEvents(flow: Flow, time: number): NetworkEvent[] {
  const all = flow.events.filter((each) => ["deliver", "wake", "timeout"].includes(each.event) && each.time <= time);
  const last = all.reduce((latest, each) => Math.max(latest, each.time), -1);
  return all.filter((each) => each.time === last);
}

// `turn` is the length of a step where messages are chosen one by one: time is then drawn up to
// two steps beyond now, and messages under way wait at its end.
export function drawSpaceTime(context: Context, flow: Flow, n: number, until: number, scene: Scene, turn = 0): Parcel[] {
  const { width, height, theme } = scene;
  const left = n <= 40 ? 42 : 14, right = turn > 0 ? 60 : 18, top = 14, bottom = 26;
  const end = Math.max(turn > 0 ? until + 2 * turn : flow.end, 1e-9);
  const places: Places = {
    x: (time) => left + (Math.min(time, end) / end) * (width - left - right),
    y: (node) => top + ((node + 0.5) / n) * (height - top - bottom), end,
  };
  drawNodes(context, flow, n, until, places, scene, turn);
  const parcels = drawMessages(context, flow, n, until, places, theme.ink, turn);
  drawTimeouts(context, flow, n, until, places, scene);
  drawPhases(context, flow, n, until, places, scene);
  context.strokeStyle = theme.soft;
  context.setLineDash([3, 4]);
  context.beginPath();
  context.moveTo(places.x(until), top - 6);
  context.lineTo(places.x(until), height - bottom + 4);
  context.stroke();
  context.setLineDash([]);
  return parcels;
}

function drawMessages(context: Context, flow: Flow, n: number, until: number, { x, y }: Places, ink: string, turn: number): Parcel[] {
  const parcels: Parcel[] = [];
  context.lineWidth = n <= 64 ? 1.2 : 0.7;
  for (const event of flow.events) {
    if (event.event !== "deliver" || event.sent! > until) continue;
    const arrived = event.time <= until;
    const part = arrived ? 1 : turn > 0 ? 0.3 : (until - event.sent!) / (event.time - event.sent! || 1);
    const x1 = arrived ? x(event.time) : turn > 0 ? x(until) + 14 : x(event.sent! + part * (event.time - event.sent!));
    const y1 = y(event.from!) + part * (y(event.node) - y(event.from!));
    context.strokeStyle = messageColour(event.message!, ink);
    context.globalAlpha = arrived ? (n <= 8 ? 0.85 : 0.55) : 1;
    context.beginPath();
    context.moveTo(x(event.sent!), y(event.from!));
    context.lineTo(x1, y1);
    context.stroke();
    if (arrived) continue;
    context.fillStyle = context.strokeStyle;
    context.beginPath();
    context.arc(x1, y1, turn > 0 ? 4.5 : 3, 0, 2 * Math.PI);
    context.fill();
    if (!parcels.some((each) => each.from === event.from && each.to === event.node)) parcels.push({ x: x1, y: y1, from: event.from!, to: event.node });
  }
  context.globalAlpha = 1;
  return parcels;
}

function drawNodes(context: Context, flow: Flow, n: number, until: number, at: Places,
  { width, height, theme }: Scene, turn: number): void {
  const begun = new Map<number, number>(), ended = new Map<number, number>(), elected = new Map<number, number>();
  for (const event of flow.events) {
    if (event.event === "deliver" || event.time > until) continue;
    if (event.event === "wake") begun.set(event.node, event.time);
    if (event.event === "retire" || event.event === "join") ended.set(event.node, event.time);
    if (event.event === "elect") elected.set(event.node, event.time);
  }
  context.font = "11px system-ui, sans-serif";
  context.textAlign = "right";
  for (let node = 0; node < n; ++node) {
    const line = (from: number, to: number, colour: string, w: number) => {
      context.strokeStyle = colour;
      context.lineWidth = w;
      context.beginPath();
      context.moveTo(at.x(from), at.y(node));
      context.lineTo(at.x(to), at.y(node));
      context.stroke();
    };
    line(0, at.end, theme.line, 1);
    if (begun.has(node)) line(begun.get(node)!, Math.min(until, ended.get(node) ?? elected.get(node) ?? until), theme.soft, 3);
    if (elected.has(node)) line(elected.get(node)!, until, theme.leader, 5);
    if (n <= 40) {
      context.fillStyle = elected.has(node) ? theme.leader : theme.soft;
      context.fillText(String(node), 26, at.y(node) + 4);
    }
  }
  context.fillStyle = theme.soft;
  context.textAlign = "left";
  context.fillText("0", at.x(0), height - 8);
  context.textAlign = "right";
  context.fillText(turn > 0 ? `${Math.round(until / turn)} chosen` : `${flow.unit ?? "time"} ${Number(flow.end.toPrecision(4))}`, width - 18, height - 8);
}

// A square where a node's timer runs out.
function drawTimeouts(context: Context, flow: Flow, n: number, until: number, at: Places, { theme }: Scene): void {
  context.strokeStyle = theme.ink;
  context.lineWidth = 1.2;
  for (const event of flow.events) {
    if (event.event !== "timeout" || event.time > until || n > 64) continue;
    context.strokeRect(at.x(event.time) - 8, at.y(event.node) - 8, 16, 16);
  }
}

// The number of each phase where it begins.
function drawPhases(context: Context, flow: Flow, n: number, until: number, at: Places, { theme }: Scene): void {
  context.font = "11px system-ui, sans-serif";
  context.textAlign = "center";
  for (const event of flow.events) {
    if (event.event !== "phase" || event.time > until || n > 64) continue;
    context.fillStyle = theme.card;
    context.strokeStyle = theme.ink;
    context.lineWidth = 1.2;
    context.beginPath();
    context.arc(at.x(event.time), at.y(event.node), 6, 0, 2 * Math.PI);
    context.fill();
    context.stroke();
    context.fillStyle = theme.ink;
    context.fillText(String(event.phase), at.x(event.time), at.y(event.node) + 4);
  }
}
