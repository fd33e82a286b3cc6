// The trial that is shown, and how far it is: a run in words, its engine, and everything
// learned of the trial on the way. Whatever changes the run goes through `show`, which asks the
// engine and writes the address. It knows nothing of the page; `changed` asks that for a picture.
import type { Point } from "./chart";
import { client, moduleBytes, type Client } from "./client";
import { nextOnEdges, type Flow } from "./draw/space_time";
import type { Description, Look } from "./engine";
import { examples } from "./examples";
import { choices, isByHand, turn, withChoice, withoutLastChoice } from "./hand";
import { addressOf, timeOf, emptyRun, runOfAddress, value, wordsOf, type Run } from "./words";
import type { Frame, Series } from "./worker";

export const speeds = [1, 3, 10, 30, 100, 300, 1e3, 3e3, 1e4, 3e4, 1e5, 1e6, 1e7, Infinity];
export const first = "#run/pll?n=1000&engine=agents&seed=1";
const longest = 1e15;  // interactions that a trial is let run
const mostPoints = 4000;

export class Player {
  readonly engine: Client = client();
  private second: Client | null = null;
  private module: ArrayBuffer | null = null;
  isShown = () => true;   // whether the page shows the run, so that its address may be written
  opening = 0;   // runs that are being begun: while there are any, what is shown is of the run before
  private turn: Promise<unknown> = Promise.resolve();   // the last thing that was asked of the engine
  private sought: number | null = null;                 // where the time line was dragged to
  list: Description[] = [];
  private described: { content: string; about: Description } | null = null;   // of the text that is shown
  run: Run = emptyRun("pll");
  frame: Frame | null = null;
  previous: Frame | null = null;   // before the last single interaction
  flow: Flow | null = null;        // of message passing
  clock = 0;                       // how far its events are shown
  arcs: [number, number][] | null = null;
  seen: Record<string, number[]> = {};   // values of a column so far, for steady colours
  points: Point[] = [];
  others: Series[] = [];
  furthest = 0;
  playing = false;
  speed = 6;
  private chosenSpeed = false;     // whether the user set the speed, which then stays
  rate = 0;
  error = "";
  wanted = "";                     // the address that is being shown

  constructor(private readonly changed: () => void) {}

  async load(): Promise<void> {
    this.module = await moduleBytes();
    this.list = await this.engine.load(this.module.slice(0));
  }

  get about(): Description | undefined {
    if (this.content) return this.described?.content === this.content ? this.described.about : undefined;
    return this.list.find((each) => each.name === this.run.protocol);
  }
  get content(): string { return contentOf(this.run); }
  get now(): number { return Number(this.frame?.look.now ?? 0); }
  get isNetwork(): boolean { return this.frame !== null && !this.frame.look.population; }
  // Whether it is about something else than leaders.
  get isLeaderless(): boolean { return this.content !== "" && !/^\s*leader\b/m.test(this.content); }
  get isRing(): boolean { return this.about?.network === "directed ring"; }
  get isByHand(): boolean { return this.isNetwork && isByHand(this.run); }
  // Whether the next message is to be chosen; afterwards the rest arrives by itself.
  get isChoosing(): boolean { return this.isByHand && this.clock === choices(this.run).length * turn; }

  setSpeed(index: number): void {
    this.speed = index;
    this.chosenSpeed = true;
    this.changed();
  }

  // Begins a run anew and goes to the point it names.
  async show(run: Run): Promise<void> {
    this.opening += 1;
    this.pause();
    await this.turn;
    this.run = { ...run };
    try {
      await this.begin(run);
    } catch (error) {
      this.fail(error);
    }
    this.write();
    this.opening -= 1;
    this.changed();
  }

