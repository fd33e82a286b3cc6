// The editor for protocol files, which are checked by the engine as one types. Beside the lines stand
// their numbers: the place of a mistake is marked there, and the rule that decided the last
// interaction where this text is the one that runs.
import { html, nothing } from "lit";
import { examples } from "./examples";
import type { Player } from "./player";
import { highlighted, languageHelp } from "./highlight";
import { firedLines } from "./steps_view";
import { emptyRun, type Run } from "./words";

export class Editor {
  private draft = "";
  private verdict = "";

  constructor(private readonly player: Player, private readonly changed: () => void, private readonly run: (run: Run) => void) {}

  private async check(text: string) {
    this.draft = text;
    try {
      const described = await this.player.engine.describe("mine.pp", text);
      this.verdict = `ok: ${described.states} states${described.warnings?.length ? `; ${described.warnings[0]}` : ""}`;
    } catch (error) {
      this.verdict = (error as Error).message;
    }
    this.changed();
  }

  view(root: HTMLElement) {
    if (!this.draft) void this.check(examples.find((each) => each.name === "fratricide.pp")!.content);
    const place = /:(\d+):(\d+):/.exec(this.verdict);
    return html`<div class="desk editor">
      <section class="card"><label for="text">Write a protocol; it is checked as you type</label>
        <div class="numbered"><div class="numbers" aria-hidden="true"><ol>${this.numbers(place ? Number(place[1]) : 0)}</ol></div>
          <div class="layers"><pre class="shade" aria-hidden="true">${highlighted(`${this.draft}\n`)}</pre><textarea id="text" spellcheck="false" wrap="off" aria-invalid=${place ? "true" : "false"} aria-describedby="verdict" .value=${this.draft} @scroll=${scrollAlong} @input=${(event: Event) => this.check((event.target as HTMLTextAreaElement).value)}></textarea></div></div>
        <p id="verdict" class=${this.verdict.startsWith("ok") ? "right mono" : "wrong mono"} role="status">${this.verdict}</p>
        <div class="row"><button class="main" ?disabled=${!this.verdict.startsWith("ok")} @click=${() => this.run(this.ownRun())}>Run it</button>
        ${this.player.content === this.draft && firedLines(this.player).length > 0 ? html`<span class="small soft">marked: the rule of the last interaction</span>` : nothing}
        ${place ? html`<button @click=${() => this.jump(root, Number(place[1]), Number(place[2]))}>Go to line ${place[1]}</button>` : nothing}</div></section>
      <div class="stack"><section class="card"><h2>Examples</h2><ul class="chips">${examples.map((each) => html`<li><button @click=${() => this.check(each.content)}>${each.name}</button></li>`)}</ul></section>
      <section class="card" aria-label="Language"><h2>The language in brief</h2>${languageHelp()}</section></div></div>`;
  }

  private numbers(wrong: number) {
    const fired = this.player.content === this.draft ? firedLines(this.player) : [];
    return this.draft.split("\n").map((_, i) => html`<li class=${i + 1 === wrong ? "bad" : fired.includes(i + 1) ? "ran" : ""}>${i + 1}</li>`);
  }

  // Shows the text of a run.
  edit(content: string): void { void this.check(content); }

  private jump(root: HTMLElement, line: number, column: number) {
    const area = root.querySelector<HTMLTextAreaElement>("#text")!;
    const start = this.draft.split("\n").slice(0, line - 1).reduce((sum, each) => sum + each.length + 1, 0) + column - 1;
    area.focus();
    area.setSelectionRange(start, start + 1);
  }

  private ownRun(): Run {
    const run = emptyRun("mine.pp");
    run.words.push(["n", "200"], ["engine", "agents"], ["seed", "1"]);
    return { ...run, text: this.draft };
  }
}

// Line numbers and colours follow the text.
function scrollAlong(event: Event): void {
  const area = event.target as HTMLTextAreaElement;
  const shade = area.previousElementSibling as HTMLElement;
  shade.style.transform = `translate(${-area.scrollLeft}px, ${-area.scrollTop}px)`;
  area.closest(".numbered")!.querySelector("ol")!.style.transform = `translateY(${-area.scrollTop}px)`;
}
