// The world of one source at a tick.

import type { Aspect } from "./choices";
import { part } from "./colour";
import type { Crowd } from "./overlay";
import type { About, Answer, HistoryHead, Numbers, Source, Space, StateHead, Wanted } from "./source";

export const stripRows = 240; // ticks of a line or ring shown at once

/** What a source says of a tick. */
interface Loaded { state: Answer<StateHead>; columns: Map<number, Numbers> }

/** isStrip reports whether a space is a line or a ring, which is shown over time. */
export const isStrip = (s: Space): boolean => s.rows === 1 && s.panels === 1 && s.slices === 1;

export class World {
  readonly strip: boolean;
  crowd: Crowd | null = null;
  alive = 0;
  parameters: Numbers = new Float64Array(0); // their values
  private columns = new Map<number, Numbers>(); // by field

  /** First is the first tick of all worlds shown. Worlds shown over time, side by side, all begin there. */
  constructor(readonly about: About, private readonly source: Source, private readonly which: number, private readonly first: number) {
    this.strip = isStrip(about.space);
  }

  /** within returns the recording's tick nearest to the given one. */
  within(tick: number): number {
    return Math.max(this.about.first, Math.min(this.about.last, tick));
  }

  private ahead: { what: string; loaded?: Promise<Loaded> } = { what: "" }; // what has been requested already

  /** prepare requests what will be loaded next. */
  prepare(tick: number, fields: number[], wanted: Wanted): void {
    const what = [tick, ...fields].join();
    if (what === this.ahead.what) return;
    this.ahead = { what, loaded: this.ask(tick, fields, () => wanted() && this.ahead.what === what) };
    this.ahead.loaded!.catch(() => { if (this.ahead.what === what) this.ahead = { what: "" }; }); // load asks again and reports the error
  }

  /** load requests fields at a tick, or at the nearest one. */
  async load(tick: number, fields: number[], wanted: Wanted): Promise<void> {
    const a = this.about, known = this.ahead.what === [tick, ...fields].join();
    const { state, columns } = await (known ? this.ahead.loaded! : this.ask(tick, fields, wanted));
    this.columns = columns;
    this.alive = state.head.alive;
    this.parameters = state.numbers("parameters");
    this.crowd = a.kinds && !this.strip ? { ids: state.ids("ids"), kinds: state.numbers("kinds"), cells: state.numbers("cells") } : null;
    this.slots = fields.some((f) => a.fields[f]!.entities) ? state.numbers("slots") : [];
  }

  private slots: ArrayLike<number> = []; // of the crowd

  /** held returns the values of a loaded entity field, in the order of the crowd. */
  held(field: number): Float32Array {
    const all = this.column(field);
    return Float32Array.from(this.slots, (slot) => all[slot]!);
  }

  private async ask(tick: number, fields: number[], wanted: Wanted): Promise<Loaded> {
    const state: Answer<StateHead> = await this.source.ask<StateHead>({ op: "state", source: this.which, tick: this.within(tick), fields: this.strip ? [] : fields, entities: !!this.about.kinds }, wanted);
    const columns = new Map<number, Numbers>();
    for (const f of fields) columns.set(f, this.strip ? await this.overTime(tick, f, wanted) : state.numbers(`field ${f}`));
    return { state, columns };
  }

  /** overTime returns the values of a line or ring, tick by tick, up to the given one; NaN where this source has none. */
  private async overTime(tick: number, field: number, wanted: Wanted): Promise<Numbers> {
    const { first, last, space, fields } = this.about, begin = Math.max(this.first, tick - stripRows + 1), to = Math.min(last, tick);
    const size = space.cells * fields[field]!.components, values = new Float64Array((tick - begin + 1) * size).fill(NaN);
    for (let at = Math.max(first, begin); at <= to; ) {
      const h = await this.source.ask<HistoryHead>({ op: "history", source: this.which, field, tick: at, to }, wanted);
      values.set(h.numbers("values"), (at - begin) * size);
      at = h.head.to + 1;
    }
    return values;
  }

  /** values returns what is drawn of a loaded field. */
  values(a: Aspect): Float32Array {
    return part(this.columns.get(a.field)!, this.about.fields[a.field]!.components, a.component);
  }

  /** column returns all components of a loaded field. */
  column(field: number): Numbers { return this.columns.get(field)!; }
}
