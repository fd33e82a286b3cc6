// Pictures of a frame on a canvas. Each function draws everything anew; places of agents are kept by
// the caller, so that a click can be turned into an agent.
import { colours, palette, type Theme } from "./palette";
import type { Frame } from "./worker";
import type { NetworkEvent } from "./engine";

export interface Spot { x: number; y: number; r: number }
export interface Scene { width: number; height: number; theme: Theme; still: boolean }

// What agents are coloured by: a column of the table, 0 for the output, and all values seen so far.
export interface Paint { column: number; values: number[] }

type Context = CanvasRenderingContext2D;

const leaderAt = (frame: Frame, row: number) => frame.table!.values[row * (1 + frame.columns.length)] === 1;

function painter(frame: Frame, paint: Paint, theme: Theme): (row: number) => string {
  const width = 1 + frame.columns.length;
  if (paint.column === 0) return (row) => (leaderAt(frame, row) ? theme.leader : theme.follower);
  const colour = colours(paint.values);
  return (row) => colour(frame.table!.values[row * width + paint.column]!);
}

function fillDots(context: Context, spots: Spot[], colour: (i: number) => string): void {
  const groups = new Map<string, number[]>();
  for (let i = 0; i < spots.length; ++i) {
    const key = colour(i);
    const group = groups.get(key);
    if (group) group.push(i); else groups.set(key, [i]);
  }
  for (const [key, members] of groups) {
    context.fillStyle = key;
    if (spots[0]!.r < 2) {
      for (const i of members) context.fillRect(spots[i]!.x - spots[i]!.r, spots[i]!.y - spots[i]!.r, 2 * spots[i]!.r, 2 * spots[i]!.r);
      continue;
    }
    context.beginPath();
    for (const i of members) {
      const { x, y, r } = spots[i]!;
      context.moveTo(x + r, y);
      context.arc(x, y, r, 0, 2 * Math.PI);
    }
    context.fill();
  }
}

function ringAround(context: Context, spot: Spot, colour: string, width = 2): void {
  context.strokeStyle = colour;
  context.lineWidth = width;
  context.beginPath();
  context.arc(spot.x, spot.y, spot.r + width + 1, 0, 2 * Math.PI);
  context.stroke();
}

// The two agents of an interaction, joined by an arrow from the initiator.
export function drawMeeting(context: Context, spots: Spot[], agents: [number, number], theme: Theme): void {
  const from = spots[agents[0]];
  const to = spots[agents[1]];
  if (!from || !to) return;
  ringAround(context, from, theme.ink);
  ringAround(context, to, theme.ink);
  const distance = Math.hypot(to.x - from.x, to.y - from.y);
  if (distance < from.r + to.r + 8) return;
  const ux = (to.x - from.x) / distance;
  const uy = (to.y - from.y) / distance;
  const begin = [from.x + ux * (from.r + 4), from.y + uy * (from.r + 4)] as const;
  const end = [to.x - ux * (to.r + 4), to.y - uy * (to.r + 4)] as const;
  context.lineWidth = 1.5;
  context.beginPath();
  context.moveTo(...begin);
  context.lineTo(...end);
  context.lineTo(end[0] - 7 * ux + 4 * uy, end[1] - 7 * uy - 4 * ux);
  context.moveTo(...end);
  context.lineTo(end[0] - 7 * ux - 4 * uy, end[1] - 7 * uy + 4 * ux);
  context.stroke();
}

// Agents row by row in a field of dots; leaders are larger.
export function fieldSpots(rows: number, { width, height }: Scene): Spot[] {
  const margin = 14;
  const cell = Math.sqrt(((width - 2 * margin) * (height - 2 * margin)) / Math.max(1, rows));
  const across = Math.max(1, Math.ceil((width - 2 * margin) / cell));
  const down = Math.ceil(rows / across);
  const dx = (width - 2 * margin) / across;
  const dy = (height - 2 * margin) / Math.max(1, down);
  const r = Math.max(0.6, Math.min(18, Math.min(dx, dy) * 0.34));
  return Array.from({ length: rows }, (_, i) => ({
    x: margin + (i % across + 0.5) * dx, y: margin + (Math.floor(i / across) + 0.5) * dy, r,
  }));
}

