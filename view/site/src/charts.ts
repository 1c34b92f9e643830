// Charts of fields and of the population over the whole run.

import { chart, plot, type Series } from "./chart";
import type { Choices } from "./choices";
import type { Span } from "./clock";
import { css, palette, partName } from "./colour";
import { make, swatch } from "./dom";
import type { Facts } from "./facts";
import { hues } from "./trace";

interface Group { name: string; note?: string; series: Series[]; top?: number }

export class Charts {
  private drawn: { canvas: HTMLCanvasElement; group: Group }[] = [];

  private of = ""; // what the elements show

  constructor(private readonly box: HTMLElement, private readonly span: Span, private readonly go: (tick: number) => void) {}

  /** set updates the charts when there are new numbers or another field is chosen. Charts whose names stay keep their elements, so clicks
   * work. */
  set(facts: Facts[], c: Choices): void {
    const list = groups(facts, c), of = JSON.stringify(list.map((g) => [g.name, g.series.map((s) => [s.name, s.colour])]));
    if (of === this.of) {
      list.forEach((group, i) => { this.drawn[i]!.group = group; });
      return;
    }
    this.of = of;
    this.drawn = list.map((group) => ({ canvas: plot(group.name, this.span, this.go), group }));
    this.box.replaceChildren(...this.drawn.map(({ canvas, group }) => {
      const figure = make("figure");
      figure.append(caption(group), canvas);
      return figure;
    }));
  }

  /** draw draws the charts, with a line at a tick. */
  draw(tick: number): void {
    for (const d of this.drawn) chart(d.canvas, d.group.series, this.span, tick, d.group.top);
  }
}

function caption(g: Group): HTMLElement {
  const c = make("figcaption");
  c.append(make("strong", g.name), ...(g.series.length > 1 ? g.series.map((s) => swatch(s.name, s.colour)) : []));
  if (g.note) c.append(make("small", g.note));
  return c;
}

/** groups returns the contents of each chart: the fields' numbers, their totals in all recordings, the population, and the time of a tick.
 * */
function groups(facts: Facts[], c: Choices): Group[] {
  const one = facts[0]!, a = one.about;
  const series = (name: string, i: number, colour: string, of = one): Series => ({ name, ticks: of.ticks, values: of.points.map((n) => n[i] ?? NaN), colour });
  const list: Group[] = [];
  for (const { field, component } of c.aspects) {
    const f = a.fields[field]!;
    if (f.values) {
      const at = one.column(field), colours = palette(a.palettes["categories"]!).map(css);
      list.push({ name: facts.length > 1 ? `${f.name}, ${a.file}` : f.name, series: f.values.map((v, i) => series(v, at + i, colours[i % colours.length]!)).filter((s) => s.name) });
      continue;
    }
    for (let i = Math.max(0, component); i < (component < 0 ? f.components : component + 1); i++) { // a length has no total
      const at = one.column(field) + 3 * i, name = f.components > 1 ? partName(f, i) : f.name;
      list.push({ name: `${name}: total`, series: facts.map((x, i) => series(x.about.file, at, hues[i]!, x)) });
      list.push({ name, series: [series("least", at + 1, hues[0]!), series("greatest", at + 2, hues[1]!)] });
    }
  }
  if (a.kinds) {
    const first = one.column(a.fields.length), colours = palette(a.palettes["kinds"]!).map(css);
    list.push({ name: "alive", series: a.kinds.map((k, i) => series(k, first + i, colours[i % colours.length]!)) });
  }
  const own = one.column(a.fields.length) + (a.kinds?.length ?? 0);
  a.stats?.forEach((name, i) => {
    list.push({ name, series: facts.filter((x) => x.about.stats?.[i] === name).map((x) => series(x.about.file, own + i, hues[facts.indexOf(x)]!, x)) });
  });
  const micros = facts.flatMap((f) => f.micros).filter((m) => m > 0).sort((x, y) => x - y);
  if (micros.length) {
    list.push({
      name: "time of a tick, µs", note: "in the replay on this machine; the slowest hundredth is cut off", top: micros[Math.ceil(0.99 * micros.length) - 1]!,
      series: facts.map((f, i) => ({ name: f.about.file, ticks: f.ticks, values: f.micros, colour: hues[i]! })),
    });
  }
  return list;
}
