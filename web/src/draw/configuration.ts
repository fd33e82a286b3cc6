// A few agents on a circle, each with its state in a word, and the interaction that led there.
import type { Step } from "../counterexample";
import { ringSpots } from "./ring";
import { drawMeeting, type Context, type Scene } from "./shapes";

export function drawConfiguration(context: Context, step: Step, before: Step | undefined, scene: Scene): void {
  const { theme } = scene;
  const wide = Math.max(...step.words.map((each) => each.length)) * 4 + 30;
  const spots = ringSpots(step.words.length, { ...scene, width: scene.width - 2 * wide, height: scene.height - 30 })
    .map((spot) => ({ x: spot.x + wide, y: spot.y + 15, r: Math.min(14, spot.r) }));
  if (step.pair) drawMeeting(context, spots, step.pair, theme);
  context.font = "12px ui-monospace, 'DejaVu Sans Mono', monospace";
  spots.forEach((spot, i) => {
    const changed = before !== undefined && before.words[i] !== step.words[i];
    context.fillStyle = changed ? theme.leader : theme.follower;
    context.beginPath();
    context.arc(spot.x, spot.y, spot.r, 0, 2 * Math.PI);
    context.fill();
    const side = spot.x - scene.width / 2;
    context.textAlign = Math.abs(side) < 20 ? "center" : side > 0 ? "left" : "right";
    context.fillStyle = changed ? theme.ink : theme.soft;
    const dx = Math.abs(side) < 20 ? 0 : Math.sign(side) * (spot.r + 8);
    const dy = Math.abs(side) < 20 ? Math.sign(spot.y - scene.height / 2) * (spot.r + 12) : 0;
    context.fillText(`${i}: ${step.words[i]}`, spot.x + dx, spot.y + dy + 4);
  });
}
