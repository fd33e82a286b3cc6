import { palette } from "../palette";
import type { Frame } from "../worker";
import type { Context, Scene } from "./shapes";

// electleader: below the agents, which of the ranks 1 ... n no agent has, one has, several have.
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
