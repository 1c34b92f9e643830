// A pane shows the world of one source, or in what two differ.

import { palette, part, type Scale } from "./colour";
import { Layout } from "./layout";
import { overlay, type Crowd } from "./overlay";
import { painterOf, type Camera, type Painter } from "./painter";
import type { About, Answer, HistoryHead, Source, StateHead } from "./source";

const stripRows = 240; // ticks of a line or ring that are shown at a time

/** A Choice is what is shown of a world. */
export interface Choice {
  field: number;
  component: number; // of a vector; -1: its length
  mask: number; // a field; -1: none
  map: string; // of colours; "": chosen by the values
}

/** Chosen is what the pointer is on. */
export interface Chosen { cell?: number; entity?: string }

/** A View is where all panes look. */
export interface View { camera: Camera; fitted: boolean }

/** Loaded is what a pane has of a tick. */
export interface Loaded { values: Float32Array; mask: Float32Array | null }

export class Pane {
  readonly cells = document.createElement("canvas");
  private readonly over = document.createElement("canvas");
  private readonly caption = document.createElement("figcaption");
  private readonly painter: Painter;
  layout: Layout;
  crowd: Crowd | null = null;
  state: Answer<StateHead> | null = null;
  private scale: Scale | null = null;
  readonly strip: boolean; // a line or ring over time

  constructor(host: HTMLElement, readonly about: About, private readonly source: Source | null, private readonly which: number, private readonly view: View) {
    const s = about.space, figure = document.createElement("figure");
    this.cells.tabIndex = 0;
    this.cells.setAttribute("role", "img");
    this.over.setAttribute("aria-hidden", "true");
    figure.append(this.cells, this.over, this.caption);
    host.append(figure);
    this.strip = s.rows === 1 && s.panels === 1 && s.slices === 1;
    this.layout = new Layout(s, 1.5);
    this.painter = painterOf(this.cells, new URLSearchParams(location.search).has("plain"));
  }

  /** name says what the pane shows, to those who see it and those who do not. */
  name(visible: string, spoken: string): void {
    this.caption.textContent = visible;
    this.cells.setAttribute("aria-label", spoken);
  }

  /** load asks for a tick, or for the last one before it. */
  async load(tick: number, c: Choice): Promise<Loaded> {
    const a = this.about, f = a.fields[c.field]!, source = this.which;
    tick = Math.max(a.first, Math.min(a.last, tick));
    const fields = c.mask >= 0 && c.mask !== c.field ? [c.field, c.mask] : [c.field];
    this.state = await this.source!.ask<StateHead>({ op: "state", source, tick, fields, entities: !!a.kinds });
    if (this.strip) return { values: await this.overTime(tick, c), mask: null };
    this.crowd = a.kinds ? { ids: this.state.ids("ids"), kinds: this.state.numbers("kinds"), cells: this.state.numbers("cells") } : null;
    return {
      values: part(this.state.numbers(`field ${c.field}`), f.components, c.component),
      mask: fields.length > 1 ? part(this.state.numbers(`field ${c.mask}`), 1, -1) : null,
    };
  }

  /** overTime returns the values of a line or ring, tick by tick. */
  private async overTime(tick: number, c: Choice): Promise<Float32Array> {
    const { first, space, fields } = this.about, from = Math.max(first, tick - stripRows + 1);
    const values = new Float32Array((tick - from + 1) * space.cells);
    for (let at = from; at <= tick; ) {
      const h = await this.source!.ask<HistoryHead>({ op: "history", source: this.which, field: c.field, tick: at, to: tick });
      values.set(part(h.numbers("values"), fields[c.field]!.components, c.component), (at - from) * space.cells);
      at = h.head.to + 1;
    }
    return values;
  }

  /** show puts values on the screen, with the next paint. */
  show(l: Loaded, scale: Scale): void {
    if (this.strip) this.layout = new Layout({ ...this.about.space, rows: l.values.length / this.about.space.cells }, 1.5);
    this.scale = scale;
    this.painter.show({ layout: this.layout, values: l.values, mask: l.mask, scale });
  }

  paint(c: Choice, chosen: Chosen): void {
    const f = this.about.fields[c.field]!, camera = this.view.camera;
    this.painter.paint(camera);
    const arrows = f.components > 1 && !this.strip && this.state
      ? { values: this.state.numbers(`field ${c.field}`), components: f.components, longest: this.scale?.hi ?? 0 } : null;
    let cell = this.strip ? -1 : chosen.cell ?? -1;
    if (chosen.entity && this.crowd) {
      const i = this.crowd.ids.indexOf(chosen.entity);
      cell = i >= 0 ? this.crowd.cells[i]! : -1;
    }
    overlay(this.over, { layout: this.layout, crowd: this.crowd, colours: palette(this.about.palettes["kinds"]!), arrows, chosen: cell }, camera);
  }

  resize(): void {
    for (const c of [this.cells, this.over]) {
      c.width = Math.max(1, Math.round(c.clientWidth * devicePixelRatio));
      c.height = Math.max(1, Math.round(c.clientHeight * devicePixelRatio));
    }
  }

  /** fit moves the view so that all of the world is seen. */
  fit(): void {
    const { width, height } = this.cells, l = this.layout, margin = 0.94;
    const zoom = Math.min((width * margin) / l.width, (height * margin) / l.height);
    this.view.camera = { zoom, x: (width - l.width * zoom) / 2, y: (height - l.height * zoom) / 2 };
    this.view.fitted = true;
  }

  /** zoom makes the world larger around a point of the canvas. */
  zoom(by: number, x = this.cells.width / 2, y = this.cells.height / 2): void {
    const c = this.view.camera, zoom = Math.max(0.02, Math.min(400, c.zoom * by)), k = zoom / c.zoom;
    this.view.camera = { zoom, x: x - (x - c.x) * k, y: y - (y - c.y) * k };
    this.view.fitted = false;
  }

  move(x: number, y: number): void {
    const c = this.view.camera;
    this.view.camera = { ...c, x: c.x + x, y: c.y + y };
    this.view.fitted = false;
  }

  /** under returns what lies under the pointer: a cell, or with Shift the entity on it. */
  under(e: PointerEvent): Chosen {
    const r = this.cells.getBoundingClientRect(), k = devicePixelRatio, c = this.view.camera;
    const cell = this.layout.at(((e.clientX - r.left) * k - c.x) / c.zoom, ((e.clientY - r.top) * k - c.y) / c.zoom);
    if (cell < 0) return {};
    if (this.strip) return { cell: cell % this.about.space.cells };
    const i = this.crowd && e.shiftKey ? this.crowd.cells.indexOf(cell as never) : -1;
    return i >= 0 ? { entity: this.crowd!.ids[i]! } : { cell };
  }
}
