// The engine's own thread. The page asks one thing at a time; every answer that changes what is seen
// carries a Frame.
import { Engine, type Change, type Look, type Table, type Words } from "./engine";
import { Trial } from "./trial";

// How many agents (and leaders among them) have each value of the column that is looked at.
export interface Histogram { values: number[]; agents: number[]; leaders: number[] }

export interface Frame {
  look: Look;
  table: Table | null;      // null where there are too many rows to draw one by one
  columns: Table["columns"];
  histogram: Histogram;
  change: Change | null;    // of a step to the next change
  bytes: number;            // of the engine's memory
}

export interface Series { trial: number; points: [number, number][]; row: string }

export const mostDrawn = 20000;

let module: WebAssembly.Module;
let trial: Trial;
let lastKept = 0;

function histogramOf(table: Table, column: number): Histogram {
  const width = 1 + table.columns.length;
  const bins = new Map<number, [number, number]>();
  for (let row = 0; row < table.rows; ++row) {
    const value = table.values[row * width + column]!;
    const count = table.counts ? table.counts[row]! : 1;
    const bin = bins.get(value) ?? [0, 0];
    if (bin[0] === 0) bins.set(value, bin);
    bin[0] += count;
    if (table.values[row * width] === 1) bin[1] += count;
  }
  const values = [...bins.keys()].sort((a, b) => a - b);
  return { values, agents: values.map((v) => bins.get(v)![0]), leaders: values.map((v) => bins.get(v)![1]) };
}

function frame(column: string, change: Change | null = null): Frame {
  const look = trial.look();
  if (!look.population) {
    return { look, table: null, columns: [], histogram: { values: [], agents: [], leaders: [] }, change, bytes: trial.engine.bytes };
  }
  const table = trial.table();
  const index = 1 + table.columns.findIndex((each) => each.name === column);
  return {
    look, table: table.rows <= mostDrawn ? table : null, columns: table.columns,
    histogram: histogramOf(table, index), change, bytes: trial.engine.bytes,
  };
}

function keepNowAndThen(): void {
  if (performance.now() - lastKept < 400) return;
  trial.keep();
  lastKept = performance.now();
}

// As many interactions as fit into so many milliseconds, but no further than `end`.
function hurry(milliseconds: number, end: number): void {
  const begin = performance.now();
  let now = trial.now;
  let piece = 2000;
  for (;;) {
    const left = milliseconds - (performance.now() - begin);
    if (left <= 0 || now >= end) return;
    const before = performance.now();
    const target = Math.min(end, now + piece);
    trial.goTo(target);
    now = target;
    const took = performance.now() - before;
    piece = Math.max(1000, Math.min(1e15, piece * (took < left / 4 ? 4 : took < left ? 1 : 0.5)));
    if (trial.look().over) return;
  }
}

// A trial of its own, run to its end, as a line for the chart.
async function series(words: Words, content: string, number: number): Promise<Series> {
  const engine = await Engine.of(module);
  engine.open([...words, ["trial", String(number)]], content, "log:1.05");
  engine.advance(Infinity);
  const [head, ...lines] = engine.trace().trim().split("\n");
  const names = head!.split(",");
  const time = Math.max(names.indexOf("parallel_time"), names.indexOf("time"));
  const leaders = names.indexOf("leaders");
  const points = lines.map((line) => line.split(",")).map((cells) => [Number(cells[time]), Number(cells[leaders])] as [number, number]);
  return { trial: number, points, row: engine.row() };
}

const calls = {
  async load(bytes: ArrayBuffer) {
    module = await WebAssembly.compile(bytes);
    trial = new Trial(await Engine.of(module));
    return trial.engine.list();
  },
  describe: (name: string, content: string) => trial.engine.describe(name, content),
  open(words: Words, content: string, column: string, at: number) {
    trial.open(words, content, "");
    // Messages are watched as a trace, which lists every one.
    if (!trial.look().population && trial.look().n <= 1000) trial.open(words, content, "log");
    lastKept = performance.now();
    const way: Look[] = [];
    const pieces = at > 0 ? 60 : 0;
    for (let i = 1; i < pieces && trial.look().population; ++i) {
      way.push(trial.look());
      trial.goTo(Math.floor((at * i) / pieces));
      keepNowAndThen();
    }
    if (at > 0) trial.goTo(at);
    return { way, frame: frame(column) };
  },
  goTo(at: number, column: string) {
    trial.goTo(at);
    keepNowAndThen();
    return frame(column);
  },
  hurry(milliseconds: number, end: number, column: string) {
    hurry(milliseconds, end);
    keepNowAndThen();
    return frame(column);
  },
  nextChange(most: number, column: string) {
    trial.keep();
    const change = trial.change(most);
    return frame(column, change);
  },
  look: (column: string) => frame(column),
  interactionsAt: (time: string) => trial.engine.interactionsAt(time),
  row: () => trial.engine.row(),
  events: () => trial.engine.events(),
  arcs: () => trial.engine.arcs(),
  series,
  // The row alone, without the trace.
  async rowOf(words: Words, content: string) {
    const engine = await Engine.of(module);
    engine.open(words, content, "");
    engine.advance(Infinity);
    return engine.row();
  },
  // The row and the trace of a trial that is run to its end, whatever is being watched.
  async results(words: Words, content: string) {
    const engine = await Engine.of(module);
    engine.open(words, content, "log");
    engine.advance(Infinity);
    return { row: engine.row(), trace: engine.trace() };
  },
};

export type Calls = typeof calls;

// Handed over to the page instead of copied.
function arraysIn(result: (Partial<Frame> & { frame?: Frame }) | null): ArrayBuffer[] {
  const table = (result?.frame ?? result)?.table;
  if (!table) return [];
  return [table.values.buffer as ArrayBuffer, ...(table.counts ? [table.counts.buffer as ArrayBuffer] : [])];
}

self.onmessage = async ({ data: { id, name, args } }: MessageEvent) => {
  try {
    const result = await (calls[name as keyof Calls] as (...all: unknown[]) => unknown)(...args);
    self.postMessage({ id, result }, { transfer: arraysIn(result as Partial<Frame> & { frame?: Frame }) });
  } catch (error) {
    self.postMessage({ id, error: (error as Error).message });
  }
};
