// Counterexamples, opened from a file or a link and stepped through.
import { html, nothing } from "lit";
import { contentOfLink, counterexamplesIn, flowOf, linkOf, mostBytes, type Counterexample } from "./counterexample";
import { drawConfiguration } from "./draw/configuration";
import { drawSpaceTime, type Flow } from "./draw/space_time";
import { messageColour } from "./palette";
import { clean } from "./picture";

export class Traces {
  private all: Counterexample[] = [];
  private shown = 0;
  private step = 0;
  private flow: Flow | null = null;
  private error = "";
  private link: string | null = null;

  constructor(private readonly changed: () => void) {}

  async follow(hash: string): Promise<void> {
    if (hash === this.link || !hash.startsWith("#traces/")) return;
    await this.take(() => contentOfLink(hash));
  }

  private async take(read: () => Promise<string>): Promise<void> {
    try {
      this.all = counterexamplesIn(await read());
      this.error = "";
      await this.choose(0);
    } catch (error) {
      this.error = (error as Error).message;
      this.changed();
    }
  }

  private async open(file: File | undefined): Promise<void> {
    if (!file) return;
    await this.take(async () => {
      if (file.size > mostBytes) throw new Error(`the file is larger than ${mostBytes} bytes`);
      return file.text();
    });
  }

  private async choose(index: number): Promise<void> {
    this.shown = index;
    this.step = 0;
    const chosen = this.all[index]!;
    this.flow = chosen.kind === "messages" ? flowOf(chosen) : null;
    this.link = await linkOf(chosen);
    history.replaceState(null, "", this.link ?? "#traces");
    this.changed();
  }

  private get last(): number { return this.all[this.shown]!.steps.length - 1; }

  go(step: number): void {
    if (this.all.length === 0) return;
    this.step = Math.max(0, Math.min(this.last, step));
    this.changed();
  }

  key(key: string): boolean {
    const to = { ArrowRight: this.step + 1, ArrowLeft: this.step - 1, r: 0 }[key];
    if (to === undefined) return false;
    this.go(to);
    return true;
  }

  draw(root: HTMLElement): void {
    const context = root.querySelector<HTMLCanvasElement>(".stage canvas")?.getContext("2d");
    const chosen = this.all[this.shown];
    if (!context || !chosen) return;
    const scene = clean(context);
    if (this.flow) drawSpaceTime(context, this.flow, chosen.n, this.step + 1, scene);
    else drawConfiguration(context, chosen.steps[this.step]!, chosen.steps[this.step - 1], scene);
  }

  view() {
    const drop = (event: DragEvent) => { event.preventDefault(); void this.open(event.dataTransfer?.files[0]); };
    return html`<div class="traces" @dragover=${(event: Event) => event.preventDefault()} @drop=${drop}>
      <section class="card open"><label for="trace">A counterexample of <code>conclave explore … --format json</code> or <code>conclave verify … --format json</code>; drop the file here, or open it</label>
        <input id="trace" type="file" accept=".json,application/json" @change=${(event: Event) => this.open((event.target as HTMLInputElement).files?.[0])} /></section>
      ${this.error ? html`<p class="error" role="alert">${this.error}</p>` : nothing}
      ${this.all.length > 0 ? this.shownTrace(this.all[this.shown]!) : html`<p class="soft">For example: <code>conclave explore kmpp-async --n 2 --param reading=printed --format json &gt; stuck.json</code></p>`}</div>`;
  }

  private shownTrace(chosen: Counterexample) {
    const now = chosen.steps[this.step]!;
    return html`<div class="desk two">
      <div class="stack">
        <section class="card stage" aria-label="Picture"><canvas role="img" aria-label=${`${chosen.protocol}, step ${this.step + 1} of ${chosen.steps.length}: ${now.title}`}></canvas>
          ${this.flow ? html`<div class="legend">${this.flow.kinds.map((kind) => html`<span><i style=${`background:${messageColour(kind, "var(--ink)")}`}></i>${kind}</span>`)}<span>circles: phases</span></div>` : html`<div class="legend"><span><i style="background:var(--leader)"></i>changed</span><span>states in the notation of verify</span></div>`}</section>
        <section class="card" aria-label="Time"><div class="row"><button @click=${() => this.go(0)}>first</button><button @click=${() => this.go(this.step - 1)} aria-label="One back">◀</button><button class="main" @click=${() => this.go(this.step + 1)}>step</button></div>
          <input type="range" aria-label="Step" min="0" max=${this.last} .value=${String(this.step)} @input=${(event: Event) => this.go(Number((event.target as HTMLInputElement).value))} />
          <p aria-live="polite"><b>${this.step + 1}</b> of ${chosen.steps.length}: ${now.title || "the initial configuration"}</p>${now.details.length > 0 ? html`<ul class="small">${now.details.map((each) => html`<li>${each}</li>`)}</ul>` : nothing}</section>
      </div>
      <div class="stack">
        <section class="card" aria-label="Claim"><h2>${chosen.protocol}, n = ${chosen.n}</h2><p class="small soft">${chosen.params}</p>
          ${this.all.length > 1 ? html`<label>Which claim fails<select @change=${(event: Event) => this.choose(Number((event.target as HTMLSelectElement).value))}>${this.all.map((each, i) => html`<option value=${i} ?selected=${i === this.shown}>${each.claim}</option>`)}</select></label>` : html`<p>Fails: ${chosen.claim}</p>`}
          <p class="small soft">It is one schedule among all, with every coin chosen; no seed makes it, so there is no <code>conclave run</code> that repeats it.</p>
          <div class="row">${this.link ? html`<button @click=${() => navigator.clipboard.writeText(location.href)}>Copy link</button>` : html`<span class="small soft">Too long for a link; keep the file.</span>`}</div></section>
        <section class="card" aria-label="Steps"><h2>Steps</h2><ol class="steps small">${chosen.steps.map((each, i) => html`<li><button aria-current=${i === this.step ? "step" : "false"} @click=${() => this.go(i)}>${each.title || "the initial configuration"}</button></li>`)}</ol></section>
      </div></div>`;
  }
}
