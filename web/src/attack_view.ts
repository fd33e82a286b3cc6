// Attacks on agents, and their consequences.
import { html, nothing } from "lit";
import { short } from "./draw/shapes";
import type { Player } from "./player";
import { values } from "./words";

// The effect of a click on an agent.
export type Tool = "look" | "corrupt" | "crown";

export function attacks(player: Player, tool: Tool, choose: (tool: Tool) => void) {
  const pick = (which: Tool, text: string) => html`<button aria-pressed=${tool === which} class=${tool === which ? "main" : ""} @click=${() => choose(which)}>${text}</button>`;
  return html`
    <p class="small soft">An attack strikes now; it becomes part of the command and of the link.</p>
    <div class="row">${player.isLeaderless ? nothing : html`<button @click=${() => player.attack("kill-leaders")}>Kill leaders</button>`}
      ${[10, 50, 100].map((percent) => html`<button @click=${() => player.attack(`corrupt:${percent}%`)}>Corrupt ${percent} %</button>`)}
      <input class="share" type="text" inputmode="decimal" autocomplete="off" aria-label="Corrupt this share of the agents, in percent" placeholder="… %" @change=${(event: Event) => { const field = event.target as HTMLInputElement; const share = field.value.replace("%", "").trim(); field.value = ""; if (share) void player.attack(`corrupt:${share}%`); }} />
      ${player.isLeaderless ? nothing : html`<button @click=${() => player.attack("make-leaders:3")}>Crown 3</button>`}</div>
    <p class="small soft" id="tools">A click on an agent</p><div class="row" role="group" aria-labelledby="tools">${pick("look", "shows it")}${pick("corrupt", "corrupts it")}${player.isLeaderless ? nothing : pick("crown", "crowns it")}</div>
    ${outcomes(player)}`;
}

function outcomes(player: Player) {
  const faults = values(player.run, "fault");
  if (faults.length === 0) return nothing;
  const seen = player.frame?.look.faults ?? [];
  return html`<ul class="small">${faults.map((fault, i) => {
    const outcome = seen.find((each) => each.text === fault);
    return html`<li><code>${fault}</code> ${!outcome ? "still to come" : outcome.recovered ? `hit ${outcome.agents}, recovered after ${short(outcome.recovery!)} interactions` : `hit ${outcome.agents}, not yet recovered`}
      <button aria-label=${`Remove ${fault}`} @click=${() => player.removeFault(i)}>×</button></li>`;
  })}</ul>`;
}
