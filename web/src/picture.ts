// The canvas: chooses the kind of picture for what the player shows, keeps the places of agents
// and of messages under way, and finds those under the pointer.
import { Chart } from "./chart";
import { drawBars } from "./draw/bars";
import { drawField, FieldImage, fieldSpots } from "./draw/field";
import { drawGraph, graphSpots } from "./draw/graph";
import { drawRanks } from "./draw/ranks";
import { drawRing, ringSpots } from "./draw/ring";
import { drawMeeting, type Context, type Paint, type Scene, type Spot } from "./draw/shapes";
import { drawSpaceTime, type Parcel } from "./draw/space_time";
import { turn } from "./hand";
import { named } from "./names";
import { theme } from "./palette";
import type { Player } from "./player";
import { value } from "./words";

const chartPause = 120;  // milliseconds between two drawings of the chart while the trial plays

export class Picture {
  spots: Spot[] = [];
  parcels: Parcel[] = [];
  private placed = "";        // what the places were made for
  private field = new FieldImage();
  private chart: Chart | null = null;
  private charted = 0;

  constructor(private readonly player: Player) {}

  draw(root: HTMLElement): void {
    const { player } = this;
    const context = root.querySelector<HTMLCanvasElement>(".stage canvas")?.getContext("2d");
    if (!context || !player.frame) return;
    const scene = clean(context);
    this.parcels = [];
    if (!player.isNetwork) this.drawAgents(context, scene);
    else if (player.flow) this.parcels = drawSpaceTime(context, player.flow, player.frame.look.n, player.clock, scene, player.isChoosing ? turn : 0);
    this.drawChart(root.querySelector<HTMLElement>(".chart"), scene);
  }

  get paint(): Paint {
    const { run, frame, seen } = this.player;
    return { column: run.view ? 1 + frame!.columns.findIndex((each) => each.name === run.view) : 0, values: seen[run.view] ?? [] };
  }

  private drawAgents(context: Context, scene: Scene): void {
    const { player, paint } = this;
    const frame = player.frame!;
    if (!frame.table || frame.table.counts) {
      this.spots = [];
      this.placed = "";
      const column = frame.columns[paint.column - 1];
      drawBars(context, frame, paint, scene, (v) => (paint.column === 0 ? (v === 1 ? "leaders" : "others") : named(player.about, column, v)));
      return;
    }
    const ranks = frame.columns.some((each) => each.name === "rank") && player.run.protocol !== "detect-collision";
    const room = ranks ? { ...scene, height: scene.height - 44 } : scene;
    this.place(frame.table.rows, room);
    if (player.isRing) drawRing(context, frame, this.spots, paint, scene);
    else if (player.arcs) drawGraph(context, frame, this.spots, player.arcs, paint, scene);
    else if (FieldImage.suits(frame.table.rows)) this.field.draw(context, frame, this.spots, paint, room);
    else drawField(context, frame, this.spots, paint, room);
    if (ranks) drawRanks(context, frame, scene);
    if (frame.change?.agents) drawMeeting(context, this.spots, frame.change.agents, scene.theme);
  }

  private place(rows: number, scene: Scene): void {
    const { player } = this;
    const graph = value(player.run, "graph");
    const wanted = [player.isRing, player.arcs?.length, graph, value(player.run, "seed"), rows, scene.width, scene.height].join(" ");
    if (wanted === this.placed) return;
    this.placed = wanted;
    if (player.isRing) this.spots = ringSpots(rows, scene);
    else if (player.arcs) this.spots = graphSpots(rows, player.arcs, graph, scene);
    else this.spots = fieldSpots(rows, scene);
  }

  private drawChart(place: HTMLElement | null, scene: Scene): void {
    const { points, others, frame, playing } = this.player;
    if (!place || points.length === 0 || place.clientWidth === 0) return;
    if (playing && performance.now() - this.charted < chartPause) return;
    this.charted = performance.now();
    if (this.chart?.place !== place) this.chart = new Chart(place);
    const last = points.at(-1)!.values;
    const moves = (name: string) => points.some((each) => each.values[name] !== undefined && each.values[name] !== last[name]);
    const names = Object.keys(last).filter((name) => last[name]! <= frame!.look.n && moves(name)).slice(0, this.player.isLeaderless ? 4 : 2);
    this.chart.draw(points, names, others, scene.theme, frame!.look.time, !this.player.isLeaderless);
  }

  agentAt(event: MouseEvent): number { return nearest(this.spots, event, 20); }
  parcelAt(event: MouseEvent): Parcel | undefined { return this.parcels[nearest(this.parcels, event, 16)]; }
}

function nearest(places: { x: number; y: number }[], event: MouseEvent, reach: number): number {
  const box = (event.currentTarget as HTMLElement).getBoundingClientRect();
  const x = event.clientX - box.left, y = event.clientY - box.top;
  let best = -1, distance = reach * reach;
  places.forEach((place, i) => {
    const d = (place.x - x) ** 2 + (place.y - y) ** 2;
    if (d < distance) { distance = d; best = i; }
  });
  return best;
}

// An empty canvas in the size in which it is shown.
export function clean(context: Context): Scene {
  const { canvas } = context;
  const scale = devicePixelRatio || 1;
  const width = canvas.clientWidth, height = canvas.clientHeight;
  if (canvas.width !== Math.round(width * scale) || canvas.height !== Math.round(height * scale)) {
    canvas.width = Math.round(width * scale);
    canvas.height = Math.round(height * scale);
  }
  context.setTransform(scale, 0, 0, scale, 0, 0);
  context.clearRect(0, 0, width, height);
  return { width, height, theme: theme(document.documentElement) };
}
