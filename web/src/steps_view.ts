// The pseudocode, and which of its steps were executed last: lines of the paper for protocols of the
// catalog, rules for protocol files, handlers for message passing. The engine tells the lines.
import { html, nothing, type TemplateResult } from "lit";
import { latestEvents } from "./draw/space_time";
import type { NetworkEvent, Step } from "./engine";
import type { Player } from "./player";

// The steps of the last interaction, if the last thing that was done is a single one.
export function executed({ about, frame }: Player): Step[] {
  const lines = frame?.change ? frame.look.steps ?? [] : [];
  return (about?.steps ?? []).filter((step) => lines.includes(step.line));
}

// The lines of the protocol file that decided the last interaction.
export const firedLines = ({ frame }: Player): number[] => (frame?.change ? frame.look.steps ?? [] : []).map(Number);

const item = (step: Step) => html`<li><b>${step.line}</b> ${step.text}</li>`;

export function executedList(player: Player) {
  const steps = executed(player);
  return steps.length > 0 ? html`<ul class="small executed">${steps.map(item)}</ul>` : nothing;
}

// `edit` opens a protocol file in the editor.
export function pseudocode(player: Player, edit: (content: string) => void) {
  if (player.isNetwork) return handlers(player);
  if (player.content) return rules(player, edit);
  const { about } = player;
  if (!about?.steps?.length) return nothing;
  const ran = new Set(executed(player).map((step) => step.line));
  return card("Pseudocode", html`<p class="small soft">In our words, with the paper's lines. ${ran.size > 0 ? "Marked: executed by the last interaction." : "Step to see which lines an interaction executes."}</p>
    <dl class="code small" tabindex="0">${about.steps.map((step) => line(step.line, step.text, ran.has(step.line)))}</dl>`);
}

const card = (title: string, content: TemplateResult) => html`<section class="card" aria-label=${title}><h2>${title}</h2>${content}</section>`;

const line = (name: string, text: string | TemplateResult, ran: boolean) =>
  html`<div class=${ran ? "ran" : ""} aria-current=${ran ? "step" : "false"}><dt>${name}</dt><dd>${text}</dd></div>`;

function rules(player: Player, edit: (content: string) => void) {
  const fired = new Set(firedLines(player));
  const lines = player.content.trimEnd().split("\n");
  return card("Protocol file", html`<p class="small soft">${fired.size > 0 ? "Marked: the rule that decided the last interaction." : "Step to see which rule decides an interaction."}</p>
    <dl class="code text small" tabindex="0">${lines.map((each, i) => line(String(i + 1), html`<code>${each || " "}</code>`, fired.has(i + 1)))}</dl>
    <div class="row below"><button @click=${() => edit(player.content)}>Edit it</button></div>`);
}

// The handlers that the nodes ran at the time that is shown.
function handlers({ about, flow, clock }: Player) {
  if (!about?.steps?.length) return nothing;
  const latest = flow ? latestEvents(flow, clock) : [];
  const ran = new Set(latest.map(handlerOf));
  const most = 6;
  return card("What nodes do", html`${latest.length > 0 ? html`<ul class="small changes">${latest.slice(0, most).map((each) => html`<li>${happened(each)}</li>`)}</ul>${latest.length > most ? html`<p class="small soft">and ${latest.length - most} more at this time</p>` : nothing}` : html`<p class="small soft">Step to see which handlers run.</p>`}
    ${latest.length > 0 ? html`<ul class="small executed">${about.steps.filter((step) => ran.has(step.line)).map(item)}</ul>` : nothing}
    <details><summary>All that nodes do</summary><dl class="code wide small" tabindex="0">${about.steps.map((step) => line(step.line, step.text, ran.has(step.line)))}</dl></details>`);
}

const handlerOf = (event: NetworkEvent) => (event.event === "deliver" ? event.message! : event.event === "timeout" ? "timeout" : "wake-up");

const happened = ({ event, node, from, message }: NetworkEvent) =>
  (event === "deliver" ? html`node <b>${node}</b> gets ${message} from <b>${from}</b>`
    : event === "timeout" ? html`the timer of node <b>${node}</b> runs out` : html`node <b>${node}</b> is woken`);