export function drawField(context: Context, frame: Frame, spots: Spot[], paint: Paint, scene: Scene): void {
  const leaders: number[] = [];
  fillDots(context, spots, painter(frame, paint, scene.theme));
  for (let i = 0; i < spots.length; ++i) if (leaderAt(frame, i)) leaders.push(i);
  if (leaders.length > spots.length / 2 && leaders.length > 40) return;
  for (const i of leaders) markLeader(context, spots[i]!, scene.theme, paint.column === 0);
}

function markLeader(context: Context, spot: Spot, theme: Theme, filled: boolean): void {
  const r = Math.max(spot.r * 1.35, 3.2);
  if (filled) {
    context.fillStyle = theme.leader;
    context.beginPath();
    context.arc(spot.x, spot.y, r, 0, 2 * Math.PI);
    context.fill();
  }
  ringAround(context, { ...spot, r: r - 1 }, filled ? theme.leader : theme.ink, Math.max(1.2, Math.min(2.5, spot.r / 3)));
}

// A bar per value of the column, split into leaders and others.
export function drawBars(context: Context, frame: Frame, paint: Paint, scene: Scene, name: (value: number) => string): void {
  const { width, height, theme } = scene;
  const { values, agents, leaders } = frame.histogram;
  const bins = binned(values, agents, leaders, Math.floor((width - 60) / 9));
  const most = Math.max(1, ...bins.map((each) => each.agents));
  const left = 14, right = 14, bottom = 40, top = 30;
  const step = (width - left - right) / Math.max(1, bins.length);
  const colour = paint.column === 0 ? (v: number) => (v === 1 ? theme.leader : theme.follower) : colours(paint.values);
  const tall = height - top - bottom;
  context.font = "12px system-ui, sans-serif";
  context.textAlign = "center";
  bins.forEach((bin, i) => {
    const w = Math.min(step - 2, 90);
    const x = left + (i + 0.5) * step - w / 2;
    const h = Math.max(1.5, (bin.agents / most) * tall);
    context.fillStyle = colour(bin.value);
    context.fillRect(x, top + tall - h, w, h);
    if (bin.leaders > 0 && paint.column !== 0) {
      context.fillStyle = theme.ink;
      context.fillRect(x, top + tall - Math.max(2, (bin.leaders / most) * tall), w, Math.max(2, (bin.leaders / most) * tall));
    }
    if (step > 30 || i % Math.ceil(30 / step) === 0) {
      context.fillStyle = theme.soft;
      context.fillText(name(bin.value), x + w / 2, height - bottom + 16);
      if (step > 44) {
        context.fillStyle = theme.ink;
        context.fillText(short(bin.agents), x + w / 2, top + tall - h - 6);
      }
    }
  });
  context.strokeStyle = theme.line;
  context.lineWidth = 1;
  context.beginPath();
  context.moveTo(left, top + tall + 0.5);
  context.lineTo(width - right, top + tall + 0.5);
  context.stroke();
}

export function short(number: number): string {
  if (number < 1e5) return number.toLocaleString("en");
  return number.toPrecision(3).replace("e+", "e");
}

function binned(values: number[], agents: number[], leaders: number[], most: number) {
  if (values.length <= most) return values.map((value, i) => ({ value, agents: agents[i]!, leaders: leaders[i]! }));
  const low = values[0]!;
  const size = (values.at(-1)! - low + 1) / most;
  const bins = Array.from({ length: most }, (_, i) => ({ value: Math.floor(low + i * size), agents: 0, leaders: 0 }));
  values.forEach((value, i) => {
    const bin = bins[Math.min(most - 1, Math.floor((value - low) / size))]!;
    bin.agents += agents[i]!;
    bin.leaders += leaders[i]!;
  });
  return bins;
}