  // Everything that the engine tells is fetched before anything is shown: no picture is half of one run and half of the next.
  private async begin(run: Run): Promise<void> {
    await this.describe();
    if (this.isLeaderless && !run.view) this.run.view = this.about?.variables[0]?.name ?? "";
    const { way, frame } = await this.engine.open(wordsOf(run), this.content, this.run.view, Number(run.at) || 0);
    const events = frame.look.population ? null : await this.engine.events();
    const arcs = frame.look.population && value(run, "graph") && frame.look.n <= 2000 ? await this.engine.arcs() : null;
    this.forget();
    this.arcs = arcs;
    way.forEach((look) => this.remember(look));
    if (events) this.lay(events);
    this.take(frame);
    if (!this.chosenSpeed) this.speed = speedFor(frame.look);
    if (run.overlay > 0) void this.overlay(run.overlay);
  }

  private async describe(): Promise<void> {
    const { content, described } = this;
    if (content && described?.content !== content) this.described = { content, about: await this.engine.describe(this.run.protocol, content) };
  }

  private forget(): void {
    this.error = "";
    this.flow = this.arcs = this.previous = null;
    this.seen = {};
    this.points = [];
    this.others = [];
    this.furthest = this.clock = this.rate = 0;
  }

  fail(error: unknown): void {
    this.error = (error as Error).message;
    this.pause();
    this.changed();
  }

  private lay(events: Flow["events"]): void {
    const kinds = [...new Set(events.filter((each) => each.message).map((each) => each.message!))];
    const end = events.reduce((last, each) => Math.max(last, each.time), 1e-9);
    this.flow = { events, kinds, end };
    const beginning = isByHand(this.run) ? choices(this.run).length * turn : end;
    this.clock = this.run.at ? Math.min(end, Number(this.run.at) || 0) : beginning;
  }

  // Writes the address of what is shown.
  write(): void {
    const usual = this.isByHand ? this.isChoosing : this.clock >= (this.flow?.end ?? 0);
    const at = this.isNetwork ? (this.flow && !usual ? String(Number(this.clock.toFixed(6))) : "") : this.now > 0 ? String(this.now) : "";
    this.wanted = addressOf({ ...this.run, at });
    if (location.hash !== this.wanted && this.isShown()) history.replaceState(null, "", this.wanted);
  }

  // A new frame: what is known of the trial grows, the picture follows.
  private take(frame: Frame): void {
    this.frame = frame;
    this.furthest = Math.max(this.furthest, this.now);
    const old = this.seen[this.run.view] ?? [];
    if (frame.histogram.values.some((each) => !old.includes(each))) {
      const known = [...new Set([...old, ...frame.histogram.values])].sort((a, b) => a - b);
      this.seen[this.run.view] = known.length > 600 ? [known[0]!, known.at(-1)!] : known;
    }
    this.remember(frame.look);
    this.changed();
  }

  private remember({ time, leaders, observables }: Look): void {
    if (this.points.length > 0 && time <= this.points.at(-1)!.time) return;
    const values: Record<string, number> = {};
    for (const [name, text] of Object.entries(observables)) if (text !== "" && Number.isFinite(Number(text))) values[name] = Number(text);
    this.points.push({ time, leaders, values });
    if (this.points.length > mostPoints) this.points = this.points.filter((_, i) => i % 2 === 0 || i > mostPoints - 100);
  }

  // One question after the other, each asked when the answer to the one before is known.
  private async ask(work: () => Promise<Frame>): Promise<boolean> {
    const mine = this.turn.then(work);
    this.turn = mine.catch(() => undefined);
    try {
      this.take(await mine);
      return true;
    } catch (error) {
      this.fail(error);
      return false;
    }
  }

  async colourBy(view: string): Promise<void> {
    this.run = { ...this.run, view };
    if (!this.playing) await this.ask(() => this.engine.look(view));
    this.write();
  }

  async step(): Promise<void> {
    this.pause();
    if (this.isNetwork) return this.nextEvent();
    await this.ask(async () => {
      const next = this.frame?.look.next;
      const agents = next?.number === this.now + 1 ? next.agents : null;
      this.previous = this.frame;
      const frame = await this.engine.goTo(this.now + 1, this.run.view);
      return { ...frame, change: { number: this.now + 1, ...(agents ? { agents } : {}) } };
    });
    this.write();
  }

