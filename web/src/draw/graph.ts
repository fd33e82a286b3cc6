// Agents on a graph: rows and columns for grids, a circle for rings, springs for the rest. Edges are
// drawn once, with an arrow where there is only one direction; agents are numbered where that can be
// read.
import type { Frame } from "../worker";
import { ringSpots } from "./ring";
import { fillDots, leaderAt, markLeader, painter, type Context, type Paint, type Scene, type Spot } from "./shapes";

type Arcs = [number, number][];

export function graphSpots(rows: number, arcs: Arcs, name: string, scene: Scene): Spot[] {
  const grid = /^grid:(\d+)x(\d+)$/.exec(name);
  if (grid) return gridSpots(rows, Number(grid[1]), Number(grid[2]), scene);
  if (/ring/.test(name) || rows > 400) return ringSpots(rows, scene);
  return springs(rows, arcs, scene);
}

// As wide as it goes, but no cell more than half as wide again as it is high.
function gridSpots(rows: number, down: number, across: number, { width, height }: Scene): Spot[] {
  const dy = Math.min((height - 36) / down, ((width - 36) / across) * 1.5);
  const dx = Math.min((width - 36) / across, dy * 1.5);
  const r = Math.max(2, Math.min(17, Math.min(dx, dy) * 0.33));
  const x0 = (width - dx * (across - 1)) / 2, y0 = (height - dy * (down - 1)) / 2;
  return Array.from({ length: rows }, (_, i) => ({ x: x0 + (i % across) * dx, y: y0 + Math.floor(i / across) * dy, r }));
}

// Fruchterman and Reingold: agents repel each other, edges pull, and what may move cools down.
function springs(rows: number, arcs: Arcs, { width, height }: Scene): Spot[] {
  const x = Float64Array.from({ length: rows }, (_, i) => Math.cos(2.399963 * i) * Math.sqrt(i + 0.5));
  const y = Float64Array.from({ length: rows }, (_, i) => Math.sin(2.399963 * i) * Math.sqrt(i + 0.5));
  const rounds = rows > 150 ? 150 : 400;
  for (let round = 0; round < rounds; ++round) {
    const heat = 0.8 * (1 - round / rounds) + 0.01;
    const fx = x.map((each) => -0.02 * each), fy = y.map((each) => -0.02 * each);   // towards the middle
    for (let i = 0; i < rows; ++i) {
      for (let j = 0; j < i; ++j) {
        const dx = x[i]! - x[j]!, dy = y[i]! - y[j]!;
        const f = 1.5 / (dx * dx + dy * dy + 0.01);
        fx[i]! += dx * f; fy[i]! += dy * f; fx[j]! -= dx * f; fy[j]! -= dy * f;
      }
    }
    for (const [a, b] of arcs) {
      const dx = x[b]! - x[a]!, dy = y[b]! - y[a]!;
      const f = 0.1 * Math.hypot(dx, dy);
      fx[a]! += dx * f; fy[a]! += dy * f; fx[b]! -= dx * f; fy[b]! -= dy * f;
    }
    for (let i = 0; i < rows; ++i) {
      const force = Math.hypot(fx[i]!, fy[i]!) || 1;
      x[i]! += (fx[i]! / force) * Math.min(force, heat);
      y[i]! += (fy[i]! / force) * Math.min(force, heat);
    }
  }
  return fitted(x, y, width, height);
}

// The drawing fills the canvas; it may be stretched by a third along one side.
function fitted(x: Float64Array, y: Float64Array, width: number, height: number): Spot[] {
  const [x0, x1, y0, y1] = [Math.min(...x), Math.max(...x), Math.min(...y), Math.max(...y)];
  const wide = (width - 56) / (x1 - x0 || 1), high = (height - 56) / (y1 - y0 || 1);
  const least = Math.min(wide, high);
  const sx = Math.min(wide, least * 1.35), sy = Math.min(high, least * 1.35);
  const r = Math.max(3, Math.min(13, 0.19 * Math.sqrt((width * height) / x.length)));
  const spots = Array.from(x, (_, i) => ({ x: width / 2 + (x[i]! - (x0 + x1) / 2) * sx, y: height / 2 + (y[i]! - (y0 + y1) / 2) * sy, r }));
  for (let round = 0; round < 60; ++round) pushApart(spots, width, height);
  return spots;
}

