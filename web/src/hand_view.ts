// The adversary by hand: the messages under way, of which one is let arrive.
import { html, nothing } from "lit";
import { nextOnEdges } from "./draw/space_time";
import { begunByHand, choices, endedByHand, mostChoices } from "./hand";
import type { Player } from "./player";

const mostListed = 60;

export function hand(player: Player) {
  if (!player.about?.delays?.length) return nothing;
  return html`<section class="card" aria-label="Adversary"><h2>Be the adversary</h2>${player.isByHand ? choosing(player) : invitation(player)}</section>`;
}

function invitation(player: Player) {
  return html`<p class="small soft">All nodes that are woken at time 0 have sent their first messages. Decide one by one which message arrives next.</p>
    <div class="row"><button @click=${() => player.show(begunByHand(player.run))}>Choose by hand</button></div>`;
}

function choosing(player: Player) {
  const made = choices(player.run).length;
  const waiting = player.flow ? nextOnEdges(player.flow, player.clock) : [];
  const buttons = html`<div class="row">
    <button ?disabled=${made === 0} @click=${() => player.takeBack()}>Take back</button>
    ${player.isChoosing ? html`<button ?disabled=${waiting.length === 0} @click=${() => player.setClock(player.flow!.end)}>Let the rest arrive</button>` : html`<button @click=${() => player.restart()}>Back to the choice</button>`}
    <button @click=${() => player.show(endedByHand(player.run))}>Stop choosing</button></div>`;
  if (!player.isChoosing) return html`<p class="small soft">Messages that were not chosen take a whole unit each: this is how the trial continues by itself.</p>${buttons}`;
  if (waiting.length === 0) return html`<p class="small">No message is under way: the trial is over. ${player.frame!.look.converged ? "One node is elected, and all know it." : `Elected: ${player.frame!.look.leaders}.`}</p>${buttons}`;
  return html`<p class="small soft">${made} chosen, ${waiting.length} can arrive next: click one here or in the picture. On an edge the oldest comes first.</p>
    <ul class="chips parcels">${waiting.slice(0, mostListed).map((each) => html`<li><button ?disabled=${made >= mostChoices} @click=${() => player.choose(each.from!, each.node)}>${each.from} → ${each.node} <span class="soft">${each.message}</span></button></li>`)}</ul>
    ${waiting.length > mostListed ? html`<p class="small soft">and ${waiting.length - mostListed} more, in the picture</p>` : nothing}${buttons}`;
}
