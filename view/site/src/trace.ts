// The values of a cell or an entity over the whole run.

import { chart, plot, short, type Series } from "./chart";
import type { Aspect, Choices } from "./choices";
import type { Span } from "./clock";
import { part } from "./colour";
import { element, make, swatch } from "./dom";
import type { Chosen } from "./pane";
import type { HistoryHead, Source } from "./source";
import type { World } from "./world";

const points = 500; // in a new chart; up to twice as many in a live run
const most = 1000; // values per request
const pause = 20; // milliseconds left for other requests
const patience = 2000; // milliseconds to wait after a failure
/** A Line holds the values of one source. */
interface Line extends Series { ticks: number[]; values: number[] }

export const hues = ["#3c8fd0", "#d07a2c"]; // for the first and the second source

export class Trace {
  private at: Chosen | null = null;
  private field = -1; // the chosen entity field
  private series: Line[] = [];
  private canvas: HTMLCanvasElement | null = null;
  private job = 1; // number of the current job
  private of = ""; // what the chart shows

  constructor(private readonly source: Source, private readonly worlds: World[], private readonly choices: Choices,
    private readonly span: Span, private readonly go: (tick: number) => void) {
    this.field = worlds[0]!.about.fields.findIndex((f) => f.entities && !f.static);
  }

  /** show requests the history of what is pinned; null: nothing. */
  show(at: Chosen | null): void {
    this.at = at;
    const a = this.aspect(), of = JSON.stringify([at, a]);
    if (of === this.of) return;
    this.of = of;
    this.series = [];
    this.canvas = null;
    this.job++;
    element("trace").replaceChildren();
    if (!at || !a) return;
    this.furnish(at, a);
    this.series = this.worlds.map((w, i) => ({ name: w.about.file, ticks: [], values: [], colour: hues[i]! }));
    this.every = Math.max(1, Math.ceil((this.span.end - this.span.first) / points));
    this.due = this.worlds.map((w) => w.about.first);
    this.more();
  }

  private aspect(): Aspect | null {
    if (!this.at?.entity) return this.choices.aspects[0]!;
    return this.field >= 0 ? { field: this.field, component: -1 } : null;
  }

  private furnish(at: Chosen, a: Aspect): void {
    const about = this.worlds[0]!.about, figure = make("figure"), caption = make("figcaption"), unit = about.fields[a.field]!.unit;
    caption.append(make("strong", at.entity ? `entity ${at.entity}` : `${this.choices.title(a)} of the cell${unit ? `, ${unit}` : ""}`));
    if (at.entity) caption.append(this.selection());
    if (this.worlds.length > 1) caption.append(...this.worlds.map((w, i) => swatch(w.about.file, hues[i]!)));
    this.canvas = plot(caption.textContent!, this.span, this.go);
    figure.append(caption, this.canvas);
    element("trace").append(figure);
  }

  /** selection makes a list of entity fields to choose from. */
  private selection(): HTMLSelectElement {
    const s = make("select");
    s.setAttribute("aria-label", "Field of the entity");
    this.worlds[0]!.about.fields.forEach((f, i) => { if (f.entities) s.add(new Option(f.name, String(i))); });
    s.value = String(this.field);
    s.onchange = () => { this.field = +s.value; this.show(this.at); };
    return s;
  }

  private every = 1; // ticks from one value to the next
  private due: number[] = []; // the next tick of each world
  private busy = 0; // number of the job that is sending requests

  /** more requests what is missing, also in a live run. */
  more(): void {
    const a = this.aspect();
    if (!this.canvas || !this.at || !a || this.busy === this.job || this.worlds.every((w, i) => this.due[i]! > w.about.last)) return;
    this.busy = this.job;
    void this.fill(this.job, this.at, a);
  }

  /** fill requests the history piece by piece, until something else is pinned. */
  private async fill(job: number, at: Chosen, a: Aspect): Promise<void> {
    try {
      for (const [i, w] of this.worlds.entries()) {
        const { last, fields } = w.about;
        while (this.due[i]! <= last) {
          const tick = this.due[i]!, every = this.every, to = Math.min(last, tick + most * every);
          const h = await this.source.ask<HistoryHead>({ op: "history", source: i, field: a.field, tick, to, every, ...at }, () => job === this.job);
          if (job !== this.job) return;
          part(h.numbers("values"), fields[a.field]!.components, a.component).forEach((v, k) => {
            this.series[i]!.ticks.push(tick + k * every);
            this.series[i]!.values.push(v);
          });
          this.due[i] = h.head.to + every;
          this.thin();
          this.draw(this.tick);
          await new Promise((done) => setTimeout(done, pause));
          if (job !== this.job) return;
        }
      }
      element("trace").dataset["points"] = String(this.series.reduce((n, s) => n + s.values.length, 0));
      this.failed.remove();
    } catch (e) {
      if (job !== this.job) return;
      this.failed.textContent = (e as Error).message;
      element("trace").append(this.failed);
      await new Promise((done) => setTimeout(done, patience));
    }
    if (job !== this.job) return;
    this.busy = 0;
    this.more(); // more may have come meanwhile
  }

  private readonly failed = make("p"); // says what went wrong

  /** thin drops every other value while a live run has too many. */
  private thin(): void {
    while (this.series.some((s) => s.values.length > 2 * points + 1)) {
      this.every *= 2;
      for (const [i, s] of this.series.entries()) {
        const keep = s.ticks.map((t) => (t - this.worlds[i]!.about.first) % this.every === 0);
        [s.ticks, s.values] = [s.ticks.filter((_, k) => keep[k]), s.values.filter((_, k) => keep[k])];
        this.due[i] = (s.ticks.at(-1) ?? this.worlds[i]!.about.first - this.every) + this.every;
      }
    }
  }

  private tick = 0;

  /** draw draws the chart with a line at a tick. */
  draw(tick: number): void {
    this.tick = tick;
    if (!this.canvas) return;
    const names = this.worlds[0]!.about.fields[this.aspect()!.field]!.values, say = (v: number) => names?.[v] ?? short(v);
    chart(this.canvas, this.series, this.span, tick, Infinity, say);
    const now = this.series.map((s) => say(s.values[nearest(s.ticks, tick)] ?? NaN)).join(" and ");
    this.canvas.setAttribute("aria-label", `History of the pinned cell or entity; at tick ${tick} ${now}`);
  }
}

/** nearest returns the index of the last tick at or before the given one. */
function nearest(ticks: ArrayLike<number>, tick: number): number {
  let i = ticks.length - 1;
  while (i > 0 && ticks[i]! > tick) i--;
  return i;
}
