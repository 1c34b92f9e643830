// What a replay of one source has found so far.

import type { Aspect } from "./choices";
import { range } from "./colour";
import type { About, Check, Mark, Source } from "./source";

const mostMarks = 100_000; // that a source reports

export class Facts {
  check: Check = { ticks: 0, done: false };
  readonly marks: Mark[] = [];
  readonly ticks: number[] = [];
  readonly points: number[][] = [];
  readonly micros: number[] = []; // mean time of a tick before each point
  private every = 0; // ticks from one point to the next

  constructor(readonly about: About, private readonly source: Source, private readonly which: number) {}

  /** more asks for news. It reports whether anything is new, and whether there are new points. */
  async more(): Promise<{ any: boolean; points: boolean }> {
    const c = await this.source.ask<Check>({ op: "check", source: this.which, since: this.marks.length });
    this.marks.push(...(c.head.marks ?? []));
    const p = await this.source.ask<{ numbers: number; every: number; from: number }>({ op: "charts", source: this.which, since: this.ticks.length, every: this.every });
    const ticks = p.numbers("ticks"), numbers = p.numbers("values"), micros = p.numbers("micros"), n = p.head.numbers;
    this.every = p.head.every;
    for (const list of [this.ticks, this.micros, this.points]) list.length = p.head.from;
    for (let i = 0; i < ticks.length; i++) {
      this.ticks.push(ticks[i]!);
      this.micros.push(micros[i]!);
      this.points.push(Array.from(numbers.subarray(i * n, (i + 1) * n)));
    }
    const any = ticks.length > 0 || JSON.stringify(c.head) !== JSON.stringify(this.check);
    this.check = c.head;
    if (c.head.run) this.about.last = Math.max(this.about.last, c.head.run.last);
    return { any, points: ticks.length > 0 };
  }

  /** column returns the index in a point at which a field's numbers begin. The kinds come after the last field, the scenario's own statistics after
   * the kinds. */
  column(field: number): number {
    return this.about.fields.slice(0, field).reduce((n, f) => n + (f.values ? f.values.length : 3 * f.components), 0);
  }

  /** after returns the index of the first mark at or after a tick. */
  private after(tick: number): number {
    let lo = 0, hi = this.marks.length;
    while (lo < hi) {
      const mid = (lo + hi) >> 1;
      if (this.marks[mid]!.tick < tick) lo = mid + 1; else hi = mid;
    }
    return lo;
  }

  /** within returns the marks from one tick through another. */
  within(from: number, to: number): Mark[] { return this.marks.slice(this.after(from), this.after(to + 1)); }

  /** next returns the first mark after a tick, or with way -1, the last one before it. */
  next(tick: number, way: 1 | -1): Mark | undefined { return this.marks[way > 0 ? this.after(tick + 1) : this.after(tick) - 1]; }

  /** empty reports whether a tick had no inputs or events, as far as known. */
  empty(tick: number): boolean {
    const known = this.marks.length < mostMarks && tick <= this.about.first + this.check.ticks;
    return !!this.about.unverifiable || tick <= this.about.first || (known && this.within(tick, tick).length === 0);
  }

  /** wrong says what is wrong with the recording; "" if nothing is known to be. */
  wrong(): string {
    const c = this.check;
    return c.differs ? `tick ${c.differs.toLocaleString("en-US")} differs from what was recorded` : c.error ?? "";
  }

  /** verdict describes the progress of the replay. */
  verdict(): string {
    const n = (x: number) => x.toLocaleString("en-US"), a = this.about;
    const run = this.check.run;
    if (run && !run.ended && a.last === a.first) return run.held ? "held" : "live";
    if (run && !run.ended && !this.wrong()) return `${run.held ? "held" : "live"}, ${n(this.check.ticks)} of ${n(a.last - a.first)} ticks verified`;
    const planned = a.planned > a.last ? `, of ${n(a.planned)} planned` : "";
    return this.wrong() || a.unverifiable || `${n(this.check.ticks)} of ${n(a.last - a.first)} ticks verified${planned}${this.check.done ? "" : " …"}`;
  }

  /** begins says where a recording begins that does not begin at genesis, in short and in full: nothing verifies that state. */
  begins(): [string, string] | null {
    const { begin, first, live } = this.about, from = `from tick ${(first + 1).toLocaleString("en-US")} on, from the state `;
    return begin && !live ? [`${from}${begin.slice(0, 8)}…`, `${from}with the SHA-256 ${begin}`] : null;
  }
}

/** bounds returns the range of an aspect's values, over all ticks and recordings, as far as known. */
export function bounds(facts: Facts[], a: Aspect, now: Float32Array[]): [number, number] {
  let [lo, hi] = [Infinity, -Infinity];
  for (const values of now) {
    const r = range(values);
    [lo, hi] = [Math.min(lo, r[0]), Math.max(hi, r[1])];
  }
  const { components } = facts[0]!.about.fields[a.field]!;
  if (components > 1 && a.component < 0) { // lengths are not recorded; this bound takes the extremes of all components at once
    for (const f of facts) {
      const at = f.column(a.field);
      for (const n of f.points) {
        let sum = 0;
        for (let c = at; c < at + 3 * components; c += 3) sum += Math.max(Math.abs(n[c + 1]!), Math.abs(n[c + 2]!)) ** 2;
        hi = Math.max(hi, Math.sqrt(sum));
      }
    }
    return [0, hi];
  }
  for (const f of facts) {
    const at = f.column(a.field) + 3 * Math.max(0, a.component);
    for (const n of f.points) {
      lo = Math.min(lo, n[at + 1]!);
      hi = Math.max(hi, n[at + 2]!);
    }
  }
  return [lo, hi];
}
