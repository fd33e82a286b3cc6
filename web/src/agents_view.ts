// Agents in words: what the colours mean, the variables of one agent by the paper's names, and what
// the last interaction changed.
import { html, nothing, type TemplateResult } from "lit";
import { short } from "./draw/shapes";
import { meaning, named } from "./names";
import { colours, messageColour } from "./palette";
import type { Picture } from "./picture";
import type { Player } from "./player";
import { executedList } from "./steps_view";

const dot = (colour: string, text: string) => html`<span><i style=${`background:${colour}`}></i>${text}</span>`;

export function legend(player: Player, picture: Picture) {
  const { frame, flow, run } = player;
  if (!frame) return nothing;
  if (player.isNetwork) {
    return html`<div class="legend">${flow?.kinds.map((kind) => dot(messageColour(kind, "var(--ink)"), kind))}<span>circles: phases</span></div>`;
  }
  const { paint } = picture;
  const column = frame.columns[paint.column - 1];
  const colour = colours(paint.values);
  const few = paint.values.length <= 8;
  const isCounted = !frame.table || frame.table.counts;
  return html`<div class="legend"><label class="inline">Colour <select @change=${(event: Event) => player.colourBy((event.target as HTMLSelectElement).value)}>
      <option value="" ?selected=${run.view === ""}>output</option>${frame.columns.map((each) => html`<option value=${each.name} ?selected=${each.name === run.view}>${each.name}</option>`)}</select></label>
    ${paint.column === 0 && !player.isLeaderless ? html`${dot("var(--leader)", "leader")}${dot("var(--follower)", "follower")}`
      : paint.column === 0 ? nothing : few ? paint.values.map((v) => dot(colour(v), named(player.about, column, v)))
      : html`${dot(colour(paint.values[0]!), short(paint.values[0]!))}${dot(colour(paint.values.at(-1)!), short(paint.values.at(-1)!))}`}
    ${player.isRing && run.protocol === "prl" ? html`<span>▲ live bullet</span><span>△ dummy</span><span>■ signal</span><span>ring: shield</span><span>spokes: distL</span>` : nothing}
    ${player.isRing && run.protocol === "fischer-jiang" ? html`<span>▲ bullet</span><span>ring: shield</span>` : nothing}
    ${isCounted && paint.column !== 0 && !player.isLeaderless ? dot("var(--ink)", "leaders among them") : nothing}
    ${isCounted ? html`<span>a bar per value: engine ${frame.look.engine} does not distinguish agents</span>` : nothing}</div>`;
}

export function variables(player: Player, agent: number): TemplateResult {
  const { table, columns } = player.frame!;
  const width = 1 + columns.length;
  return html`<dl class="vars">
    <dt>output</dt><dd>${table!.values[agent * width] === 1 ? "leader" : "follower"}</dd>
    ${columns.map((column, i) => {
      const now = table!.values[agent * width + 1 + i]!;
      const was = valueBefore(player, agent, i) ?? now;
      return html`<dt title=${meaning(player.about, column)}>${column.name}</dt><dd class=${was === now ? "" : "changed"}>${was === now ? nothing : html`<span class="was">${named(player.about, column, was)}</span>`}${named(player.about, column, now)}</dd>`;
    })}
  </dl>`;
}

function valueBefore({ frame, previous }: Player, agent: number, column: number): number | undefined {
  if (previous?.table?.rows !== frame!.table!.rows) return undefined;
  return previous.table.values[agent * (1 + frame!.columns.length) + 1 + column];
}

// "status X → A: which part the agent plays", for every variable of the agent that changed.
function changes(player: Player, agent: number): TemplateResult[] {
  const { table, columns } = player.frame!;
  return columns.flatMap((column, i) => {
    const now = table!.values[agent * (1 + columns.length) + 1 + i]!;
    const was = valueBefore(player, agent, i);
    if (was === undefined || was === now) return [];
    const told = meaning(player.about, column);
    return [html`<li><b>${column.name}</b> ${named(player.about, column, was)} → ${named(player.about, column, now)}${told ? html` <span class="soft">${told}</span>` : nothing}</li>`];
  });
}

export function inspector(player: Player, picked: number, close: () => void) {
  const { frame } = player;
  if (!frame?.table || frame.table.counts) return html`<p class="small soft">This engine counts agents by state and does not distinguish them.</p>`;
  if (picked >= 0) return html`${variables(player, picked)}<div class="row"><button @click=${close}>Close</button></div>`;
  const met = frame.change?.agents;
  if (!met) return html`<p class="small soft">Step through single interactions to see who interacted and what changed. Click an agent to keep its variables here.</p>`;
  const part = (name: string, agent: number) => {
    const all = changes(player, agent);
    return html`<p class="small">${name} <b>${agent}</b>${all.length === 0 ? html` <span class="soft">stays as it was</span>` : nothing}</p>${all.length > 0 ? html`<ul class="small changes">${all}</ul>` : nothing}`;
  };
  return html`${part("initiator", met[0])}${part("responder", met[1])}${executedList(player)}
    <details><summary>All their variables</summary><div class="row pair"><div><p class="small soft">initiator</p>${variables(player, met[0])}</div><div><p class="small soft">responder</p>${variables(player, met[1])}</div></div></details>`;
}

// Beside the agent under the pointer.
export function tip(player: Player, picture: Picture, agent: number, width: number) {
  const spot = picture.spots[agent];
  if (!spot || !player.frame?.table) return nothing;
  const met = player.frame.change?.agents?.includes(agent);
  const side = spot.x > width / 2 ? `right:${width - spot.x + 14}px` : `left:${spot.x + 14}px`;
  return html`<div class="tip" style=${`${side};top:${Math.max(4, spot.y - 10)}px`}><b>agent ${agent}</b>${variables(player, agent)}${met ? executedList(player) : nothing}</div>`;
}
