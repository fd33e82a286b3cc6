// The WebAssembly module behind typed functions; see engine/conclave_web.h for its contract. One
// Engine watches one trial. It runs in a Worker, and in Node for tests.

export interface Named { name: string; meaning: string }
export interface Description {
  name: string; title: string; paper: string; network: string; problem?: string; part_of?: string;
  convergence: string; bound: string; states: string; demo_n?: number; smallest_n: number;
  variables: { name: string; domain: string; meaning: string }[];
  parameters: { name: string; meaning: string; default: string; allowed: string }[];
  init: Named[]; engines: Named[]; observables: Named[];
  errata: { id: string; place: string; remark: string }[];
  steps?: Step[];
  messages?: string[]; ids?: Named[]; delays?: Named[]; wakeups?: Named[];
  graph?: string; any_graph?: boolean;   // the graph that messages travel on, and whether it can be another
  warnings?: string[];
}

// A step of the pseudocode, under the numbers of its lines in the paper; of message passing, what a
// node does with a kind of message.
export interface Step { line: string; text: string; sets: string }

export interface FaultSeen {
  text: string; at: number; agents: number; leaders: number; recovered: boolean; recovery?: number;
}

// Where a trial stands.
export interface Look {
  now: string; time: number; leaders: number; converged: boolean; over: boolean; engine: string;
  start: string; n: number; population: boolean; observables: Record<string, string>;
  faults: FaultSeen[]; next?: { number: number; agents: [number, number] | null };
  steps?: string[];   // the lines that the last interaction executed
  options: string[];  // the names of the run's options, in the order of the command line
}

export interface Column { name: string; labels: string[] }

// Rows of 1 + columns.length numbers: 1 for a leader, then the variables. With counts, a row is a
// state and not an agent.
export interface Table { rows: number; columns: Column[]; values: Float64Array; counts: Float64Array | null }

export interface NetworkEvent {
  time: number; event: string; node: number; phase?: number;
  from?: number; message?: string; sent?: number;
}

export interface Change { number: number; agents?: [number, number] }

// A run in words, as a page or a test gives it: option and value, in any order.
export type Words = [string, string][];

interface Exports {
  memory: WebAssembly.Memory;
  _initialize?(): void;
  conclave_room(bytes: number): number; conclave_forget(room: number): void;
  conclave_error(): number; conclave_list(): number;
  conclave_describe(name: number, content: number): number;
  conclave_open(words: number, content: number, grid: number): number;
  conclave_advance(interactions: number): void; conclave_interactions_at(time: number): number; conclave_change(most: number): number;
  conclave_look(): number; conclave_table(): number; conclave_values(): number;
  conclave_counts(): number; conclave_columns(): number; conclave_row(): number;
  conclave_trace(): number; conclave_events(): number; conclave_arcs(): number;
}

// A page has no files, no environment and no clock: what the C library asks for is not there.
function emptySystem(): WebAssembly.ModuleImports {
  const missing = 52, badFile = 8;  // ENOSYS, EBADF of WASI
  return new Proxy({}, {
    get: (_, name) => (name === "proc_exit"
      ? (code: number) => { throw new Error(`the engine stopped with status ${code}`); }
      : () => (String(name).startsWith("fd_") ? badFile : missing)),
    has: () => true,
  }) as WebAssembly.ModuleImports;
}

export class EngineError extends Error {}

export class Engine {
  private constructor(private readonly exports: Exports) {}

  static async of(module: WebAssembly.Module): Promise<Engine> {
    const system: WebAssembly.ModuleImports = {};
    const any = emptySystem();
    for (const each of WebAssembly.Module.imports(module)) system[each.name] = any[each.name];
    const instance = await WebAssembly.instantiate(module, { wasi_snapshot_preview1: system });
    const exports = instance.exports as unknown as Exports;
    exports._initialize?.();
    return new Engine(exports);
  }

  list(): Description[] { return JSON.parse(this.text(this.exports.conclave_list())); }

  describe(name: string, content: string): Description {
    return this.with([name, content], ([a, b]) => JSON.parse(this.text(this.exports.conclave_describe(a, b))));
  }

  open(words: Words, content = "", grid = ""): void {
    const lines = words.map(([option, value]) => `${option} ${value}`).join("\n");
    this.with([lines, content, grid], ([a, b, c]) => {
      if (this.exports.conclave_open(a, b, c) === 0) this.fail();
    });
  }

  advance(interactions: number): void { this.exports.conclave_advance(interactions); }
  interactionsAt(time: string): number { return this.with([time], ([a]) => JSON.parse(this.text(this.exports.conclave_interactions_at(a!)))); }
  change(most: number): Change | null { return JSON.parse(this.text(this.exports.conclave_change(most))); }
  look(): Look { return JSON.parse(this.text(this.exports.conclave_look())); }
  row(): string { return this.text(this.exports.conclave_row()); }
  trace(): string { return this.text(this.exports.conclave_trace()); }
  events(): NetworkEvent[] { return JSON.parse(this.text(this.exports.conclave_events())); }
  arcs(): [number, number][] | null { return JSON.parse(this.text(this.exports.conclave_arcs())); }

  table(): Table {
    const rows = this.exports.conclave_table();
    const columns = JSON.parse(this.text(this.exports.conclave_columns())) as Column[];
    const { buffer } = this.exports.memory;
    const values = new Float64Array(buffer, this.exports.conclave_values(), rows * (1 + columns.length)).slice();
    const counts = this.exports.conclave_counts();
    return { rows, columns, values, counts: counts ? new Float64Array(buffer, counts, rows).slice() : null };
  }

  // The whole state of the engine; `restore` goes back to it.
  snapshot(): Uint8Array { return new Uint8Array(this.exports.memory.buffer.slice(0)); }
  restore(snapshot: Uint8Array): void { new Uint8Array(this.exports.memory.buffer).set(snapshot); }
  get bytes(): number { return this.exports.memory.buffer.byteLength; }

  private text(place: number): string {
    if (place === 0) this.fail();
    return this.read(place);
  }

  private read(place: number): string {
    const memory = new Uint8Array(this.exports.memory.buffer);
    return new TextDecoder().decode(memory.subarray(place, memory.indexOf(0, place)));
  }

  private fail(): never { throw new EngineError(this.read(this.exports.conclave_error())); }

  private with<T>(texts: string[], work: (places: number[]) => T): T {
    const places = texts.map((text) => {
      const bytes = new TextEncoder().encode(`${text}\0`);
      const place = this.exports.conclave_room(bytes.length);
      new Uint8Array(this.exports.memory.buffer).set(bytes, place);
      return place;
    });
    try { return work(places); } finally { places.forEach((place) => this.exports.conclave_forget(place)); }
  }
}
