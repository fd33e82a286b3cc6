// Agents row by row in a field of dots. Up to some hundreds they are circles; beyond that they are
// pixels of an image, in which only those dots are stamped anew whose colour has changed, so that
// ten thousand agents leave most of a frame's time to the rest of the page.
import { colours } from "../palette";
import type { Frame } from "../worker";
import { fillDots, leaderAt, markLeader, painter, type Context, type Paint, type Scene, type Spot } from "./shapes";

const mostCircles = 1500;   // above that, dots are pixels
const mostMarked = 300;     // leaders beyond that are told by their colour alone

export function fieldSpots(rows: number, scene: Scene): Spot[] {
  if (FieldImage.suits(rows)) return evenSpots(rows, scene);
  const { width, height } = scene;
  const margin = 14;
  const across = dotsAcross(rows, width - 2 * margin, height - 2 * margin);
  const down = Math.ceil(rows / across);
  const dx = (width - 2 * margin) / across;
  const dy = (height - 2 * margin) / Math.max(1, down);
  const r = Math.max(0.6, Math.min(18, Math.min(dx, dy) * 0.34));
  return Array.from({ length: rows }, (_, i) => ({
    x: margin + (i % across + 0.5) * dx, y: margin + (Math.floor(i / across) + 0.5) * dy, r,
  }));
}

// Large dots, and few places left empty in the last line.
export function dotsAcross(rows: number, width: number, height: number): number {
  const square = Math.ceil(width / Math.sqrt((width * height) / Math.max(1, rows)));
  let best = 1, most = 0;
  for (let across = Math.max(1, square - 3); across <= square + 3; ++across) {
    const down = Math.max(1, Math.ceil(rows / across));
    const worth = Math.min(width / across, height / down) * (rows / (across * down));
    if (worth > most) [best, most] = [across, worth];
  }
  return best;
}

// Whole pixels from dot to dot, so that small dots stand evenly.
function evenSpots(rows: number, { width, height }: Scene): Spot[] {
  const scale = devicePixelRatio || 1;
  const wide = width - 20, high = height - 20;
  let step = Math.max(1, Math.floor(scale * Math.sqrt((wide * high) / rows))) / scale;
  while (step > 1 / scale && Math.ceil(rows / Math.floor(wide / step)) * step > high) step -= 1 / scale;
  const across = Math.floor(wide / step), down = Math.ceil(rows / across);
  const left = Math.round((width - across * step) / 2), top = Math.max(10, Math.round((height - down * step) / 2));
  return Array.from({ length: rows }, (_, i) => ({
    x: left + (i % across + 0.5) * step, y: top + (Math.floor(i / across) + 0.5) * step, r: Math.max(0.6, step * 0.36),
  }));
}

export function drawField(context: Context, frame: Frame, spots: Spot[], paint: Paint, scene: Scene): void {
  fillDots(context, spots, painter(frame, paint, scene.theme));
  markLeaders(context, frame, spots, paint, scene);
}

function markLeaders(context: Context, frame: Frame, spots: Spot[], paint: Paint, scene: Scene): void {
  const leaders: number[] = [];
  for (let i = 0; i < spots.length && leaders.length <= mostMarked; ++i) if (leaderAt(frame, i)) leaders.push(i);
  if (leaders.length > mostMarked || (leaders.length > spots.length / 2 && leaders.length > 40)) return;
  for (const i of leaders) markLeader(context, spots[i]!, scene.theme, paint.column === 0);
}

// Keeps the image between frames.
export class FieldImage {
  private image: ImageData | null = null;
  private pixels = new Uint32Array(0);
  private shown = new Uint32Array(0);      // colour of each dot, as it stands in the image
  private stamp: number[] = [];            // places and opacities around a dot's centre
  private spots: Spot[] | null = null;
  private packed = new Map<string, number>();

  static suits(rows: number): boolean { return rows > mostCircles; }

  draw(context: Context, frame: Frame, spots: Spot[], paint: Paint, scene: Scene): void {
    const { width, height } = context.canvas;
    if (this.image?.width !== width || this.image.height !== height || this.spots !== spots) this.begin(width, height, spots);
    const scale = context.getTransform().a;
    const colour = this.colourOf(frame, paint, scene);
    for (let i = 0; i < spots.length; ++i) {
      const wanted = colour(i);
      if (this.shown[i] === wanted) continue;
      this.shown[i] = wanted;
      this.put(Math.round(spots[i]!.y * scale) * width + Math.round(spots[i]!.x * scale), wanted);
    }
    context.putImageData(this.image!, 0, 0);
    markLeaders(context, frame, spots, paint, scene);
  }

  private begin(width: number, height: number, spots: Spot[]): void {
    this.image = new ImageData(width, height);
    this.pixels = new Uint32Array(this.image.data.buffer);
    this.shown = new Uint32Array(spots.length);
    this.spots = spots;
    const r = spots[0]!.r * (devicePixelRatio || 1);
    const reach = Math.ceil(r);
    this.stamp = [];
    for (let dy = -reach; dy <= reach; ++dy) {
      for (let dx = -reach; dx <= reach; ++dx) {
        const opacity = Math.max(0, Math.min(1, r + 0.5 - Math.hypot(dx, dy)));
        if (opacity > 0) this.stamp.push(dy * width + dx, Math.round(opacity * 255) << 24);
      }
    }
  }

  // `centre` is the index of the dot's middle; margins keep dots inside the image.
  private put(centre: number, colour: number): void {
    const { stamp, pixels } = this;
    for (let i = 0; i < stamp.length; i += 2) pixels[centre + stamp[i]!] = (stamp[i + 1]! | colour) >>> 0;
  }

  private colourOf(frame: Frame, paint: Paint, { theme }: Scene): (row: number) => number {
    const { values } = frame.table!;
    const width = 1 + frame.columns.length;
    if (paint.column === 0) {
      const leader = this.number(theme.leader), follower = this.number(theme.follower);
      return (row) => (values[row * width] === 1 ? leader : follower);
    }
    const name = colours(paint.values);
    const known = new Map<number, number>();
    return (row) => {
      const value = values[row * width + paint.column]!;
      let colour = known.get(value);
      if (colour === undefined) known.set(value, colour = this.number(name(value)));
      return colour;
    };
  }

  // A colour as the lower three bytes of a pixel: blue, green, red. Never 0, which is no colour.
  private number(name: string): number {
    let colour = this.packed.get(name);
    if (colour === undefined) {
      const [r, g, b] = name.startsWith("#") ? [1, 3, 5].map((at) => parseInt(name.slice(at, at + 2), 16)) : /\d+/g[Symbol.match](name)!.map(Number);
      colour = ((b! << 16) | (g! << 8) | r!) || 1;
      this.packed.set(name, colour);
    }
    return colour;
  }
}
