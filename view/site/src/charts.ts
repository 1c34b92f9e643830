// The charts of a field and of those who live, over the whole run.

import { chart, type Series } from "./chart";
import { css, palette } from "./colour";
import { make, swatch } from "./dom";
import type { Facts } from "./facts";
import type { Choice } from "./pane";

const blue = "#3c8fd0", orange = "#d07a2c";

interface Group { name: string; series: Series[] }

export class Charts {
  private drawn: { canvas: HTMLCanvasElement; series: Series[] }[] = [];

  constructor(private readonly box: HTMLElement, private readonly first: number, private readonly last: number, private readonly go: (tick: number) => void) {}

  /** set says what there is to draw. It is called when there are new numbers, or another field is chosen. */
  set(facts: Facts[], c: Choice): void {
    this.box.replaceChildren();
    this.drawn = groups(facts, c).map((group) => {
      const figure = make("figure"), canvas = make("canvas");
      canvas.setAttribute("role", "img");
      canvas.setAttribute("aria-label", group.name);
      canvas.onclick = (e) => this.go(this.first + (e.offsetX / canvas.clientWidth) * (this.last - this.first));
      figure.append(caption(group), canvas);
      this.box.append(figure);
      return { canvas, series: group.series };
    });
  }

  /** draw draws them, with a line at a tick. */
  draw(tick: number): void {
    for (const d of this.drawn) chart(d.canvas, d.series, this.first, this.last, tick);
  }
}

function caption(g: Group): HTMLElement {
  const c = make("figcaption");
  c.append(make("strong", g.name), ...(g.series.length > 1 ? g.series.map((s) => swatch(s.name, s.colour)) : []));
  return c;
}

/** groups returns what stands in one chart each: the field's numbers, its totals in all recordings, and who lives. */
function groups(facts: Facts[], c: Choice): Group[] {
  const one = facts[0]!, a = one.about, f = a.fields[c.field]!, at = one.column(c.field) + 3 * Math.max(0, c.component);
  const series = (name: string, i: number, colour: string, of = one): Series => ({ name, ticks: of.ticks, values: of.points.map((n) => n[i] ?? NaN), colour });
  const list: Group[] = [];
  if (f.values) {
    const colours = palette(a.palettes["categories"]!).map(css);
    list.push({ name: f.name, series: f.values.map((v, i) => series(v, at + i, colours[i % colours.length]!)) });
  } else {
    list.push({ name: `${f.name}: total`, series: facts.map((x, i) => series(x.about.file, at, i ? orange : blue, x)) });
    list.push({ name: f.name, series: [series("least", at + 1, blue), series("greatest", at + 2, orange)] });
  }
  if (a.kinds) {
    const first = one.column(a.fields.length), colours = palette(a.palettes["kinds"]!).map(css);
    list.push({ name: "alive", series: a.kinds.map((k, i) => series(k, first + i, colours[i % colours.length]!)) });
  }
  return list;
}
