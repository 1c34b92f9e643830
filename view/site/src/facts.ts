// What a replay of one source has found so far.

import type { About, Check, Mark, Source } from "./source";

export class Facts {
  check: Check = { ticks: 0, done: false };
  readonly marks: Mark[] = [];
  readonly ticks: number[] = [];
  readonly points: number[][] = [];

  constructor(readonly about: About, private readonly source: Source, private readonly which: number) {}

  /** more asks for what is new, and reports whether there are new points. */
  async more(): Promise<boolean> {
    const c = await this.source.ask<Check>({ op: "check", source: this.which, since: this.marks.length });
    this.marks.push(...(c.head.marks ?? []));
    const p = await this.source.ask<{ numbers: number }>({ op: "charts", source: this.which, since: this.ticks.length });
    const ticks = p.numbers("ticks"), numbers = p.numbers("values"), n = p.head.numbers;
    for (let i = 0; i < ticks.length; i++) {
      this.ticks.push(ticks[i]!);
      this.points.push(Array.from(numbers.subarray(i * n, (i + 1) * n)));
    }
    this.check = c.head;
    return ticks.length > 0;
  }

  /** column returns where the numbers of a field begin in a point; after the last field come the kinds. */
  column(field: number): number {
    return this.about.fields.slice(0, field).reduce((n, f) => n + (f.values ? f.values.length : 3 * f.components), 0);
  }

  /** wrong says what is wrong with the recording; "" if nothing is known to be. */
  wrong(): string {
    const c = this.check;
    return c.differs ? `tick ${c.differs.toLocaleString("en-US")} differs from what was recorded` : c.error ?? "";
  }

  /** verdict says how far the replay is. */
  verdict(): string {
    const n = (x: number) => x.toLocaleString("en-US"), a = this.about;
    return this.wrong() || `${n(this.check.ticks)} of ${n(a.last - a.first)} ticks verified${this.check.done ? "" : " …"}`;
  }
}