// Moves agents that touch each other half a step apart, within the canvas.
function pushApart(spots: Spot[], width: number, height: number): void {
  const gap = 2 * spots[0]!.r + 7;
  for (let i = 0; i < spots.length; ++i) {
    for (let j = 0; j < i; ++j) {
      const a = spots[i]!, b = spots[j]!;
      const dx = a.x - b.x || 0.1, dy = a.y - b.y, distance = Math.hypot(dx, dy);
      if (distance >= gap) continue;
      const part = (gap - distance) / distance / 4;
      a.x += dx * part; a.y += dy * part; b.x -= dx * part; b.y -= dy * part;
    }
  }
  for (const spot of spots) {
    spot.x = Math.max(spot.r + 6, Math.min(width - spot.r - 6, spot.x));
    spot.y = Math.max(spot.r + 6, Math.min(height - spot.r - 6, spot.y));
  }
}

export function drawGraph(context: Context, frame: Frame, spots: Spot[], arcs: Arcs, paint: Paint, scene: Scene): void {
  drawEdges(context, spots, arcs, scene);
  // A rim keeps agents apart from the edges that pass behind them.
  context.fillStyle = scene.theme.card;
  fillDots(context, spots.map((spot) => ({ ...spot, r: spot.r + 2 })), () => scene.theme.card);
  const colour = painter(frame, paint, scene.theme);
  fillDots(context, spots, colour);
  const leaders = spots.filter((_, i) => leaderAt(frame, i));
  if (leaders.length <= spots.length / 2 || leaders.length <= 40) leaders.forEach((spot) => markLeader(context, { ...spot, r: spot.r * 0.85 }, scene.theme, paint.column === 0));
  if (spots[0]!.r >= 8.5) drawNumbers(context, spots, colour);
}

function drawEdges(context: Context, spots: Spot[], arcs: Arcs, { theme }: Scene): void {
  const known = new Set(arcs.map(([from, to]) => from * spots.length + to));
  context.strokeStyle = theme.soft;
  context.globalAlpha = Math.max(0.12, Math.min(0.55, 40 / Math.sqrt(arcs.length) / 8));
  context.lineWidth = arcs.length > 1500 ? 0.8 : 1.3;
  context.beginPath();
  for (const [from, to] of arcs) {
    const back = known.has(to * spots.length + from);
    if (back && from > to) continue;
    const a = spots[from]!, b = spots[to]!;
    context.moveTo(a.x, a.y);
    context.lineTo(b.x, b.y);
    if (!back) arrowHead(context, a, b);
  }
  context.stroke();
  context.globalAlpha = 1;
}

function arrowHead(context: Context, a: Spot, b: Spot): void {
  const distance = Math.hypot(b.x - a.x, b.y - a.y) || 1;
  const ux = (b.x - a.x) / distance, uy = (b.y - a.y) / distance;
  const x = b.x - ux * (b.r + 3), y = b.y - uy * (b.r + 3);
  context.moveTo(x - 6 * ux + 3.5 * uy, y - 6 * uy - 3.5 * ux);
  context.lineTo(x, y);
  context.lineTo(x - 6 * ux - 3.5 * uy, y - 6 * uy + 3.5 * ux);
}

function drawNumbers(context: Context, spots: Spot[], colour: (i: number) => string): void {
  context.font = `${spots[0]!.r >= 11 ? 11 : 9}px system-ui, sans-serif`;
  context.textAlign = "center";
  context.textBaseline = "middle";
  spots.forEach((spot, i) => {
    context.fillStyle = isDark(colour(i)) ? "#ffffff" : "#10202b";
    context.fillText(String(i), spot.x, spot.y + 0.5);
  });
  context.textBaseline = "alphabetic";
}

// Whether white can be read on it, rather than black.
function isDark(colour: string): boolean {
  const parts = colour.startsWith("#") ? [1, 3, 5].map((at) => parseInt(colour.slice(at, at + 2), 16)) : colour.match(/\d+/g)!.map(Number);
  return 0.299 * parts[0]! + 0.587 * parts[1]! + 0.114 * parts[2]! < 140;
}
