// Play, pause, steps, the time line, the speed, and where the trial stands.
import { html, nothing } from "lit";
import { short } from "./draw/shapes";
import { fineText, wholeText } from "./names";
import { speeds, type Player } from "./player";

export function transport(player: Player) {
  const network = player.isNetwork;
  return html`
    <div class="row" role="group" aria-label="Play">
      <button @click=${() => player.restart()} aria-label="To the start"><svg viewBox="0 0 16 16" width="14" height="14" aria-hidden="true"><path d="M3 2v12M13 2.5 5.5 8l7.5 5.5z" fill="currentColor" stroke="currentColor" stroke-width="2" stroke-linejoin="round" /></svg></button>
      <button @click=${() => player.back()} aria-label="One back">◀</button>
      <button class="main" @click=${() => player.play()} ?disabled=${!player.frame}>${player.playing ? "❚❚ Pause" : "▶ Play"}</button>
      <button @click=${() => player.step()} title=${network ? "Next event" : "One interaction"}>step</button>
      ${network ? nothing : html`<button @click=${() => player.nextChange()}>next change</button>`}
      <input class="goto" type="text" inputmode="decimal" autocomplete="off" aria-label="Go to this time" placeholder="go to time" @change=${(event: Event) => { const field = event.target as HTMLInputElement; void player.goToTime(field.value); field.value = ""; }} />
    </div>
    ${timeline(player)}
    <div class="speed"><label for="speed">Speed</label>
      <input id="speed" type="range" min="0" max=${speeds.length - 1} .value=${String(player.speed)} @input=${(event: Event) => player.setSpeed(Number((event.target as HTMLInputElement).value))} />
      <output>${speedText(player)}</output></div>
    ${status(player)}`;
}

function timeline(player: Player) {
  const most = Math.max(1, player.furthest);
  const place = (event: Event) => Number((event.target as HTMLInputElement).value);
  const marks = (player.frame?.look.faults ?? []).filter((each) => each.at <= most);
  return html`<div class="timeline">
    ${player.isNetwork
      ? html`<input type="range" aria-label="Time" min="0" max=${player.flow?.end ?? 1} step="any" .value=${String(player.clock)} @input=${(event: Event) => player.setClock(place(event))} />`
      : html`<input type="range" aria-label="Interactions" min="0" max=${most} .value=${String(player.now)} @input=${(event: Event) => { player.pause(); void player.goTo(place(event)); }} />`}
    ${marks.map((each) => html`<span class="mark" style=${`left:${(each.at / most) * 100}%`} title=${each.text}></span>`)}
  </div>`;
}

function speedText(player: Player): string {
  if (player.isNetwork) return `× ${Math.min(8, 2 ** (player.speed - 6))}`;
  const speed = speeds[player.speed]!;
  if (speed !== Infinity) return `${short(speed)} a second`;
  return `as fast as it goes${player.rate && player.playing ? `: ${short(Math.round(player.rate))}/s` : ""}`;
}

function status(player: Player) {
  const look = player.frame?.look;
  if (!look) return html`<div class="status" aria-live="off">loading the engine</div>`;
  const network = player.isNetwork;
  return html`<div class="status" aria-live="off">
    ${network ? html`<span>time <b>${player.clock.toFixed(3)}</b></span><span>messages in all <b>${look.now}</b></span>` : html`<span>interactions <b>${wholeText(Number(look.now))}</b></span><span>parallel time <b>${fineText(look.time)}</b></span>`}
    ${player.isLeaderless ? nothing : html`<span>${network ? "elected in the end" : "leaders"} <b>${wholeText(look.leaders)}</b></span>`}
    <span class=${look.converged ? "badge done" : "badge"}>${network ? (look.converged ? "elects" : "elects nobody") : look.converged ? "converged" : look.over ? "can never converge" : "not converged yet"}</span></div>`;
}
