// The chart of leaders and observables over time, by uPlot.
import uPlot from "uplot";
import "uplot/dist/uPlot.min.css";
import { palette, type Theme } from "./palette";
import type { Series } from "./worker";

export interface Point { time: number; leaders: number; values: Record<string, number> }

export class Chart {
  private plot: uPlot | null = null;
  private shape = "";

  constructor(readonly place: HTMLElement) {}

  // Draws the points of the trial that is watched, and further trials beside it.
  draw(points: Point[], names: string[], others: Series[], theme: Theme, now: number, leads: boolean): void {
    const data = this.table(points, names, others, leads);
    const shape = JSON.stringify([names, others.length, theme, this.place.clientWidth, leads]);
    if (shape !== this.shape || !this.plot) {
      this.plot?.destroy();
      this.plot = new uPlot(this.options(names, others, theme, leads), data, this.place);
      this.shape = shape;
    } else {
      this.plot.setData(data);
    }
    this.plot.setCursor({ left: this.plot.valToPos(now, "x"), top: -10 }, false);
  }

  private table(points: Point[], names: string[], others: Series[], leads: boolean): uPlot.AlignedData {
    const own: uPlot.AlignedData = [points.map((p) => p.time), ...(leads ? [points.map((p) => p.leaders)] : []),
      ...names.map((name) => points.map((p) => p.values[name] ?? null))];
    if (others.length === 0) return own;
    const tables = others.map((each) => [each.points.map((p) => p[0]), each.points.map((p) => p[1])] as uPlot.AlignedData);
    return uPlot.join([own, ...tables]);
  }

  private options(names: string[], others: Series[], theme: Theme, leads: boolean): uPlot.Options {
    const axis = { stroke: theme.soft, grid: { stroke: theme.line, width: 1 }, ticks: { stroke: theme.line, width: 1 } };
    return {
      width: Math.max(220, this.place.clientWidth), height: 230,
      cursor: { drag: { x: false, y: false } },
      scales: { x: { time: false }, y: { range: (_, low, high) => [Math.min(0, low), Math.max(1, high * 1.05)] } },
      axes: [{ ...axis, label: "parallel time", labelSize: 18, labelFont: "12px system-ui", font: "11px system-ui" }, { ...axis, size: 54, font: "11px system-ui", values: (_, marks) => marks.map((mark) => (mark >= 1e5 ? Number(mark.toPrecision(6)).toExponential().replace("e+", "e") : mark.toLocaleString("en"))) }],
      series: [
        { label: "time", value: (_, v) => (v == null ? "" : v.toPrecision(5)) },
        ...(leads ? [{ label: "leaders", stroke: theme.leader, width: 2 }] : []),
        ...names.map((name, i) => ({ label: name, stroke: palette[(i + 2) % palette.length]!, width: 1.5 })),
        ...others.map((each) => ({ label: `trial ${each.trial}`, stroke: theme.soft, width: 1, alpha: 0.55, spanGaps: true })),
      ],
      legend: { show: others.length <= 3 },
    };
  }
}
