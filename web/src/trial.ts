// One trial that can go forth and back: an engine with snapshots on the way. Going back restores the
// nearest snapshot before and simulates from there; everything is deterministic, so that what was
// seen once is seen again.
import { Engine, type Change, type Look, type Table, type Words } from "./engine";

interface Snapshot { at: number; memory: Uint8Array }

const mostSnapshots = 12;
const mostBytes = 160 * 2 ** 20;

export class Trial {
  private snapshots: Snapshot[] = [];

  constructor(readonly engine: Engine) {}

  open(words: Words, content: string, grid: string): void {
    this.snapshots = [];
    this.engine.open(words, content, grid);
    this.keep();
  }

  get now(): number { return Number(this.engine.look().now); }
  look(): Look { return this.engine.look(); }
  table(): Table { return this.engine.table(); }

  goTo(interactions: number): void {
    const target = Math.max(0, interactions);
    if (target < this.now) this.goBack(target);
    this.engine.advance(target);
  }

  change(most: number): Change | null {
    return this.engine.change(most);
  }

  // Remembers this point, if there is room; called now and then while the trial runs on.
  keep(): void {
    const at = this.now;
    if (this.snapshots.some((each) => each.at >= at)) return;
    const size = this.engine.bytes;
    if (size > mostBytes / 3 && this.snapshots.length > 1) return;
    while (this.snapshots.length >= Math.max(3, Math.min(mostSnapshots, Math.floor(mostBytes / size)))) this.thinOut();
    this.snapshots.push({ at, memory: this.engine.snapshot() });
  }

  // Forgets the one whose neighbours lie closest together, never the first.
  private thinOut(): void {
    let worst = 1;
    let narrowest = Infinity;
    for (let i = 1; i < this.snapshots.length; ++i) {
      const before = this.snapshots[i - 1]!.at;
      const after = this.snapshots[i + 1]?.at ?? Infinity;
      if (after - before < narrowest) { narrowest = after - before; worst = i; }
    }
    this.snapshots.splice(worst, 1);
  }

  private goBack(target: number): void {
    const before = this.snapshots.filter((each) => each.at <= target).pop();
    if (before) this.engine.restore(before.memory);
  }
}
