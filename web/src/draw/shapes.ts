// All pictures share places of agents, colours of rows, dots, rings and arrows. The caller keeps
// the places, so that a click can be turned into an agent.
import { colours, type Theme } from "../palette";
import type { Frame } from "../worker";

export interface Spot { x: number; y: number; r: number }
export interface Scene { width: number; height: number; theme: Theme }

// Agents are coloured by a column of the table, 0 for the output; the values are all seen so far.
export interface Paint { column: number; values: number[] }

export type Context = CanvasRenderingContext2D;

export const leaderAt = (frame: Frame, row: number) => frame.table!.values[row * (1 + frame.columns.length)] === 1;

export function painter(frame: Frame, paint: Paint, theme: Theme): (row: number) => string {
  const width = 1 + frame.columns.length;
  if (paint.column === 0) return (row) => (leaderAt(frame, row) ? theme.leader : theme.follower);
  const colour = colours(paint.values);
  return (row) => colour(frame.table!.values[row * width + paint.column]!);
}

export function fillDots(context: Context, spots: Spot[], colour: (i: number) => string): void {
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

export function ringAround(context: Context, spot: Spot, colour: string, width = 2): void {
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

export function markLeader(context: Context, spot: Spot, theme: Theme, filled: boolean): void {
  const r = Math.max(spot.r * 1.35, 3.2);
  if (filled) {
    context.fillStyle = theme.leader;
    context.beginPath();
    context.arc(spot.x, spot.y, r, 0, 2 * Math.PI);
    context.fill();
  }
  ringAround(context, { ...spot, r: r - 1 }, filled ? theme.leader : theme.ink, Math.max(1.2, Math.min(2.5, spot.r / 3)));
}

const plain = new Intl.NumberFormat("en");

export function short(number: number): string {
  if (number < 1e5) return plain.format(number);
  return number.toPrecision(3).replace("e+", "e");
}
