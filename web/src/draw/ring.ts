// Agents on a ring, and what the protocols prl and fischer-jiang send along it.
import { palette, type Theme } from "../palette";
import type { Frame } from "../worker";
import { fillDots, leaderAt, markLeader, painter, ringAround, type Context, type Paint, type Scene, type Spot } from "./shapes";

// Agents on a circle, clockwise from the top.
export function ringSpots(rows: number, { width, height }: Scene): Spot[] {
  const radius = Math.min(width, height) / 2 - 34;
  const r = Math.max(1, Math.min(13, (Math.PI * radius) / rows * 0.62));
  return Array.from({ length: rows }, (_, i) => {
    const angle = (i / rows) * 2 * Math.PI - Math.PI / 2;
    return { x: width / 2 + radius * Math.cos(angle), y: height / 2 + radius * Math.sin(angle), r };
  });
}

// Leaders with shields (in fischer-jiang shields travel, so that any agent may hold one), live and dummy bullets outside,
// signals inside, distances as spokes towards the centre.
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
  const travels = !columns.includes("signal");
  fillDots(context, spots, painter(frame, paint, theme));
  spots.forEach((spot, i) => {
    const leads = leaderAt(frame, i);
    if (leads) markLeader(context, spot, theme, paint.column === 0);
    if ((leads || travels) && at(i, "shield") === 1) ringAround(context, { ...spot, r: spot.r + 4 }, theme.accent, 2.5);
    const bullet = at(i, "bullet");
    if (bullet > 0) drawBullet(context, toward(spot, spot.r + 13), travels || bullet === 2, theme);
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
