// The explorer as an element: which page is shown, keys and addresses. The player knows the trial,
// the picture draws it, and the views turn both into a page.
import { LitElement, html, nothing } from "lit";
import "./style.css";
import { inspector, legend, tip } from "./agents_view";
import { attacks, type Tool } from "./attack_view";
import { hand } from "./hand_view";
import { lessonList, tour, type Tour } from "./lessons_view";
import { Editor } from "./own_view";
import { Picture } from "./picture";
import { first, Player } from "./player";
import { command, measured, overlays } from "./results_view";
import { freshRun, setup } from "./setup_view";
import { pseudocode } from "./steps_view";
import { Sweep } from "./sweep_view";
import { transport } from "./time_view";
import { Traces } from "./traces_view";
import { addressOf, runOfAddress, type Run } from "./words";

class App extends LitElement {
  private player = new Player(() => this.requestUpdate());
  private picture = new Picture(this.player);
  private editor = new Editor(this.player, () => this.requestUpdate(), (run) => this.begin(run));
  private traces = new Traces(() => this.requestUpdate());
  private sweep = new Sweep(this.player, () => this.requestUpdate());
  private page = "run";
  private tool: Tool = "look";
  private hovered = -1;
  private picked = -1;
  private lesson: Tour | null = null;

  override createRenderRoot() { return this; }

