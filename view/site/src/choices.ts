// Which fields are shown, and in what colours.

import { partName } from "./colour";
import { button, element, make } from "./dom";
import type { About } from "./source";
import { isStrip } from "./world";

/** An Aspect is what is drawn of a field. */
export interface Aspect {
  field: number;
  component: number; // of a vector; -1: its length
}

const most = 4; // fields side by side

export class Choices {
  readonly aspects: Aspect[] = []; // side by side: at least one
  over: Aspect | null = null; // drawn over each of them
  map = ""; // colour map; "": chosen by the values
  overMap = "";
  mask: number; // a field that covers the cells where it is not 0; -1: none
  dots: number; // an entity field that colours the dots; -1: by kind
  private readonly all: Aspect[] = []; // all that can be chosen

  /** The wish comes from the address, such as field=heat,wall. Several says whether more than one field is allowed. */
  constructor(private readonly about: About, wish: URLSearchParams, private readonly several: boolean, private readonly changed: () => void) {
    about.fields.forEach((f, field) => {
      if (f.entities) return;
      this.all.push({ field, component: -1 });
      if (f.components > 1) for (let component = 0; component < f.components; component++) this.all.push({ field, component });
    });
    const wall = about.fields.findIndex((f) => f.name === "wall" && !f.entities);
    for (const name of (wish.get("field") ?? "").split(",")) {
      const a = this.named(name);
      if (a && this.aspects.length < (several ? most : 1)) this.aspects.push(a);
    }
    if (!this.aspects.length) this.aspects.push({ ...(this.all.find((a) => !about.fields[a.field]!.static) ?? this.all[0] ?? { field: 0, component: -1 }) });
    this.over = this.named(wish.get("over") ?? "");
    this.mask = this.aspects[0]!.field === wall || this.over?.field === wall ? -1 : wall;
    this.dots = this.dotted().find((i) => about.fields[i]!.name === wish.get("dots")) ?? -1;
    this.furnish();
  }

  /** name returns the name of an aspect, as used in the address. */
  name(a: Aspect): string {
    const f = this.about.fields[a.field]!;
    return a.component < 0 ? f.name : `${f.name}[${a.component}]`;
  }

  /** title returns the name of an aspect for people. */
  title(a: Aspect): string {
    const f = this.about.fields[a.field]!;
    if (a.component >= 0) return partName(f, a.component);
    return f.components > 1 ? `${f.name}: length` : f.name;
  }

  /** dotted returns the fields that can colour dots: none for a line or ring, which is shown over time, without dots. */
  private dotted(): number[] {
    const { fields, space } = this.about;
    return isStrip(space) ? [] : [...fields.keys()].filter((i) => fields[i]!.entities && fields[i]!.components === 1);
  }

  private named(name: string): Aspect | null {
    const a = this.all.find((x) => this.name(x) === name);
    return a ? { ...a } : null;
  }

  /** fields returns the numbers of all drawn fields. */
  fields(): number[] {
    return [...new Set([...this.aspects, ...(this.over ? [this.over] : [])].map((a) => a.field))];
  }

  /** address returns the choices as the address has them. */
  address(): string {
    const list = this.aspects.map((a) => this.name(a)).join(",");
    return `field=${list}${this.over ? `&over=${this.name(this.over)}` : ""}${this.dots >= 0 ? `&dots=${this.about.fields[this.dots]!.name}` : ""}`;
  }

  /** next changes the first field. */
  next(): void {
    const i = this.all.findIndex((a) => this.name(a) === this.name(this.aspects[0]!));
    this.aspects[0] = { ...this.all[(i + 1) % this.all.length]! };
    this.rows();
    this.changed();
  }

  // The controls.

  private readonly list = make("div");

  private furnish(): void {
    const a = this.about, maps = Object.keys(a.palettes).sort().filter((name) => name !== "categories" && name !== "kinds");
    const colours = (label: string, whose: string, act: (map: string) => void) =>
      selection(label, [[`${whose}colours: automatic`, ""], ...maps.map((m): [string, string] => [m, m])], "", act);
    const over = selection("Over it", [["over it: nothing", ""], ...this.all.map((x): [string, string] => [`over it: ${this.title(x)}`, this.name(x)])],
      this.over ? this.name(this.over) : "", (name) => {
        this.over = this.named(name);
        overMap.hidden = !this.over;
        this.changed();
      });
    over.id = "over";
    const overMap = colours("Colours of the field on top", "its ", (map) => { this.overMap = map; this.changed(); });
    overMap.hidden = !this.over;
    const masks = a.fields.map((f, i): [string, string] => [`covered by: ${f.name}`, String(i)]).filter((_, i) => !a.fields[i]!.entities && a.fields[i]!.components === 1);
    element("fields").replaceChildren(make("legend", "Field"), this.list, colours("Colours", "", (map) => { this.map = map; this.changed(); }),
      selection("Covered by", [["covered by: nothing", "-1"], ...masks], String(this.mask), (v) => { this.mask = +v; this.changed(); }), over, overMap);
    const dots = this.dotted().map((i): [string, string] => [`dots: by ${a.fields[i]!.name}`, String(i)]);
    if (dots.length) element("fields").append(selection("Colours of dots", [["dots: by kind", "-1"], ...dots], String(this.dots), (v) => { this.dots = +v; this.changed(); }));
    this.rows();
  }

  /** rows makes a row for each field, and a button for adding one. */
  private rows(): void {
    const rows: HTMLElement[] = this.aspects.map((aspect, i) => {
      const row = make("div"), names = this.all.map((x): [string, string] => [this.title(x), this.name(x)]);
      const field = selection(i ? `Field ${i + 1}` : "Field", names, this.name(aspect), (name) => { this.aspects[i] = this.named(name)!; this.changed(); });
      if (i === 0) field.id = "field";
      row.append(field);
      if (this.aspects.length > 1) row.append(button("✕", `Without ${this.title(aspect)}`, () => this.aspects.splice(i, 1)));
      return row;
    });
    if (this.several && this.all.length > 1 && this.aspects.length < most) {
      const more = button("+ side by side", "Show another field beside it", () => this.aspects.push({ ...this.unseen() }));
      more.id = "beside";
      rows.push(more);
    }
    for (const row of rows) for (const b of row instanceof HTMLButtonElement ? [row] : row.querySelectorAll("button")) {
      b.addEventListener("click", () => {
        this.rows();
        (document.getElementById("beside") ?? element("field")).focus();
        this.changed();
      });
    }
    this.list.replaceChildren(...rows);
  }

  /** unseen returns an aspect that is not shown yet, if any; otherwise the first. */
  private unseen(): Aspect {
    return this.all.find((x) => !this.aspects.some((a) => a.field === x.field)) ?? this.all[0]!;
  }
}

/** selection makes a drop-down list of texts with their values. */
function selection(label: string, options: [string, string][], chosen: string, act: (value: string) => void): HTMLSelectElement {
  const s = make("select");
  s.setAttribute("aria-label", label);
  for (const [text, value] of options) s.add(new Option(text, value));
  s.value = chosen;
  s.onchange = () => act(s.value);
  return s;
}