// Agents on a circle, clockwise from the top.
export function ringSpots(rows: number, { width, height }: Scene): Spot[] {
  const radius = Math.min(width, height) / 2 - 34;
  const r = Math.max(1, Math.min(13, (Math.PI * radius) / rows * 0.62));
  return Array.from({ length: rows }, (_, i) => {
    const angle = (i / rows) * 2 * Math.PI - Math.PI / 2;
    return { x: width / 2 + radius * Math.cos(angle), y: height / 2 + radius * Math.sin(angle), r };
  });
}

// The ring of prl: leaders with shields, live and dummy bullets outside, signals inside, distances
// as spokes towards the centre.
export function drawRing(context: Context, frame: Frame, spots: Spot[], paint: Paint, scene: Scene): void {
  const { width, height, theme } = scene;
  const columns = frame.columns.map((each) => each.name);
  const at = (row: number, name: string) => {
    const index = columns.indexOf(name);
    return index < 0 ? 0 : frame.table!.values[row * (1 + columns.length) + 1 + index]!;
  };
  const centre = { x: width / 2, y: height / 2 };
  const radius = Math.min(width, height) / 2 - 34;
  context.strokeStyle = theme.line;
  context.lineWidth = 1;
  context.beginPath();
  context.arc(centre.x, centre.y, radius, 0, 2 * Math.PI);
  context.stroke();
  const toward = (spot: Spot, distance: number) => {
    const f = distance / radius;
    return { x: spot.x + (spot.x - centre.x) * f, y: spot.y + (spot.y - centre.y) * f };
  };
  if (columns.includes("distL")) {
    let most = 1;
    for (let i = 0; i < spots.length; ++i) most = Math.max(most, at(i, "distL"));
    context.strokeStyle = theme.accent;
    context.globalAlpha = 0.35;
    context.lineWidth = Math.max(1, Math.min(4, spots[0]!.r * 0.7));
    context.beginPath();
    spots.forEach((spot, i) => {
      const from = toward(spot, -spot.r - 12);
      const to = toward(spot, -spot.r - 12 - (at(i, "distL") / most) * radius * 0.5);
      context.moveTo(from.x, from.y);
      context.lineTo(to.x, to.y);
    });
    context.stroke();
    context.globalAlpha = 1;
  }
  fillDots(context, spots, painter(frame, paint, theme));
  spots.forEach((spot, i) => {
    const leads = leaderAt(frame, i);
    if (leads) markLeader(context, spot, theme, paint.column === 0);
    if (leads && at(i, "shield") === 1) ringAround(context, { ...spot, r: spot.r + 4 }, theme.accent, 2.5);
    const bullet = at(i, "bullet");
    if (bullet > 0) drawBullet(context, toward(spot, spot.r + 13), bullet === 2, theme);
    if (at(i, "signal") === 1) {
      const place = toward(spot, -spot.r - 7);
      context.fillStyle = palette[2]!;
      context.fillRect(place.x - 2.5, place.y - 2.5, 5, 5);
    }
  });
}

function drawBullet(context: Context, place: { x: number; y: number }, live: boolean, theme: Theme): void {
  context.beginPath();
  context.moveTo(place.x, place.y - 5);
  context.lineTo(place.x + 5, place.y + 4);
  context.lineTo(place.x - 5, place.y + 4);
  context.closePath();
  context.lineWidth = 1.5;
  context.strokeStyle = live ? theme.alarm : theme.soft;
  context.fillStyle = theme.alarm;
  if (live) context.fill();
  context.stroke();
}

