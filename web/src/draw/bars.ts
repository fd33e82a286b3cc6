// The census as bars, for populations that are too large to be drawn agent by agent.
import { colours } from "../palette";
import type { Frame } from "../worker";
import { short, type Context, type Paint, type Scene } from "./shapes";

// A bar per value of the column, split into leaders and others.
export function drawBars(context: Context, frame: Frame, paint: Paint, scene: Scene, name: (value: number) => string): void {
  const { width, height, theme } = scene;
  const { values, agents, leaders } = frame.histogram;
  const bins = binned(values, agents, leaders, Math.max(1, Math.floor((width - 60) / 9)));
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