  async nextChange(): Promise<void> {
    this.pause();
    if (this.isNetwork) return this.nextEvent();
    await this.ask(() => {
      this.previous = this.frame;
      return this.engine.nextChange(200000, this.run.view);
    });
    this.write();
  }

  async back(): Promise<void> {
    this.pause();
    if (!this.isNetwork) return this.goTo(this.now - 1);
    if (this.isChoosing) return this.takeBack();
    const floor = this.isByHand ? choices(this.run).length * turn : 0;
    this.setClock(this.flow!.events.reduce((last, { time }) => (time < this.clock ? Math.max(last, time) : last), floor));
  }

  // Where messages are chosen by hand, the oldest arrives.
  private async nextEvent(): Promise<void> {
    const { flow, clock } = this;
    const oldest = this.isChoosing ? nextOnEdges(flow!, clock)[0] : undefined;
    if (oldest) return this.choose(oldest.from!, oldest.node);
    this.setClock(flow!.events.reduce((next, { time }) => (time > clock ? Math.min(next, time) : next), flow!.end));
  }

  setClock(time: number): void {
    this.pause();
    this.clock = time;
    this.write();
    this.changed();
  }

  // Follows a time line that is dragged: only the last place counts.
  async goTo(at: number): Promise<void> {
    const seeks = this.sought !== null;
    this.sought = Math.max(0, at);
    if (seeks) return;
    while (this.sought !== null) {
      const target: number = this.sought;
      await this.ask(() => {
        this.previous = null;
        return this.engine.goTo(target, this.run.view);
      });
      if (this.sought === target) this.sought = null;
    }
    this.write();
  }

  // Goes to a time, given as the user wrote it; the picture follows, and a pause ends it.
  async goToTime(text: string): Promise<void> {
    this.pause();
    if (this.isNetwork) return this.setClock(Math.max(0, Math.min(this.flow!.end, Number(text) || 0)));
    try {
      const target = await this.engine.interactionsAt(text.trim());
      if (target <= this.now) return await this.goTo(target);
      this.playing = true;
      this.previous = null;
      while (this.playing && this.now < Math.min(target, longest)) {
        const before = this.now;
        if (!(await this.ask(() => this.engine.hurry(40, Math.min(target, longest), this.run.view))) || this.now === before) break;
      }
    } catch (error) {
      this.fail(error);
    }
    this.pause();
    this.write();
    this.changed();
  }

  async restart(): Promise<void> {
    this.pause();
    if (this.isNetwork) this.setClock(this.isByHand ? choices(this.run).length * turn : 0);
    else await this.goTo(0);
  }

  // The adversary: this message arrives next; the last choice is taken back.
  async choose(from: number, to: number): Promise<void> { await this.show(withChoice(this.run, from, to)); }
  async takeBack(): Promise<void> { await this.show(withoutLastChoice(this.run)); }

  pause(): void { this.playing = false; }

  async play(): Promise<void> {
    if (this.playing) {
      this.pause();
      await this.turn;
      this.write();
      this.changed();
      return;
    }
    await this.turn;
    this.playing = true;
    this.previous = null;
    this.changed();
    if (this.isNetwork) return this.playEvents();
    const loop = this.turn.then(() => this.playInteractions());
    this.turn = loop.catch(() => undefined);
    try { await loop; } catch (error) { this.fail(error); }
    this.pause();
    this.write();
    this.changed();
  }

  private playEvents(): void {
    const { flow } = this;
    if (this.clock >= flow!.end) this.clock = 0;
    let last = performance.now();
    const tick = (time: number) => {
      if (!this.playing || this.flow !== flow) return;
      const perSecond = flow!.end / 12 * Math.min(8, 2 ** (this.speed - 6));
      this.clock = Math.min(flow!.end, this.clock + (Math.max(0, time - last) / 1000) * perSecond);
      last = time;
      if (this.clock >= flow!.end) this.playing = false;
      this.changed();
      if (this.playing) requestAnimationFrame(tick); else this.write();
    };
    requestAnimationFrame(tick);
  }