// A graph in the plane: rows and columns for a grid, a circle for a ring, springs for the rest.
export function graphSpots(rows: number, arcs: [number, number][], name: string, scene: Scene): Spot[] {
  const grid = /^grid:(\d+)x(\d+)$/.exec(name);
  const { width, height } = scene;
  if (grid) {
    const down = Number(grid[1]), across = Number(grid[2]);
    const step = Math.min((width - 40) / across, (height - 40) / down);
    const x0 = (width - step * (across - 1)) / 2, y0 = (height - step * (down - 1)) / 2;
    return Array.from({ length: rows }, (_, i) => ({ x: x0 + (i % across) * step, y: y0 + Math.floor(i / across) * step, r: Math.min(14, step * 0.3) }));
  }
  if (/ring/.test(name) || rows > 400) return ringSpots(rows, scene);
  return springs(rows, arcs, scene);
}

function springs(rows: number, arcs: [number, number][], { width, height }: Scene): Spot[] {
  const x = Float64Array.from({ length: rows }, (_, i) => Math.cos(2.399963 * i) * Math.sqrt(i + 0.5));
  const y = Float64Array.from({ length: rows }, (_, i) => Math.sin(2.399963 * i) * Math.sqrt(i + 0.5));
  for (let round = 0; round < 160; ++round) {
    const heat = 0.9 * (1 - round / 160);
    const fx = new Float64Array(rows), fy = new Float64Array(rows);
    for (let i = 0; i < rows; ++i) {
      for (let j = 0; j < i; ++j) {
        const dx = x[i]! - x[j]!, dy = y[i]! - y[j]!;
        const f = 1.4 / (dx * dx + dy * dy + 0.01);
        fx[i]! += dx * f; fy[i]! += dy * f; fx[j]! -= dx * f; fy[j]! -= dy * f;
      }
    }
    for (const [a, b] of arcs) {
      const dx = x[b]! - x[a]!, dy = y[b]! - y[a]!;
      const f = 0.08 * Math.hypot(dx, dy);
      fx[a]! += dx * f; fy[a]! += dy * f; fx[b]! -= dx * f; fy[b]! -= dy * f;
    }
    for (let i = 0; i < rows; ++i) {
      const force = Math.hypot(fx[i]!, fy[i]!) || 1;
      x[i]! += (fx[i]! / force) * Math.min(force, heat);
      y[i]! += (fy[i]! / force) * Math.min(force, heat);
    }
  }
  const x0 = Math.min(...x), x1 = Math.max(...x), y0 = Math.min(...y), y1 = Math.max(...y);
  const scale = Math.min((width - 60) / (x1 - x0 || 1), (height - 60) / (y1 - y0 || 1));
  const r = Math.max(2.5, Math.min(11, 130 / Math.sqrt(rows)));
  return Array.from(x, (_, i) => ({
    x: width / 2 + (x[i]! - (x0 + x1) / 2) * scale, y: height / 2 + (y[i]! - (y0 + y1) / 2) * scale, r,
  }));
}

export function drawGraph(context: Context, frame: Frame, spots: Spot[], arcs: [number, number][], paint: Paint, scene: Scene): void {
  context.strokeStyle = scene.theme.line;
  context.lineWidth = 1;
  context.beginPath();
  for (const [from, to] of arcs) {
    context.moveTo(spots[from]!.x, spots[from]!.y);
    context.lineTo(spots[to]!.x, spots[to]!.y);
  }
  context.stroke();
  drawField(context, frame, spots, paint, scene);
}

