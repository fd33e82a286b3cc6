// The explorer: what is shown is a Run in words and how far it is. Everything that changes the run
// goes through `show`, which asks the engine and writes the address; the picture only draws.
import { LitElement, html, nothing, type TemplateResult } from "lit";
import "./style.css";
import { Chart, type Point } from "./chart";
import { client, moduleBytes, type Client } from "./client";
import { drawBars, drawField, drawGraph, drawMeeting, drawRanks, drawRing, drawSpaceTime, fieldSpots, graphSpots,
  ringSpots, short, type Flow, type Paint, type Scene, type Spot } from "./draw";
import type { Column, Description, Look } from "./engine";
import { lessons, type Lesson } from "./lessons";
import { colours, theme } from "./palette";
import { addressOf, commandOf, emptyRun, param, runOfAddress, timeOf, value, values, withParam, withValue, wordsOf, type Run } from "./words";
import type { Frame, Series } from "./worker";

const texts = import.meta.glob("../../protocols/*.{pp,crn}", { query: "?raw", import: "default", eager: true }) as Record<string, string>;
const examples = Object.entries(texts).map(([path, content]) => ({ name: path.split("/").pop()!, content }));

const first = "#run/pll?n=1000&engine=agents&seed=1";
// Sizes that show something at once; other protocols get the smallest that is allowed, or these.
const sizes: Record<string, string> = { prl: "40", coalescence: "64", electleader: "64", flooding: "12", "kmpp-async": "16", "kmpp-sync": "16", "afek-gafni-async": "16", "afek-gafni-sync": "16", ppl: "200", timers: "200", ciw: "16", "optimal-silent": "32", "propagate-reset": "200", "assign-ranks": "64", "detect-collision": "64" };
const starts: Record<string, string> = { prl: "random", ppl: "all-leaders", electleader: "same" };
const speeds = [1, 3, 10, 30, 100, 300, 1e3, 3e3, 1e4, 3e4, 1e5, 1e6, 1e7, Infinity];
const defaults: Record<string, string> = { delay: "unit", wakeup: "all", ids: "unique", engine: "auto" };
const longest = 1e15;  // interactions that a trial is let run

type Tool = "look" | "corrupt" | "crown";

class App extends LitElement {
  private engine!: Client;
  private second: Client | null = null;
  private module: ArrayBuffer | null = null;
  private list: Description[] = [];
  private run: Run = emptyRun("pll");
  private frame: Frame | null = null;
  private flow: Flow | null = null;
  private arcs: [number, number][] | null = null;
  private spots: Spot[] = [];
  private seen: Record<string, number[]> = {};   // values of a column so far, for steady colours
  private points: Point[] = [];
  private others: Series[] = [];
  private furthest = 0;
  private playing = false;
  private speed = 6;
  private clock = 0;          // of message passing: how far its events are shown
  private busy = false;
  private error = "";
  private page = "run";
  private tool: Tool = "look";
  private hovered = -1;
  private picked = -1;
  private previous: Frame | null = null;
  private lesson: { of: Lesson; step: number } | null = null;
  private draft = "";
  private verdict = "";
  private chart: Chart | null = null;
  private rate = 0;
  private wanted = "";        // the address that is being shown

  override createRenderRoot() { return this; }