  private async playInteractions(): Promise<void> {
    while (this.playing && !this.isAtEnd) {
      if (speeds[this.speed] === Infinity) await this.playAtFullSpeed(); else await this.playByTheClock();
    }
  }

  private get isAtEnd(): boolean {
    const look = this.frame!.look;
    return look.over || (look.next !== undefined && look.next.number > longest);
  }

  // The engine goes on while the page draws what it has just told.
  private async playAtFullSpeed(): Promise<void> {
    const hurry = () => this.engine.hurry(14, longest, this.run.view);
    let next = hurry();
    let last = performance.now();
    for (let goes = true; goes;) {
      const frame = await next;
      goes = this.playing && speeds[this.speed] === Infinity && !frame.look.over && !(frame.look.next && frame.look.next.number > longest);
      if (goes) next = hurry();
      last = this.measure(Number(frame.look.now) - this.now, last);
      this.take(frame);
    }
  }

  // The engine follows the clock.
  private async playByTheClock(): Promise<void> {
    let owed = 0;
    let last = performance.now();
    while (this.playing && !this.isAtEnd && speeds[this.speed] !== Infinity) {
      const speed = speeds[this.speed]!;
      await new Promise((resolve) => { requestAnimationFrame(resolve); });
      owed = Math.min(owed + (speed * (performance.now() - last)) / 1000, speed);
      const whole = Math.floor(owed);
      const target = this.now + whole;
      const agents = whole === 1 ? this.frame!.look.next?.agents : null;
      if (whole === 0) { last = performance.now(); continue; }
      owed -= whole;
      const frame = await this.engine.hurry(40, target, this.run.view);
      this.previous = whole === 1 ? this.frame : null;
      last = this.measure(Number(frame.look.now) - this.now, last);
      this.take({ ...frame, change: agents ? { number: target, agents } : null });
    }
  }

  private measure(interactions: number, last: number): number {
    const now = performance.now();
    if (interactions > 0) this.rate = this.rate * 0.8 + (interactions / Math.max((now - last) / 1000, 1e-3)) * 0.2;
    return now;
  }

  // An attack is a further word of the run: a fault that strikes at the present interaction.
  async attack(what: string): Promise<void> {
    this.pause();
    await this.turn;
    const fault = `${what}@${timeOf(this.now, this.frame!.look.n)}`;
    await this.show({ ...this.run, words: [...this.run.words, ["fault", fault]], at: String(this.now) });
  }

  async removeFault(index: number): Promise<void> {
    let i = -1;
    const words = this.run.words.filter(([name]) => name !== "fault" || ++i !== index);
    await this.show({ ...this.run, words, at: "" });
  }

  // Further trials, run to their ends beside the one that is watched; 0: none.
  async overlay(trials: number): Promise<void> {
    this.run = { ...this.run, overlay: trials };
    this.others = [];
    this.write();
    this.changed();
    this.second?.stop();
    if (trials === 0) return;
    const helper = await this.helper();
    const { run } = this;
    for (let i = 1; i <= trials && this.run.overlay > 0; ++i) {
      try {
        const series = await helper.series(wordsOf(run), this.content, i);
        if (this.run.overlay === 0 || this.run.words !== run.words) return;
        this.others = [...this.others, series];
        this.changed();
      } catch { return; }
    }
  }

  // The row and the trace of the trial, as the command line writes them; it is run to its end.
  async results(): Promise<{ row: string; trace: string }> {
    const helper = await this.helper();
    return helper.results(wordsOf(this.run), this.content);
  }

  private async helper(): Promise<Client> {
    this.second?.stop();
    const helper = this.second = client();
    await helper.load(this.module!.slice(0));
    return helper;
  }

  async follow(hash: string): Promise<void> { await this.show(runOfAddress(hash) ?? runOfAddress(first)!); }
}

// About one unit of parallel time a second, and never so slow that small populations crawl.
const speedFor = ({ n, population }: Look) => (population ? speeds.findIndex((each) => each >= Math.max(1000, n)) : 6);

const contentOf = (run: Run) => run.text || examples.find((each) => each.name === run.protocol)?.content || "";