// electleader: below the agents, which of the ranks 1 ... n nobody has, one agent has, several have.
export function drawRanks(context: Context, frame: Frame, scene: Scene): void {
  const { width, height, theme } = scene;
  const index = 1 + frame.columns.findIndex((each) => each.name === "rank");
  if (index === 0 || !frame.table) return;
  const stride = 1 + frame.columns.length;
  const holders = new Float64Array(frame.look.n + 1);
  for (let i = 0; i < frame.table.rows; ++i) {
    const rank = frame.table.values[i * stride + index]!;
    if (rank >= 1 && rank <= frame.look.n) holders[rank]! += 1;
  }
  const left = 14, wide = width - 28, tall = 16, top = height - 22;
  const cells = Math.min(frame.look.n, Math.floor(wide));
  for (let cell = 0; cell < cells; ++cell) {
    const first = 1 + Math.floor((cell * frame.look.n) / cells), last = Math.floor(((cell + 1) * frame.look.n) / cells);
    let none = 0, several = 0;
    for (let rank = first; rank <= last; ++rank) {
      if (holders[rank] === 0) ++none;
      if (holders[rank]! > 1) ++several;
    }
    context.fillStyle = several > 0 ? theme.alarm : none > 0 ? theme.line : palette[2]!;
    context.fillRect(left + (cell * wide) / cells, top, Math.max(1, wide / cells - (wide / cells > 3 ? 1 : 0)), tall);
  }
  context.fillStyle = theme.soft;
  context.font = "12px system-ui, sans-serif";
  context.textAlign = "left";
  context.fillText("ranks held by one, by nobody, by several", left, top - 6);
}

export interface Flow { events: NetworkEvent[]; kinds: string[]; end: number }

// Nodes as horizontal lines, time from left to right, messages as slanted strokes, up to a time.
export function drawSpaceTime(context: Context, flow: Flow, n: number, until: number, scene: Scene): void {
  const { width, height, theme } = scene;
  const left = n <= 40 ? 34 : 14, right = 18, top = 14, bottom = 26;
  const end = Math.max(flow.end, 1e-9);
  const x = (time: number) => left + (time / end) * (width - left - right);
  const y = (node: number) => top + ((node + 0.5) / n) * (height - top - bottom);
  drawNodes(context, flow, n, until, { x, y }, scene);
  context.lineWidth = n <= 64 ? 1.2 : 0.7;
  for (const event of flow.events) {
    if (event.event !== "deliver" || event.sent! > until) continue;
    const part = event.time <= until ? 1 : (until - event.sent!) / (event.time - event.sent! || 1);
    const x1 = x(event.sent! + part * (event.time - event.sent!)), y1 = y(event.from!) + part * (y(event.node) - y(event.from!));
    context.strokeStyle = palette[flow.kinds.indexOf(event.message!) % palette.length]!;
    context.globalAlpha = part < 1 ? 1 : 0.55;
    context.beginPath();
    context.moveTo(x(event.sent!), y(event.from!));
    context.lineTo(x1, y1);
    context.stroke();
    if (part < 1) {
      context.fillStyle = context.strokeStyle;
      context.beginPath();
      context.arc(x1, y1, 3, 0, 2 * Math.PI);
      context.fill();
    }
  }
  context.globalAlpha = 1;
  context.strokeStyle = theme.soft;
  context.setLineDash([3, 4]);
  context.beginPath();
  context.moveTo(x(until), top - 6);
  context.lineTo(x(until), height - bottom + 4);
  context.stroke();
  context.setLineDash([]);
}

function drawNodes(context: Context, flow: Flow, n: number, until: number,
  at: { x(time: number): number; y(node: number): number }, { width, height, theme }: Scene): void {
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
    line(0, flow.end, theme.line, 1);
    if (begun.has(node)) line(begun.get(node)!, Math.min(until, ended.get(node) ?? elected.get(node) ?? until), theme.soft, 3);
    if (elected.has(node)) line(elected.get(node)!, until, theme.leader, 5);
    if (n <= 40) {
      context.fillStyle = elected.has(node) ? theme.leader : theme.soft;
      context.fillText(String(node), 26, at.y(node) + 4);
    }
  }
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
    context.textAlign = "center";
    context.fillText(String(event.phase), at.x(event.time), at.y(event.node) + 4);
  }
  context.fillStyle = theme.soft;
  context.textAlign = "left";
  context.fillText("0", at.x(0), height - 8);
  context.textAlign = "right";
  context.fillText(`time ${flow.end.toPrecision(4)}`, width - 18, height - 8);
}
