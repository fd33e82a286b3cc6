// A sweep over the population size or one parameter: a few trials for each value, run in a worker,
// as a chart with a point per trial and the line of means. The rows are those of the command line.
import { html, nothing } from "lit";
import uPlot from "uplot";
import { client, moduleBytes, type Client } from "./client";
import { short } from "./draw/shapes";
import type { Player } from "./player";
import { commandOf, value, withParam, withValue, wordsOf, type Run } from "./words";

const mostValues = 20;
const mostTrials = 100;

interface Result { value: number; time: number; converged: boolean }

// The values of a list such as "100, 1e3, 10000"; a sentence where it is none.
export function valuesOf(text: string): number[] | string {
  const values = text.split(/[\s,]+/).filter((each) => each !== "").map(Number);
  if (values.length === 0) return "Give the values, separated by commas.";
  if (values.some((each) => !Number.isFinite(each))) return "Every value must be a number.";
  if (values.length > mostValues) return `A sweep has at most ${mostValues} values.`;
  return values;
}

export class Sweep {
  private over = "n";
  private list = "";
  private trials = 10;
  private results: Result[] = [];
  private message = "";
  private worker: Client | null = null;
  private plot: uPlot | null = null;
  private of: Run | null = null;

  constructor(private readonly player: Player, private readonly changed: () => void) {}

  private choicesOf(): string[] { return ["n", ...(this.player.about?.parameters ?? []).map((each) => each.name)]; }

  private runWith(number: number): Run {
    const { run } = this.player;
    const text = String(number);
    return { ...(this.over === "n" ? withValue(run, "n", text) : withParam(run, this.over, text)), overlay: 0 };
  }

  private usual(): string {
    const n = Number(value(this.player.run, "n")) || 100;
    return this.over === "n" ? [n / 4, n / 2, n, 2 * n].map((each) => Math.max(4, Math.round(each))).join(", ") : "";
  }

  stop(): void {
    this.worker?.stop();
    this.worker = null;
    this.changed();
  }

  private async start(): Promise<void> {
    const values = valuesOf(this.list || this.usual());
    this.message = typeof values === "string" ? values : "";
    this.results = [];
    this.of = this.player.run;
    if (typeof values === "string") return this.changed();
    const worker = this.worker = client();
    try {
      await worker.load(await moduleBytes());
      for (const each of values) await this.measure(worker, each);
    } catch (error) {
      if (this.worker === worker) this.message = (error as Error).message;
    }
    if (this.worker === worker) this.stop();
  }

  private async measure(worker: Client, number: number): Promise<void> {
    const run = this.runWith(number);
    for (let trial = 0; trial < this.trials && this.worker === worker; ++trial) {
      const row = JSON.parse(await worker.rowOf(wordsOf(run, trial), this.player.content)) as Record<string, unknown>;
      this.results = [...this.results, { value: number, time: Number(row["parallel_time"] ?? row["rounds"] ?? row["time"]), converged: row["converged"] !== false && row["elected"] !== 0 }];
      this.changed();
    }
  }

  // Means of the trials that converged, by value.
  private means(): [number, number][] {
    const values = [...new Set(this.results.map((each) => each.value))].sort((a, b) => a - b);
    return values.flatMap((each) => {
      const times = this.results.filter((result) => result.value === each && result.converged).map((result) => result.time);
      return times.length > 0 ? [[each, times.reduce((sum, time) => sum + time, 0) / times.length] as [number, number]] : [];
    });
  }

  view() {
    if (this.of && this.of.protocol !== this.player.run.protocol) { this.results = []; this.of = null; this.over = "n"; this.list = ""; }
    const running = this.worker !== null;
    const left = this.results.filter((each) => !each.converged).length;
    return html`<section class="card" aria-label="Sweep"><details><summary>Sweep over n or a parameter</summary>
      <div class="fields"><label>Vary<select @change=${(event: Event) => { this.over = (event.target as HTMLSelectElement).value; this.list = ""; this.changed(); }}>${this.choicesOf().map((each) => html`<option value=${each} ?selected=${each === this.over}>${each}</option>`)}</select></label>
      <label>Values<input id="sweep-values" type="text" autocomplete="off" .value=${this.list} placeholder=${this.usual() || "2, 4, 8"} @change=${(event: Event) => { this.list = (event.target as HTMLInputElement).value; }} /></label>
      <label>Trials for each<input id="sweep-trials" type="number" min="1" max=${mostTrials} .value=${String(this.trials)} @change=${(event: Event) => { this.trials = Math.max(1, Math.min(mostTrials, Math.round(Number((event.target as HTMLInputElement).value)) || 10)); this.changed(); }} /></label></div>
      <div class="row below"><button class="main" @click=${() => (running ? this.stop() : this.start())}>${running ? "Stop" : "Run sweep"}</button>
        ${running ? html`<span class="soft small" role="status">${this.results.length} trials done</span>` : nothing}</div>
      ${this.message ? html`<p class="error" role="alert">${this.message}</p>` : nothing}
      <div class="sweep-chart" ?hidden=${this.results.length === 0}></div>
      ${this.results.length > 0 ? html`<table class="small sweep-means"><thead><tr><th>${this.over}</th><th>mean time</th></tr></thead><tbody>${this.means().map(([at, mean]) => html`<tr><td>${short(at)}</td><td>${Number(mean.toPrecision(4)).toLocaleString("en")}</td></tr>`)}</tbody></table>
        ${left > 0 ? html`<p class="small soft">${left} trials did not converge and are not in the means.</p>` : nothing}
        <pre class="command" tabindex="0">${commandOf(this.runWith(this.results[0]!.value), this.player.frame?.look.options ?? [])} --trials ${this.trials}</pre>` : nothing}
    </details></section>`;
  }

  draw(root: HTMLElement): void {
    const place = root.querySelector<HTMLElement>(".sweep-chart");
    const means = this.means();
    if (!place || place.hidden || means.length === 0) return;
    const style = getComputedStyle(document.documentElement);
    const colour = (name: string) => style.getPropertyValue(name).trim();
    const axis = { stroke: colour("--soft"), grid: { stroke: colour("--line"), width: 1 }, ticks: { stroke: colour("--line"), width: 1 }, font: "11px system-ui" };
    const logarithmic = this.over === "n" && means.every(([at]) => at > 0);
    this.plot?.destroy();
    this.plot = new uPlot({
      width: Math.max(220, place.clientWidth), height: 200, legend: { show: false }, cursor: { show: false },
      scales: { x: { time: false, distr: logarithmic ? 3 : 1 }, y: { range: (_, __, high) => [0, high * 1.05] } },
      axes: [{ ...axis, label: this.over, labelSize: 18, labelFont: "12px system-ui", values: (_, marks) => marks.map((mark) => (mark == null ? "" : short(mark))) }, { ...axis, size: 54, values: (_, marks) => marks.map(short) }],
      series: [{}, { stroke: colour("--accent"), width: 2, points: { show: true, size: 7, fill: colour("--accent") } }],
    }, [means.map(([at]) => at), means.map(([, mean]) => mean)], place);
  }
}
