// The words of a run as a form: protocol, size, parameters, start, seed, engine, graph, adversary.
import { html, nothing, type TemplateResult } from "lit";
import { guard } from "lit/directives/guard.js";
import type { Named } from "./engine";
import { examples } from "./examples";
import { isByHand } from "./hand";
import type { Player } from "./player";
import { emptyRun, param, value, withParam, withValue, type Run } from "./words";

// Sizes that show something at once; other protocols get 100 agents or 16 nodes, protocol files 400.
const sizes: Record<string, string> = {
  pll: "1000", "pll-sym": "400", ppl: "200", timers: "200", "ag-minions": "400", prl: "40", "fischer-jiang": "24", coalescence: "64",
  electleader: "64", "propagate-reset": "200", "assign-ranks": "64", "detect-collision": "64", ciw: "16", "optimal-silent": "32",
  flooding: "12", "chang-roberts": "12", "hirschberg-sinclair": "12", peterson: "12", "itai-rodeh": "12", "sublinear-sync": "32", "raft-election": "5",
};
const starts: Record<string, string> = { prl: "random", "fischer-jiang": "random", ppl: "all-leaders", electleader: "same" };
const graphs: Record<string, string> = { coalescence: "grid:8x8", "flood-max": "grid:4x4" };
const defaults: Record<string, string> = { delay: "unit", wakeup: "all", ids: "unique", engine: "auto" };
const anyEngine: Named[] = [{ name: "agents", meaning: "" }, { name: "events", meaning: "" }, { name: "counts", meaning: "" }];

// A run of a protocol that was just chosen.
export function freshRun(player: Player, protocol: string): Run {
  const about = player.list.find((each) => each.name === protocol);
  const own = examples.some((each) => each.name === protocol);
  const run = emptyRun(protocol);
  run.words.push(["n", sizes[protocol] ?? (own ? "400" : about?.messages ? "16" : "100")]);
  if (own || (about && !about.delays && !about.messages)) run.words.push(["engine", "agents"]);
  if (graphs[protocol]) run.words.push(["graph", graphs[protocol]]);
  if (protocol === "electleader") run.words.push(["param", "r=16"]);
  if (starts[protocol]) run.words.push(["init", starts[protocol]]);
  run.words.push(["seed", "1"]);
  return run;
}

// `chosen` is called with the protocol that the user picks.
export function setup(player: Player, chosen: (protocol: string) => unknown) {
  return guard([player.run, player.list, player.about, player.isNetwork], () => form(player, chosen));
}

function form(player: Player, chosen: (protocol: string) => unknown): TemplateResult {
  const { about, run } = player;
  const network = about?.network ?? "graph";
  return html`
    <label for="protocol">Protocol</label>
    <select id="protocol" @change=${(event: Event) => chosen((event.target as HTMLSelectElement).value)}>
      <optgroup label="Catalog">${player.list.map((each) => html`<option value=${each.name} ?selected=${each.name === run.protocol}>${each.name}</option>`)}</optgroup>
      <optgroup label="Protocol files">${examples.map((each) => html`<option value=${each.name} ?selected=${each.name === run.protocol && !run.text}>${each.name}</option>`)}
      ${run.text ? html`<option value=${run.protocol} selected>${run.protocol} (yours)</option>` : nothing}</optgroup>
    </select>
    <p class="small soft">${about?.title ?? ""}</p>
    <div class="fields">
      ${field(player, "n", player.isNetwork ? "n: nodes" : "n: agents")}
      ${field(player, "seed", "Seed", "", "1")}
      ${choice(player, "init", about?.init ?? [], "Initial configuration")}
      ${choice(player, "engine", about?.delays ? [] : [{ name: "auto", meaning: "chosen by size" }, ...(about?.engines ?? anyEngine)], "Engine")}
      ${choice(player, "delay", delays(player), "Delays")}${choice(player, "wakeup", about?.wakeups ?? [], "Wake-ups")}${choice(player, "ids", about?.ids ?? [], "Identifiers")}
      ${about?.any_graph || player.content || /--graph|any/.test(network) ? graph(player) : nothing}
      ${run.protocol === "electleader" ? slider(player) : nothing}
    </div>
    ${about && about.parameters.length > 0 ? html`<details><summary>Parameters</summary><div class="fields">${about.parameters.map((each) => html`
      ${input(`param-${each.name}`, `${each.name}: ${each.meaning}`, param(run, each.name), (text) => player.show(withParam(run, each.name, text)), each.default)}`)}</div></details>` : nothing}
    ${about?.paper ? html`<details><summary>About</summary><p class="small">${about.paper}</p><p class="small soft">Converged: ${about.convergence}. ${about.bound ? `Bound: ${about.bound}.` : ""}</p></details>` : nothing}`;
}

// The adversaries of the catalog, and the order that was chosen by hand, where one was.
function delays({ about, run }: Player): Named[] {
  const all = about?.delays ?? [];
  return all.length > 0 && isByHand(run) ? [...all, { name: value(run, "delay"), meaning: "chosen by hand" }] : all;
}

function choice(player: Player, option: string, items: Named[], label: string) {
  if (items.length < 2) return nothing;
  const now = value(player.run, option) || (defaults[option] ?? items[0]!.name);
  return html`<label>${label}<select @change=${(event: Event) => player.show(withValue(player.run, option, (event.target as HTMLSelectElement).value))}>
    ${items.map((item) => html`<option value=${item.name} title=${item.meaning} ?selected=${now === item.name}>${item.name.startsWith("order:") ? "by hand" : item.name}</option>`)}
  </select></label>`;
}

// The graph by its name on the command line, with some of them to choose from.
function graph(player: Player) {
  return html`${field(player, "graph", "Graph", player.about?.graph ?? "complete", "", "graphs")}
    <datalist id="graphs">${["complete", "ring", "undirected-ring", "grid:8x8", "regular:3", "gnp:0.1"].map((each) => html`<option value=${each}></option>`)}</datalist>`;
}

const field = (player: Player, option: string, label: string, hint = "", usual = "", list = "") =>
  input(option, label, value(player.run, option) || usual, (text) => player.show(withValue(player.run, option, text)), hint, list);

function input(id: string, label: string, text: string, change: (text: string) => unknown, hint: string, list = "") {
  return html`<label for=${id}>${label}</label><input id=${id} type="text" autocomplete="off" spellcheck="false" .value=${text} placeholder=${hint} list=${list || nothing}
    @change=${(event: Event) => change((event.target as HTMLInputElement).value.trim())} />`;
}

function slider(player: Player) {
  const n = Number(value(player.run, "n")) || 64;
  const r = Number(param(player.run, "r")) || 1;
  return html`<label>r = ${r}: memory against time
    <input type="range" min="1" max=${Math.floor(n / 2)} .value=${String(r)} @change=${(event: Event) => player.show(withParam(player.run, "r", (event.target as HTMLInputElement).value))} /></label>`;
}
