// What a cell or an entity holds, in words.

import { partName } from "./colour";
import { button, element, make } from "./dom";
import { Latest } from "./latest";
import type { Chosen } from "./pane";
import { Unwanted, type Apart, type Look, type Source } from "./source";
import type { World } from "./world";

const mostUlps = 1 << 16; // shown at most: beyond that, it is another number, not another rounding

const inOneRow = 3; // components of a vector, at most

export class Looked {
  private readonly jobs = new Latest();

  constructor(private readonly source: Source, private readonly worlds: World[], private readonly unpin: () => void,
    private readonly told: (coord: number[] | undefined) => void, private readonly why: ((field: number, component: number) => void) | null) {}

  /** show requests what is held at a tick, and shows it. */
  show(tick: number, at: Chosen, pinned: boolean): void {
    void this.jobs.run(async (wanted) => {
      try {
        const answers = await Promise.all(this.worlds.map((w, source) =>
          this.source.ask<Look>({ op: "look", source, tick: w.within(tick), ...at }, wanted)));
        const looks = answers.map((a) => a.head);
        const differ = looks.some((l) => JSON.stringify(l.values) !== JSON.stringify(looks[0]!.values));
        const apart = differ ? await this.source.ask<Apart>({ op: "apart", tick, ...at }, wanted).then((a) => a.head, () => null) : null; // films cannot
        this.tell(looks, apart, pinned);
      } catch (e) {
        if (e instanceof Unwanted) return;
        element("looked").replaceChildren(...this.pin(pinned), make("h2", (e as Error).message));
      }
    });
  }

  /** hide clears the display. The form that sets a cell stays, so that the pointer can reach it. */
  hide(): void {
    void this.jobs.run(async () => element("looked").replaceChildren());
  }

  private tell(all: Look[], apart: Apart | null, pinned: boolean): void {
    const a = this.worlds[0]!.about, table = make("table"), l = all[0]!;
    /** ask makes numbers of a row, from a component on, the ways to ask why they are so. */
    const ask = (r: HTMLTableRowElement, names: string[], field: number, from: number, values: string[], unit: string) => {
      if (!pinned || !this.why) return;
      r.cells[1]!.replaceChildren(...values.flatMap((v, k) => {
        const b = button(brief(v), `${brief(v)}: why is ${names[k]} so?`, () => this.why!(field, from + k));
        b.className = "why";
        return k ? [", ", b] : [b];
      }), unit);
    };
    const row = (name: string, values: string[][], unit = "") => {
      const r = table.insertRow(), same = values.every((v) => v.join() === values[0]!.join());
      r.insertCell().textContent = name;
      for (const v of values) {
        const cell = r.insertCell(), exact = v.join(", ") + unit;
        cell.textContent = same ? v.map(brief).join(", ") + unit : exact;
        if (cell.textContent !== exact) cell.title = exact;
      }
      if (!same) r.className = "differs";
      return r;
    };
    l.values.forEach((v, i) => {
      const f = a.fields[v.field]!, unit = f.unit ? ` ${f.unit}` : "";
      if (f.components > inOneRow) v.values.forEach((n, k) => ask(row(partName(f, k), all.map((x) => [x.values[i]!.values[k]!]), unit), [partName(f, k)], v.field, k, [n], unit));
      else ask(row(f.name, all.map((x) => x.values[i]!.values), unit), v.values.map((_, k) => (f.components > 1 ? partName(f, k) : f.name)), v.field, 0, v.values, unit);
      const far = apart?.values.find((x) => x.field === v.field)?.deltas;
      if (!far) return;
      const cell = table.insertRow().insertCell();
      cell.colSpan = 1 + all.length;
      cell.className = "apart";
      cell.textContent = distance(far, apart!.values.find((x) => x.field === v.field)!.ulps);
    });
    for (const d of l.details ?? []) row(d.name, [[d.text]]);
    for (const e of l.entities ?? []) row(e.kind, [[e.name ? `${e.name} (${e.id})` : e.id]]);
    this.told(l.coord);
    const where = l.coord ? `[${l.coord.join(", ")}]` : "";
    const what = l.entity ? `${l.kind} ${l.name ?? l.entity} at ${where}` : `Cell ${where}, tick ${l.tick.toLocaleString("en-US")}`;
    const box = element("looked"), tall = box.ariaLive === "off" ? box.offsetHeight : 0; // during playback, what is below must not move
    box.style.minHeight = tall ? `${tall}px` : "";
    box.replaceChildren(...this.pin(pinned), make("h2", what), table);
  }

  private pin(pinned: boolean): HTMLElement[] {
    if (!pinned) return [];
    const b = make("button", "Unpin");
    b.type = "button";
    b.title = "Unpin, and follow the pointer again (Escape)";
    b.onclick = this.unpin;
    return [b];
  }
}

/** brief shortens a number that has many digits. */
function brief(v: string): string {
  return /^-?\d+\.\d+(e[-+]\d+)?$/.test(v) && v.length > 8 ? String(+(+v).toPrecision(6)) : v;
}

/** distance formats how far apart the components of two values are. */
function distance(deltas: string[], ulps: number[] | undefined): string {
  return deltas.map((delta, i) => {
    const n = ulps?.[i] ?? 0;
    return (delta || "0") + (n && n < mostUlps ? ` (${n.toLocaleString("en-US")} ulp)` : "");
  }).join(", ");
}