  override async connectedCallback() {
    super.connectedCallback();
    const dark = localStorage.getItem("theme") ?? (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light");
    document.documentElement.dataset.theme = dark;
    addEventListener("hashchange", () => { if (location.hash !== this.wanted) void this.follow(location.hash); });
    addEventListener("resize", () => this.draw());
    addEventListener("keydown", (event) => this.key(event));
    this.engine = client();
    try {
      this.module = await moduleBytes();
      this.list = await this.engine.load(this.module.slice(0));
    } catch (error) {
      this.fail(error);
      return;
    }
    Object.assign(window, { conclave: { row: () => this.row(), run: () => this.run, frame: () => this.frame, protocols: () => this.list.map((each) => each.name) } });
    await this.follow(location.hash || first);
  }

  // What an address asks for.
  private async follow(hash: string) {
    this.pause();
    if (/^#(lessons|own)/.test(hash)) {
      this.page = hash.slice(1).split("/")[0]!;
      this.wanted = hash;
      this.requestUpdate();
      return;
    }
    const run = runOfAddress(hash) ?? runOfAddress(first)!;
    this.page = "run";
    await this.show(run);
  }

  private get about(): Description | undefined { return this.list.find((each) => each.name === this.run.protocol); }
  private get content(): string { return this.run.text || examples.find((each) => each.name === this.run.protocol)?.content || ""; }
  private get now(): number { return Number(this.frame?.look.now ?? 0); }
  private get isNetwork(): boolean { return this.frame !== null && !this.frame.look.population; }

  // Begins a run anew and goes to the point it names.
  private async show(run: Run) {
    this.pause();
    const attempt = { ...run };
    try {
      this.busy = true;
      const { way, frame } = await this.engine.open(wordsOf(run), run.text || examples.find((each) => each.name === run.protocol)?.content || "", run.view, Number(run.at) || 0);
      this.run = attempt;
      this.error = "";
      this.flow = null;
      this.arcs = null;
      this.seen = {};
      this.points = [];
      this.others = [];
      this.previous = null;
      this.picked = -1;
      this.furthest = 0;
      this.clock = 0;
      way.forEach((look) => this.remember(look));
      this.take(frame);
      if (!frame.look.population) await this.readEvents();
      else if (value(run, "graph") && frame.look.n <= 2000) this.arcs = await this.engine.arcs();
      if (run.overlay > 0) void this.overlay(run.overlay);
    } catch (error) {
      this.run = attempt;
      this.fail(error);
    } finally {
      this.busy = false;
    }
    this.write();
    this.requestUpdate();
  }

  private fail(error: unknown) {
    this.error = (error as Error).message;
    this.pause();
    this.requestUpdate();
  }

  private async readEvents() {
    const events = await this.engine.events();
    const kinds = [...new Set(events.filter((each) => each.message).map((each) => each.message!))];
    const end = Math.max(1e-9, ...events.map((each) => each.time));
    this.flow = { events, kinds, end };
    this.clock = this.run.at ? Math.min(end, Number(this.run.at)) : end;
  }

  private write() {
    this.wanted = addressOf({ ...this.run, at: this.isNetwork ? (this.flow && this.clock < this.flow.end ? this.clock.toFixed(3) : "") : this.now > 0 ? String(this.now) : "" });
    if (location.hash !== this.wanted) history.replaceState(null, "", this.wanted);
  }

  // A new frame: what is known of the trial grows, the picture follows.
  private take(frame: Frame) {
    this.frame = frame;
    this.furthest = Math.max(this.furthest, this.now);
    const known = new Set([...(this.seen[this.run.view] ?? []), ...frame.histogram.values]);
    this.seen[this.run.view] = known.size > 600 ? [Math.min(...known), Math.max(...known)] : [...known].sort((a, b) => a - b);
    this.remember(frame.look);
    this.requestUpdate();
  }

  private remember({ time, leaders, observables }: Look) {
    if (this.points.length > 0 && time <= this.points.at(-1)!.time) return;
    const numbers = Object.fromEntries(Object.entries(observables).map(([name, text]) => [name, Number(text)]).filter(([, number]) => Number.isFinite(number)));
    this.points.push({ time, leaders, values: numbers });
    if (this.points.length > 4000) this.points = this.points.filter((_, i) => i % 2 === 0 || i > 3900);
  }

  // Asks the engine unless it is still busy with the last question.
  private async ask(work: () => Promise<Frame>): Promise<boolean> {
    if (this.busy) return false;
    this.busy = true;
    try {
      this.take(await work());
      return true;
    } catch (error) {
      this.fail(error);
      return false;
    } finally {
      this.busy = false;
    }
  }

  private async step() {
    this.pause();
    if (this.isNetwork) return this.nextEvent();
    const agents = this.frame?.look.next?.number === this.now + 1 ? this.frame.look.next.agents : null;
    this.previous = this.frame;
    await this.ask(async () => ({ ...await this.engine.goTo(this.now + 1, this.run.view), change: { number: this.now + 1, ...(agents ? { agents } : {}) } }));
    this.write();
    return undefined;
  }

  private async nextChange() {
    this.pause();
    if (this.isNetwork) return this.nextEvent();
    this.previous = this.frame;
    await this.ask(() => this.engine.nextChange(200000, this.run.view));
    this.write();
    return undefined;
  }

  private nextEvent() {
    const later = this.flow!.events.map((each) => each.time).filter((time) => time > this.clock);
    this.clock = later.length > 0 ? Math.min(...later) : this.flow!.end;
    this.write();
    this.requestUpdate();
  }

  private async goTo(at: number) {
    this.previous = null;
    await this.ask(() => this.engine.goTo(Math.max(0, at), this.run.view));
    this.write();
  }

  private async back() {
    this.pause();
    if (this.isNetwork) {
      const earlier = this.flow!.events.map((each) => each.time).filter((time) => time < this.clock);
      this.clock = earlier.length > 0 ? Math.max(...earlier) : 0;
      this.write();
      this.requestUpdate();
      return;
    }
    await this.goTo(this.now - 1);
  }

  private pause() { this.playing = false; }

  private async play() {
    if (this.playing) {
      this.pause();
      this.write();
      this.requestUpdate();
      return;
    }
    this.playing = true;
    this.previous = null;
    this.requestUpdate();
    if (this.isNetwork) this.playEvents(); else await this.playInteractions();
    this.requestUpdate();
  }

  private playEvents() {
    if (this.clock >= this.flow!.end) this.clock = 0;
    let last = performance.now();
    const tick = (time: number) => {
      if (!this.playing) return;
      const perSecond = this.flow!.end / 12 * Math.min(8, 2 ** (this.speed - 6));
      this.clock = Math.min(this.flow!.end, this.clock + ((time - last) / 1000) * perSecond);
      last = time;
      if (this.clock >= this.flow!.end) this.playing = false;
      this.requestUpdate();
      if (this.playing) requestAnimationFrame(tick); else this.write();
    };
    requestAnimationFrame(tick);
  }

  // At a given speed the engine follows the clock; at full speed it is asked again at once.
  private async playInteractions() {
    let owed = 0;
    let last = performance.now();
    while (this.playing) {
      const speed = speeds[this.speed]!;
      const before = this.now;
      if (speed === Infinity) {
        if (!await this.ask(() => this.engine.hurry(14, longest, this.run.view))) break;
      } else {
        await new Promise((resolve) => { requestAnimationFrame(resolve); });
        owed = Math.min(owed + (speed * (performance.now() - last)) / 1000, speed);
        const whole = Math.floor(owed);
        if (whole > 0) {
          owed -= whole;
          const agents = whole === 1 ? this.frame?.look.next?.agents : null;
          const target = this.now + whole;
          if (whole === 1) this.previous = this.frame;
          if (!await this.ask(async () => ({ ...await this.engine.hurry(40, target, this.run.view), change: agents ? { number: target, agents } : null }))) break;
        }
      }
      const took = (performance.now() - last) / 1000;
      last = performance.now();
      if (this.now > before) this.rate = this.rate * 0.8 + ((this.now - before) / Math.max(took, 1e-3)) * 0.2;
      if (this.frame?.look.over || (this.frame?.look.next && this.frame.look.next.number > longest)) this.pause();
    }
    this.pause();
    this.write();
  }

  private async restart() {
    this.pause();
    if (this.isNetwork) {
      this.clock = 0;
      this.write();
      this.requestUpdate();
      return;
    }
    await this.goTo(0);
  }

  // An attack is a further word of the run: a fault that strikes at the present interaction.
  private async attack(what: string) {
    const fault = `${what}@${timeOf(this.now, this.frame!.look.n)}`;
    const at = String(this.now);
    await this.show({ ...this.run, words: [...this.run.words, ["fault", fault]], at });
  }

  private async removeFault(index: number) {
    let i = -1;
    const words = this.run.words.filter(([name]) => name !== "fault" || ++i !== index);
    await this.show({ ...this.run, words, at: "" });
  }

  private async overlay(trials: number) {
    this.run = { ...this.run, overlay: trials };
    this.others = [];
    this.write();
    this.second?.stop();
    this.second = client();
    await this.second.load(this.module!.slice(0));
    for (let i = 1; i <= trials; ++i) {
      const key = this.wanted;
      try {
        const series = await this.second.series(wordsOf(this.run), this.content, i);
        if (this.run.overlay === 0) return;
        this.others = [...this.others, series];
        this.requestUpdate();
      } catch { if (key !== this.wanted) return; }
    }
  }

  // The row of the trial, as the command line prints it; it is run to its end where it is not over.
  private async row(): Promise<string> { return (await this.results()).row; }

  private async results() {
    this.second?.stop();
    this.second = client();
    await this.second.load(this.module!.slice(0));
    return this.second.results(wordsOf(this.run), this.content);
  }

  private async download(which: "row" | "trace") {
    const results = await this.results();
    const link = document.createElement("a");
    link.href = URL.createObjectURL(new Blob([which === "row" ? `${results.row}\n` : results.trace]));
    link.download = which === "row" ? `${this.run.protocol}.jsonl` : `${this.run.protocol}.csv`;
    link.click();
    URL.revokeObjectURL(link.href);
  }

  private key(event: KeyboardEvent) {
    if (this.page !== "run" || event.ctrlKey || event.metaKey || event.altKey) return;
    if (/^(INPUT|TEXTAREA|SELECT|BUTTON|A|SUMMARY)$/.test((event.target as Element).tagName) && event.key !== "Escape") return;
    const does: Record<string, () => unknown> = {
      " ": () => this.play(), ArrowRight: () => this.step(), ArrowLeft: () => this.back(), n: () => this.nextChange(), r: () => this.restart(),
    };
    const what = does[event.key];
    if (!what) return;
    event.preventDefault();
    void what();
  }

  // The picture.

  override updated() { this.draw(); }

  private get scene(): { context: CanvasRenderingContext2D; scene: Scene } | null {
    const canvas = this.querySelector<HTMLCanvasElement>(".stage canvas");
    const context = canvas?.getContext("2d");
    if (!canvas || !context) return null;
    const scale = devicePixelRatio || 1;
    const width = canvas.clientWidth, height = canvas.clientHeight;
    if (canvas.width !== Math.round(width * scale) || canvas.height !== Math.round(height * scale)) {
      canvas.width = Math.round(width * scale);
      canvas.height = Math.round(height * scale);
    }
    context.setTransform(scale, 0, 0, scale, 0, 0);
    context.clearRect(0, 0, width, height);
    return { context, scene: { width, height, theme: theme(document.documentElement), still: matchMedia("(prefers-reduced-motion: reduce)").matches } };
  }

  private get paint(): Paint {
    const column = this.run.view ? 1 + this.frame!.columns.findIndex((each) => each.name === this.run.view) : 0;
    return { column, values: this.seen[this.run.view] ?? [] };
  }

  private draw() {
    const made = this.scene;
    if (!made || !this.frame) return;
    const { context, scene } = made;
    if (this.isNetwork) {
      if (this.flow) drawSpaceTime(context, this.flow, this.frame.look.n, this.clock, scene);
    } else {
      this.drawAgents(context, scene);
    }
    this.drawChart(scene);
  }

  private drawAgents(context: CanvasRenderingContext2D, scene: Scene) {
    const frame = this.frame!;
    const { table } = frame;
    const column = frame.columns[this.paint.column - 1];
    if (!table || table.counts) {
      this.spots = [];
      drawBars(context, frame, this.paint, scene, (v) => (this.paint.column === 0 ? (v === 1 ? "leaders" : "others") : this.named(column, v)));
      return;
    }
    const ranks = frame.columns.some((each) => each.name === "rank") && this.run.protocol !== "detect-collision";
    const room = ranks ? { ...scene, height: scene.height - 44 } : scene;
    if (this.isRing) this.spots = ringSpots(table.rows, scene);
    else if (this.arcs) this.spots = graphSpots(table.rows, this.arcs, value(this.run, "graph"), scene);
    else this.spots = fieldSpots(table.rows, room);
    if (this.isRing) drawRing(context, frame, this.spots, this.paint, scene);
    else if (this.arcs) drawGraph(context, frame, this.spots, this.arcs, this.paint, scene);
    else drawField(context, frame, this.spots, this.paint, room);
    if (ranks) drawRanks(context, frame, scene);
    if (frame.change?.agents) drawMeeting(context, this.spots, frame.change.agents, scene.theme);
  }

  // A value by the paper's name, where it has one: {X, A, B}.
  private named(column: Column | undefined, number: number): string {
    if (column?.labels[number]) return column.labels[number];
    const domain = this.about?.variables.find((each) => each.name === column?.name)?.domain ?? "";
    const names = /^\{([^.]*)\}$/.exec(domain)?.[1]!.split(", ") ?? [];
    return names.some((each) => !/^\d+$/.test(each)) ? names[number] ?? String(number) : short(number);
  }

  private get isRing() { return this.about?.network === "directed ring"; }

  private drawChart(scene: Scene) {
    const place = this.querySelector<HTMLElement>(".chart");
    if (!place || this.points.length === 0) return;
    this.chart ??= new Chart(place);
    const last = this.points.at(-1)!.values;
    const moves = (name: string) => this.points.some((each) => each.values[name] !== undefined && each.values[name] !== last[name]);
    const names = Object.keys(last).filter((name) => last[name]! <= this.frame!.look.n && moves(name)).slice(0, 2);
    this.chart.draw(this.points, names, this.others, scene.theme, this.frame!.look.time);
  }

  private agentAt(event: MouseEvent): number {
    const canvas = event.currentTarget as HTMLCanvasElement;
    const box = canvas.getBoundingClientRect();
    const x = event.clientX - box.left, y = event.clientY - box.top;
    let nearest = -1, distance = 400;
    this.spots.forEach((spot, i) => {
      const d = (spot.x - x) ** 2 + (spot.y - y) ** 2;
      if (d < distance) { distance = d; nearest = i; }
    });
    return nearest;
  }

  private async touch(event: MouseEvent) {
    const agent = this.agentAt(event);
    if (agent < 0) return;
    if (this.tool === "corrupt") await this.attack(`corrupt:#${agent}`);
    else if (this.tool === "crown") await this.attack(`make-leaders:#${agent}`);
    else this.picked = agent;
    this.requestUpdate();
  }

  private variables(agent: number): TemplateResult {
    const { table, columns } = this.frame!;
    const width = 1 + columns.length;
    const old = this.previous?.table?.rows === table!.rows ? this.previous.table : null;
    return html`<dl class="vars">
      <dt>output</dt><dd>${table!.values[agent * width] === 1 ? "leader" : "follower"}</dd>
      ${columns.map((column, i) => {
        const now = table!.values[agent * width + 1 + i]!;
        const was = old ? old.values[agent * width + 1 + i]! : now;
        const shown = (v: number) => this.named(column, v);
        return html`<dt>${column.name}</dt><dd class=${was === now ? "" : "changed"}>${was === now ? nothing : html`<span class="was">${shown(was)}</span>`}${shown(now)}</dd>`;
      })}
    </dl>`;
  }

  // The parts of the page.

  override render() {
    const tab = (page: string, hash: string, text: string) => html`<a href=${hash} aria-current=${this.page === page ? "page" : "false"} @click=${(event: Event) => { event.preventDefault(); location.hash = hash; }}>${text}</a>`;
    return html`
      <header class="top">
        <h1>conclave explorer</h1>
        <span class="soft small">leader election, on the real engines, in your browser</span>
        <nav aria-label="Pages">${tab("run", addressOf(this.run), "Explore")}${tab("lessons", "#lessons", "Lessons")}${tab("own", "#own", "Your own")}
          <button @click=${this.toggleTheme} aria-label="Switch between light and dark">◐</button></nav>
      </header>
      <main>
        ${this.error ? html`<p class="error" role="alert">${this.error}</p>` : nothing}
        ${this.page === "lessons" ? this.lessonList() : this.page === "own" ? this.editor() : this.desk()}
      </main>
      <footer>Every picture shows the state of the engine; the command below it repeats the trial bit for bit.</footer>`;
  }

  private toggleTheme() {
    const next = document.documentElement.dataset.theme === "dark" ? "light" : "dark";
    document.documentElement.dataset.theme = next;
    localStorage.setItem("theme", next);
    this.requestUpdate();
  }

  private desk() {
    return html`
      ${this.lesson ? this.tour(this.lesson) : nothing}
      <div class="desk">
        <section class="card setup" aria-label="Setup">${this.setup()}</section>
        <div class="stack">
          <section class="card stage" aria-label="Picture">
            <canvas role="img" aria-label=${this.summary} @click=${this.touch}
              @mousemove=${(event: MouseEvent) => { const agent = this.agentAt(event); if (agent !== this.hovered) { this.hovered = agent; this.requestUpdate(); } }}
              @mouseleave=${() => { this.hovered = -1; this.requestUpdate(); }}></canvas>
            ${this.tip()}${this.legend()}
          </section>
          <section class="card transport" aria-label="Time">${this.transport()}</section>
          <section class="card" aria-label="Command">${this.command()}</section>
        </div>
        <div class="stack">
          <section class="card" aria-label="Chart" ?hidden=${this.isNetwork}><h2>Leaders over time</h2><div class="chart"></div>
            <div class="row"><button @click=${() => this.overlay(this.run.overlay >= 20 ? 0 : Math.max(5, this.run.overlay * 2))}>More trials</button>
            ${this.run.overlay > 0 ? html`<button @click=${() => { this.run = { ...this.run, overlay: 0 }; this.others = []; this.second?.stop(); this.write(); this.requestUpdate(); }}>Only this one</button><span class="soft small">${this.others.length} of ${this.run.overlay} beside it</span>` : nothing}</div></section>
          ${this.isNetwork ? nothing : html`<section class="card" aria-label="Agent"><h2>${this.picked >= 0 ? `Agent ${this.picked}` : "Last interaction"}</h2>${this.inspector()}</section>`}
          ${this.isNetwork ? nothing : html`<section class="card" aria-label="Attack"><h2>Attack</h2>${this.attacks()}</section>`}
          <section class="card" aria-label="Measured"><h2>Measured</h2>${this.measured()}</section>
        </div>
      </div>`;
  }

  private get summary(): string {
    const look = this.frame?.look;
    if (!look) return "The engine is being loaded";
    if (!look.population) return `Space-time diagram of ${look.n} nodes up to time ${this.clock.toFixed(2)}; ${look.leaders} elected`;
    return `${look.n} agents, ${look.leaders} leaders, after ${look.now} interactions`;
  }

  private setup() {
    const about = this.about;
    const choose = (option: string, items: { name: string; meaning: string }[], label: string) => (items.length < 2 ? nothing : html`
      <label>${label}<select @change=${(event: Event) => this.show(withValue(this.run, option, (event.target as HTMLSelectElement).value))}>
        ${items.map((item) => html`<option value=${item.name} title=${item.meaning} ?selected=${(value(this.run, option) || (defaults[option] ?? items[0]!.name)) === item.name}>${item.name}</option>`)}
      </select></label>`);
    return html`
      <label for="protocol">Protocol</label>
      <select id="protocol" @change=${(event: Event) => this.choose((event.target as HTMLSelectElement).value)}>
        <optgroup label="Of the catalog">${this.list.map((each) => html`<option value=${each.name} ?selected=${each.name === this.run.protocol}>${each.name}</option>`)}</optgroup>
        <optgroup label="Texts">${examples.map((each) => html`<option value=${each.name} ?selected=${each.name === this.run.protocol && !this.run.text}>${each.name}</option>`)}
        ${this.run.text ? html`<option value=${this.run.protocol} selected>${this.run.protocol} (yours)</option>` : nothing}</optgroup>
      </select>
      <p class="small soft">${about?.title ?? ""}</p>
      <div class="fields">
        ${this.textField("n", this.isNetwork ? "n: nodes" : "n: agents", value(this.run, "n"), (text) => this.show(withValue(this.run, "n", text)))}
        ${this.textField("seed", "Seed", value(this.run, "seed") || "1", (text) => this.show(withValue(this.run, "seed", text)))}
        ${choose("init", about?.init ?? [], "Start")}
        ${choose("engine", about?.delays ? [] : [{ name: "auto", meaning: "chosen by size" }, ...(about?.engines ?? [{ name: "agents", meaning: "" }, { name: "events", meaning: "" }, { name: "counts", meaning: "" }])], "Engine")}
        ${choose("delay", about?.delays ?? [], "Delays")}${choose("wakeup", about?.wakeups ?? [], "Wake-ups")}${choose("ids", about?.ids ?? [], "Identifiers")}
        ${/graph|any/.test(about?.network ?? "graph") && !about?.delays && (this.content || /--graph|any/.test(about?.network ?? "")) ? this.textField("graph", "Graph", value(this.run, "graph"), (text) => this.show(withValue(this.run, "graph", text)), "complete, grid:8x8, gnp:0.1") : nothing}
        ${this.run.protocol === "electleader" ? this.slider() : nothing}
      </div>
      ${about && about.parameters.length > 0 ? html`<details><summary>Parameters</summary><div class="fields">${about.parameters.map((each) => this.textField(`param-${each.name}`, `${each.name}: ${each.meaning}`, param(this.run, each.name), (text) => this.show(withParam(this.run, each.name, text)), each.default))}</div></details>` : nothing}
      ${about?.paper ? html`<details><summary>About</summary><p class="small">${about.paper}</p><p class="small soft">Converged: ${about.convergence}. ${about.bound ? `Bound: ${about.bound}.` : ""}</p></details>` : nothing}`;
  }

  private slider() {
    const n = Number(value(this.run, "n")) || 64;
    const r = Number(param(this.run, "r")) || 1;
    return html`<label>r = ${r}: memory against time
      <input type="range" min="1" max=${Math.floor(n / 2)} .value=${String(r)} @change=${(event: Event) => this.show(withParam(this.run, "r", (event.target as HTMLInputElement).value))} /></label>`;
  }

  private textField(id: string, label: string, text: string, change: (text: string) => unknown, hint = "") {
    return html`<label for=${id}>${label}</label><input id=${id} type="text" autocomplete="off" spellcheck="false" .value=${text} placeholder=${hint}
      @change=${(event: Event) => change((event.target as HTMLInputElement).value.trim())} />`;
  }

  private async choose(protocol: string) {
    const about = this.list.find((each) => each.name === protocol);
    const own = examples.find((each) => each.name === protocol);
    const run = emptyRun(protocol);
    run.words.push(["n", sizes[protocol] ?? (own ? "400" : "100")]);
    if (about && !about.delays && !about.messages) run.words.push(["engine", "agents"]);
    if (protocol === "coalescence") run.words.push(["graph", "grid:8x8"]);
    if (protocol === "electleader") run.words.push(["param", "r=16"]);
    if (starts[protocol]) run.words.push(["init", starts[protocol]]);
    if (own) run.words.push(["engine", "agents"]);
    run.words.push(["seed", "1"]);
    this.lesson = null;
    await this.show(run);
  }

  private transport() {
    const look = this.frame?.look;
    const network = this.isNetwork;
    const most = Math.max(1, this.furthest);
    const marks = (look?.faults ?? []).filter((each) => each.at <= most);
    return html`
      <div class="row" role="group" aria-label="Play">
        <button @click=${this.restart} aria-label="To the start"><svg viewBox="0 0 16 16" width="14" height="14" aria-hidden="true"><path d="M3 2v12M13 2.5 5.5 8l7.5 5.5z" fill="currentColor" stroke="currentColor" stroke-width="2" stroke-linejoin="round" /></svg></button>
        <button @click=${this.back} aria-label="One back">◀</button>
        <button class="main" @click=${this.play} ?disabled=${!look}>${this.playing ? "❚❚ Pause" : "▶ Play"}</button>
        <button @click=${this.step} title=${network ? "Next event" : "One interaction"}>step</button>
        ${network ? nothing : html`<button @click=${this.nextChange}>next change</button>`}
      </div>
      <div class="timeline">
        ${network
          ? html`<input type="range" aria-label="Time" min="0" max=${this.flow?.end ?? 1} step="any" .value=${String(this.clock)} @input=${(event: Event) => { this.pause(); this.clock = Number((event.target as HTMLInputElement).value); this.write(); this.requestUpdate(); }} />`
          : html`<input type="range" aria-label="Interactions" min="0" max=${most} .value=${String(this.now)} @input=${(event: Event) => { this.pause(); void this.goTo(Number((event.target as HTMLInputElement).value)); }} />`}
        ${marks.map((each) => html`<span class="mark" style=${`left:${(each.at / most) * 100}%`} title=${each.text}></span>`)}
      </div>
      <div class="speed"><label for="speed">Speed</label>
        <input id="speed" type="range" min="0" max=${speeds.length - 1} .value=${String(this.speed)} @input=${(event: Event) => { this.speed = Number((event.target as HTMLInputElement).value); this.requestUpdate(); }} />
        <output>${network ? `× ${Math.min(8, 2 ** (this.speed - 6))}` : speeds[this.speed] === Infinity ? `as fast as it goes${this.rate && this.playing ? `: ${short(Math.round(this.rate))}/s` : ""}` : `${short(speeds[this.speed]!)} a second`}</output></div>
      <div class="status" aria-live="off">${look ? html`
        ${network ? html`<span>time <b>${this.clock.toFixed(3)}</b></span><span>messages <b>${look.now}</b></span>` : html`<span>interactions <b>${Number(look.now).toLocaleString("en")}</b></span><span>parallel time <b>${look.time.toLocaleString("en", { maximumFractionDigits: 3 })}</b></span>`}
        <span>${network ? "elected" : "leaders"} <b>${look.leaders.toLocaleString("en")}</b></span>
        <span class=${look.converged ? "badge done" : "badge"}>${look.converged ? "converged" : look.over ? "can never converge" : "running"}</span>` : "loading the engine"}</div>`;
  }

  private tip() {
    const spot = this.spots[this.hovered];
    if (!spot || !this.frame?.table) return nothing;
    const width = this.querySelector("canvas")?.clientWidth ?? 0;
    const side = spot.x > width / 2 ? `right:${width - spot.x + 14}px` : `left:${spot.x + 14}px`;
    return html`<div class="tip" style=${`${side};top:${Math.max(4, spot.y - 10)}px`}><b>agent ${this.hovered}</b>${this.variables(this.hovered)}</div>`;
  }

  private legend() {
    if (!this.frame) return nothing;
    const dot = (colour: string, text: string) => html`<span><i style=${`background:${colour}`}></i>${text}</span>`;
    if (this.isNetwork) return html`<div class="legend">${this.flow?.kinds.map((kind, i) => dot(colours(this.flow!.kinds.map((_, k) => k))(i), kind))}</div>`;
    const column = this.frame.columns[this.paint.column - 1];
    const seen = this.paint.values;
    const few = seen.length <= 8;
    const colour = colours(seen);
    return html`<div class="legend"><label style="margin:0;display:flex;gap:.4rem;align-items:center">Colour <select style="width:auto;margin:0;min-height:1.8rem;padding:.1rem .3rem" @change=${async (event: Event) => { this.run = { ...this.run, view: (event.target as HTMLSelectElement).value }; await this.ask(() => this.engine.look(this.run.view)); this.write(); }}>
        <option value="" ?selected=${this.run.view === ""}>output</option>${this.frame.columns.map((each) => html`<option value=${each.name} ?selected=${each.name === this.run.view}>${each.name}</option>`)}</select></label>
      ${this.paint.column === 0 ? html`${dot("var(--leader)", "leader")}${dot("var(--follower)", "follower")}` : few ? seen.map((v) => dot(colour(v), this.named(column, v))) : html`${dot(colour(seen[0]!), short(seen[0]!))}${dot(colour(seen.at(-1)!), short(seen.at(-1)!))}`}
      ${this.isRing && this.run.protocol === "prl" ? html`<span>▲ live bullet</span><span>△ dummy</span><span>■ signal</span><span>spokes: distL</span>` : nothing}
      ${this.frame.table && !this.frame.table.counts ? nothing : html`<span>engine ${this.frame.look.engine} counts agents by state</span>`}</div>`;
  }

  private inspector() {
    if (!this.frame?.table || this.frame.table.counts) return html`<p class="small soft">This engine counts agents by state and does not tell them apart.</p>`;
    if (this.picked >= 0) return html`${this.variables(this.picked)}<div class="row"><button @click=${() => { this.picked = -1; this.requestUpdate(); }}>Close</button></div>`;
    const met = this.frame.change?.agents;
    if (!met) return html`<p class="small soft">Step through single interactions to see who met and what changed. Click an agent to keep its variables here.</p>`;
    return html`<div class="row" style="align-items:flex-start;gap:1.4rem"><div><p class="small soft">initiator ${met[0]}</p>${this.variables(met[0])}</div><div><p class="small soft">responder ${met[1]}</p>${this.variables(met[1])}</div></div>`;
  }

  private attacks() {
    const pick = (tool: Tool, text: string) => html`<button aria-pressed=${this.tool === tool} class=${this.tool === tool ? "main" : ""} @click=${() => { this.tool = tool; this.requestUpdate(); }}>${text}</button>`;
    const faults = values(this.run, "fault");
    const outcome = this.frame?.look.faults ?? [];
    return html`
      <p class="small soft">An attack strikes now; it becomes part of the command and of the link.</p>
      <div class="row"><button @click=${() => this.attack("kill-leaders")}>Kill leaders</button>
        ${[10, 50, 100].map((percent) => html`<button @click=${() => this.attack(`corrupt:${percent}%`)}>Corrupt ${percent} %</button>`)}
        <button @click=${() => this.attack("make-leaders:3")}>Crown 3</button></div>
      <p class="small soft" id="tools">A click on an agent</p><div class="row" role="group" aria-labelledby="tools">${pick("look", "shows it")}${pick("corrupt", "corrupts it")}${pick("crown", "crowns it")}</div>
      ${faults.length > 0 ? html`<ul class="small">${faults.map((fault, i) => {
        const seen = outcome.find((each) => each.text === fault);
        return html`<li><code>${fault}</code> ${seen ? (seen.recovered ? `hit ${seen.agents}, recovered after ${short(seen.recovery!)} interactions` : `hit ${seen.agents}, not yet recovered`) : "still to come"}
          <button aria-label=${`Remove ${fault}`} @click=${() => this.removeFault(i)}>×</button></li>`;
      })}</ul>` : nothing}`;
  }

  private measured() {
    const look = this.frame?.look;
    if (!look) return nothing;
    const names = Object.entries(look.observables);
    return html`<dl class="vars">${names.map(([name, text]) => html`<dt>${name}</dt><dd>${text}</dd>`)}<dt>engine</dt><dd>${look.engine}</dd><dt>start</dt><dd>${look.start}</dd></dl>
      <div class="row" style="margin-top:.6rem"><button @click=${() => this.download("row")}>Row</button><button @click=${() => this.download("trace")}>Trace</button></div>`;
  }

  private command() {
    const text = commandOf(this.run);
    return html`<h2>The same trial on the command line</h2><pre class="command" tabindex="0">${text}</pre>
      <div class="row" style="margin-top:.6rem"><button @click=${() => navigator.clipboard.writeText(text)}>Copy command</button><button @click=${() => { this.write(); return navigator.clipboard.writeText(location.href); }}>Copy link</button></div>`;
  }

  // Lessons.

  private lessonList() {
    return html`<p class="intro">Short tours. Each step is a link: what you see is the real trial, and you can play with it.</p>
      <div class="lessons">${lessons.map((lesson) => html`<section class="card"><h2>${lesson.title}</h2><p class="soft small">${lesson.about}</p>
        <p><button @click=${() => this.begin(lesson, 0)}>Begin, ${lesson.steps.length} steps</button></p></section>`)}</div>`;
  }

  private async begin(of: Lesson, step: number) {
    this.lesson = { of, step };
    this.page = "run";
    await this.show(runOfAddress(of.steps[step]!.address)!);
  }

  private tour({ of, step }: { of: Lesson; step: number }) {
    return html`<section class="card lesson" aria-label="Lesson"><h2>${of.title} · ${step + 1} of ${of.steps.length}</h2><p>${of.steps[step]!.text}</p>
      <div class="row"><button ?disabled=${step === 0} @click=${() => this.begin(of, step - 1)}>Before</button>
      <button class="main" ?disabled=${step + 1 === of.steps.length} @click=${() => this.begin(of, step + 1)}>Next</button>
      <button @click=${() => { this.lesson = null; this.requestUpdate(); }}>End the tour</button></div></section>`;
  }

  // Your own.

  private async check(text: string) {
    this.draft = text;
    try {
      const described = await this.engine.describe("mine.pp", text);
      this.verdict = `ok: ${described.states} states${described.warnings?.length ? `; ${described.warnings[0]}` : ""}`;
    } catch (error) {
      this.verdict = (error as Error).message;
    }
    this.requestUpdate();
  }

  private editor() {
    if (!this.draft) void this.check(examples.find((each) => each.name === "fratricide.pp")!.content);
    const place = /:(\d+):(\d+):/.exec(this.verdict);
    return html`<div class="desk editor" style="grid-template-columns:minmax(0,2fr) minmax(14rem,1fr)">
      <section class="card"><label for="text">A protocol in your own words; it is checked as you type</label>
        <textarea id="text" spellcheck="false" wrap="off" aria-invalid=${place ? "true" : "false"} aria-describedby="verdict" .value=${this.draft} @input=${(event: Event) => this.check((event.target as HTMLTextAreaElement).value)}></textarea>
        <p id="verdict" class=${this.verdict.startsWith("ok") ? "right mono" : "wrong mono"} role="status">${this.verdict}</p>
        <div class="row"><button class="main" ?disabled=${!this.verdict.startsWith("ok")} @click=${() => this.runOwn()}>Run it</button>
        ${place ? html`<button @click=${() => this.jump(Number(place[1]), Number(place[2]))}>Go to line ${place[1]}</button>` : nothing}</div></section>
      <section class="card"><h2>Texts to begin with</h2><ul class="chips">${examples.map((each) => html`<li><button @click=${() => this.check(each.content)}>${each.name}</button></li>`)}</ul></section></div>`;
  }

  private jump(line: number, column: number) {
    const area = this.querySelector<HTMLTextAreaElement>("#text")!;
    const lines = this.draft.split("\n");
    const start = lines.slice(0, line - 1).reduce((sum, each) => sum + each.length + 1, 0) + column - 1;
    area.focus();
    area.setSelectionRange(start, start + 1);
  }

  private async runOwn() {
    const run = emptyRun("mine.pp");
    run.words.push(["n", "200"], ["engine", "agents"], ["seed", "1"]);
    run.text = this.draft;
    this.page = "run";
    this.lesson = null;
    await this.show(run);
  }
}

customElements.define("conclave-app", App);