  override async connectedCallback() {
    super.connectedCallback();
    document.documentElement.dataset.theme = localStorage.getItem("theme") ?? (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light");
    // The address that was asked for: a run that begins at this moment may have written its own since.
    addEventListener("hashchange", (event) => {
      const { hash } = new URL(event.newURL);
      if (hash !== this.player.wanted || this.page !== "run") void this.follow(hash);
    });
    addEventListener("resize", () => this.draw());
    addEventListener("keydown", (event) => this.key(event));
    try {
      await this.player.load();
    } catch (error) {
      this.player.fail(error);
      return;
    }
    const { player } = this;
    player.isShown = () => this.page === "run";
    Object.assign(window, { conclave: { row: async () => (await player.results()).row, run: () => player.run, frame: () => player.frame, flow: () => player.flow, isSettled: () => player.opening === 0 && !this.isUpdatePending, protocols: () => player.list.map((each) => each.name) } });
    const asksForNothing = !location.hash;
    await this.follow(location.hash || first);
    if (asksForNothing && !matchMedia("(prefers-reduced-motion: reduce)").matches) void player.play();
  }

  // Shows what an address asks for.
  private async follow(hash: string) {
    this.player.pause();
    const page = /^#(lessons|own|traces)\b/.exec(hash)?.[1];
    this.page = page ?? "run";
    this.requestUpdate();
    if (page && location.hash !== hash) history.replaceState(null, "", hash);
    if (page === "traces") await this.traces.follow(hash);
    if (!page) await this.show(runOfAddress(hash) ?? runOfAddress(first)!);
  }

  private async show(run: Run) {
    this.picked = -1;
    await this.player.show(run);
  }

  // A run that is no part of the lesson.
  private begin(run: Run) {
    this.page = "run";
    this.lesson = null;
    void this.show(run);
  }

  private take(lesson: Tour | null) {
    this.lesson = lesson;
    this.page = "run";
    if (lesson) void this.show(runOfAddress(lesson.of.steps[lesson.step]!.address)!);
    this.requestUpdate();
  }

  private key(event: KeyboardEvent) {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (/^(INPUT|TEXTAREA|SELECT|BUTTON|A|SUMMARY)$/.test((event.target as Element).tagName)) return;
    const { player } = this;
    const does: Record<string, () => unknown> = {
      " ": () => player.play(), ArrowRight: () => player.step(), ArrowLeft: () => player.back(), n: () => player.nextChange(), r: () => player.restart(),
    };
    if (this.page === "traces" && this.traces.key(event.key)) event.preventDefault();
    const what = does[event.key];
    if (!what || this.page !== "run") return;
    event.preventDefault();
    void what();
  }

  override updated() {
    this.draw();
    scrollToExecuted(this);
  }

  private draw() {
    if (this.page === "run") { this.picture.draw(this); this.sweep.draw(this); }
    if (this.page === "traces") this.traces.draw(this);
  }

  // Clicks and the pointer on the picture.

  private async touch(event: MouseEvent) {
    const { player, picture } = this;
    const parcel = player.isChoosing ? picture.parcelAt(event) : undefined;
    if (parcel) return player.choose(parcel.from, parcel.to);
    const agent = player.isNetwork ? -1 : picture.agentAt(event);
    if (agent < 0) return;
    if (this.tool === "corrupt") await player.attack(`corrupt:#${agent}`);
    else if (this.tool === "crown") await player.attack(`make-leaders:#${agent}`);
    else this.picked = agent;
    this.requestUpdate();
  }

  private hover(event: MouseEvent) {
    const canvas = event.currentTarget as HTMLElement;
    if (this.player.isNetwork) canvas.style.cursor = this.player.isChoosing && this.picture.parcelAt(event) ? "pointer" : "";
    const agent = this.player.isNetwork ? -1 : this.picture.agentAt(event);
    if (agent !== this.hovered) this.point(agent);
  }

  // Shows the variables of an agent as the pointer does; -1: of none.
  point(agent: number) { this.hovered = agent; this.requestUpdate(); }

  // The parts of the page.

  override render() {
    const tab = (page: string, hash: string, text: string) => html`<a href=${hash} aria-current=${this.page === page ? "page" : "false"} @click=${(event: Event) => { event.preventDefault(); location.hash = hash; }}>${text}</a>`;
    return html`
      <header class="top">
        <h1>conclave explorer</h1>
        <span class="soft small">leader election, on the real engines, in your browser</span>
        <nav aria-label="Pages">${tab("run", addressOf(this.player.run), "Explore")}${tab("lessons", "#lessons", "Lessons")}${tab("own", "#own", "Your own")}${tab("traces", "#traces", "Traces")}
          <button @click=${this.toggleTheme} aria-label="Switch between light and dark">◐</button></nav>
      </header>
      <main>
        ${this.player.error ? html`<p class="error" role="alert">${this.player.error}</p>` : nothing}
        ${this.page === "lessons" ? lessonList((to) => this.take(to)) : this.page === "own" ? this.editor.view(this) : this.page === "traces" ? this.traces.view() : this.desk()}
      </main>
      ${this.page === "run" ? html`<footer>Every picture shows the state of the engine; the command below it repeats the trial bit for bit.</footer>` : nothing}`;
  }

  private toggleTheme() {
    const next = document.documentElement.dataset.theme === "dark" ? "light" : "dark";
    document.documentElement.dataset.theme = next;
    localStorage.setItem("theme", next);
    this.requestUpdate();
  }

  private desk() {
    const { player, picture } = this;
    const update = () => this.requestUpdate();
    return html`
      ${this.lesson ? tour(this.lesson, (to) => this.take(to)) : nothing}
      <div class="desk">
        <section class="card setup" aria-label="Setup">${setup(player, (protocol) => this.begin(freshRun(player, protocol)))}</section>
        <div class="stack">
          <section class="card stage" aria-label="Picture">
            <canvas role="img" aria-label=${this.summary} @click=${this.touch} @mousemove=${this.hover} @mouseleave=${() => { this.hovered = -1; update(); }}></canvas>
            ${tip(player, picture, this.hovered, this.querySelector("canvas")?.clientWidth ?? 0)}${legend(player, picture)}
          </section>
          <section class="card transport" aria-label="Time">${transport(player)}</section>
          <section class="card" aria-label="Command">${command(player)}</section>
          ${this.sweep.view()}
        </div>
        <div class="stack">
          <section class="card" aria-label="Chart" ?hidden=${player.isNetwork}><h2>${player.isLeaderless ? "Over time" : "Leaders over time"}</h2><div class="chart"></div>${overlays(player)}</section>
          ${player.isNetwork ? hand(player) : html`
            <section class="card" aria-label="Agent"><h2>${this.picked >= 0 ? `Agent ${this.picked}` : "Last interaction"}</h2>${inspector(player, this.picked, () => { this.picked = -1; update(); })}</section>
            <section class="card" aria-label="Attack"><h2>Attack</h2>${attacks(player, this.tool, (tool) => { this.tool = tool; update(); })}</section>`}
          ${pseudocode(player, (content) => { this.editor.edit(content); location.hash = "#own"; })}
          <section class="card" aria-label="Measured"><h2>Measured</h2>${measured(player)}</section>
        </div>
      </div>`;
  }

  private get summary(): string {
    const look = this.player.frame?.look;
    if (!look) return "The engine is being loaded";
    if (!look.population) return `Space-time diagram of ${look.n} nodes up to time ${this.player.clock.toFixed(2)}; ${look.leaders} elected`;
    if (this.player.isLeaderless) return `${look.n} agents after ${look.now} interactions`;
    return `${look.n} agents, ${look.leaders} leaders, after ${look.now} interactions`;
  }
}

// The first executed line of the pseudocode is in sight; the list scrolls, the page does not.
function scrollToExecuted(root: HTMLElement): void {
  const line = root.querySelector<HTMLElement>("dl.code .ran");
  const list = line?.closest<HTMLElement>("dl.code");
  if (!line || !list) return;
  const top = line.getBoundingClientRect().top - list.getBoundingClientRect().top;
  if (top < 0 || top + line.offsetHeight > list.clientHeight) list.scrollTop += top - list.clientHeight / 3;
}

customElements.define("conclave-app", App);
