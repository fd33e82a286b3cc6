// The measurements, the row and the trace as files, and the command that repeats the trial.
import { html, nothing } from "lit";
import type { Player } from "./player";
import { commandOf } from "./words";

export function measured(player: Player) {
  const look = player.frame?.look;
  if (!look) return nothing;
  return html`<dl class="vars">${Object.entries(look.observables).filter(([, text]) => text !== "").map(([name, text]) => html`<dt>${breakable(name)}</dt><dd>${text}</dd>`)}<dt>engine</dt><dd>${look.engine}</dd><dt>initial configuration</dt><dd>${look.start}</dd></dl>
    <div class="row below"><button @click=${() => download(player, "row")}>Row</button><button @click=${() => download(player, "trace")}>Trace</button></div>`;
}

// A name such as leaders_after_tournament goes on in a new line after an underscore.
const breakable = (name: string) => name.split("_").map((part, i) => i === 0 ? part : html`_<wbr>${part}`);

async function download(player: Player, which: "row" | "trace") {
  const results = await player.results();
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([which === "row" ? `${results.row}\n` : results.trace]));
  link.download = which === "row" ? `${player.run.protocol}.jsonl` : `${player.run.protocol}.csv`;
  link.click();
  URL.revokeObjectURL(link.href);
}

export function command(player: Player) {
  const text = commandOf(player.run, player.frame?.look.options ?? []);
  return html`<h2>The same trial on the command line</h2><pre class="command" tabindex="0">${text}</pre>
    <div class="row below"><button @click=${() => navigator.clipboard.writeText(text)}>Copy command</button><button @click=${() => { player.write(); return navigator.clipboard.writeText(location.href); }}>Copy link</button></div>`;
}

export function overlays(player: Player) {
  const { overlay } = player.run;
  return html`<div class="row"><button @click=${() => player.overlay(overlay >= 20 ? 0 : Math.max(5, overlay * 2))}>More trials</button>
    ${overlay > 0 ? html`<button @click=${() => player.overlay(0)}>Only this one</button><span class="soft small">${player.others.length} of ${overlay} beside it</span>` : nothing}</div>`;
}
