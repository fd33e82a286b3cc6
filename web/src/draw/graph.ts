// Agents on a graph: rows for grids, a circle for rings, springs for the rest.
import type { Frame } from "../worker";
import { drawField } from "./field";
import { ringSpots } from "./ring";
import type { Context, Paint, Scene, Spot } from "./shapes";

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
