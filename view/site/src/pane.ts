// A pane shows a field of one source's world, or the difference of two worlds.

import type { Aspect } from "./choices";
import { index, palette, type RGB, type Scale } from "./colour";
import { Layout } from "./layout";
import { overlay } from "./overlay";
import { painterOf, type Camera, type Painter } from "./painter";
import type { About } from "./source";
import { isStrip, type World } from "./world";

/** Chosen is what the pointer is on. */
export interface Chosen { cell?: number; entity?: string }

/** A View says where all panes look. */
export interface View { camera: Camera; fitted: boolean }

/** A Layer holds values by rank, with their colours. */
export interface Layer { aspect: Aspect; values: Float32Array; scale: Scale }

const plain = new URLSearchParams(location.search).has("plain"); // without the graphics card

export class Pane {
  readonly cells = document.createElement("canvas");
  private readonly above = document.createElement("canvas"); // a second field
  private readonly marks = document.createElement("canvas"); // entities, arrows, the chosen cell
  private readonly figure = document.createElement("figure");
  private readonly caption = document.createElement("figcaption");
  private readonly painter: Painter;
  private second: Painter | null = null; // made on demand: browsers allow only a few
  private layers: Layer[] = [];
  layout: Layout;
  private readonly strip: boolean;

  /** A pane without a world shows values that belong to no single world. */
  constructor(host: HTMLElement, readonly about: About, readonly world: World | null, private readonly view: View) {
    this.cells.tabIndex = 0;
    this.cells.setAttribute("role", "application");
    this.cells.setAttribute("aria-roledescription", "world");
    for (const c of [this.above, this.marks]) c.setAttribute("aria-hidden", "true");
    this.figure.append(this.cells, this.above, this.marks, this.caption);
    host.append(this.figure);
    this.layout = new Layout(about.space, 1.5);
    this.strip = isStrip(about.space);
    this.painter = painterOf(this.cells, plain);
  }

  remove(): void { this.figure.remove(); }

  /** name labels the pane, for sighted readers and for screen readers. */
  name(visible: string, spoken: string): void {
    this.caption.textContent = visible;
    this.cells.setAttribute("aria-label", spoken);
  }

  /** show puts a field on the screen with the next paint, optionally with another one over it. */
  show(first: Layer, second: Layer | null, mask: Float32Array | null): void {
    const s = this.about.space;
    if (this.strip) this.layout = new Layout({ ...s, rows: first.values.length / s.cells }, 1.5);
    this.layers = second ? [first, second] : [first];
    this.painter.show({ layout: this.layout, values: first.values, mask, scale: first.scale });
    if (second) (this.second ??= painterOf(this.above, plain)).show({ layout: this.layout, values: second.values, mask, scale: second.scale });
    this.above.hidden = !second;
  }

  paint(chosen: Chosen): void {
    this.cells.classList.toggle("fitted", this.view.fitted);
    const camera = this.view.camera, crowd = this.world?.crowd ?? null;
    this.painter.paint(camera);
    if (this.layers.length > 1) this.second!.paint(camera);
    const vector = this.world && !this.strip ? this.layers.find((l) => this.about.fields[l.aspect.field]!.components > 1) : undefined;
    const arrows = vector ? { values: this.world!.column(vector.aspect.field), components: this.about.fields[vector.aspect.field]!.components, longest: vector.scale.hi } : null;
    overlay(this.marks, { layout: this.layout, crowd, colour: this.dot(), arrows, chosen: this.rank(chosen) }, camera);
  }

  dots: { values: Float32Array; scale: Scale } | null = null; // for the colours of the crowd; null: by kind

  private dot(): (i: number) => RGB {
    const kinds = palette(this.about.palettes["kinds"]!), { dots } = this;
    return (i) => (dots ? dots.scale.colours[index(dots.scale, dots.values[i]!)]! : kinds.at(this.world!.crowd!.kinds[i]! % kinds.length)!);
  }

  /** rank returns the rank of a chosen cell or entity in the layout; -1 if it is not there. */
  rank(chosen: Chosen): number {
    const crowd = this.world?.crowd;
    if (chosen.entity) {
      const i = crowd ? crowd.ids.indexOf(chosen.entity) : -1;
      return i >= 0 ? crowd!.cells[i]! : -1;
    }
    if (chosen.cell === undefined) return -1;
    return this.strip ? (this.layout.space.rows - 1) * this.about.space.cells + chosen.cell : chosen.cell;
  }

  /** resize fits the canvases to their room, and reports whether the size has changed. */
  resize(): boolean {
    const width = Math.max(1, Math.round(this.cells.clientWidth * devicePixelRatio)), height = Math.max(1, Math.round(this.cells.clientHeight * devicePixelRatio));
    if (this.cells.width === width && this.cells.height === height) return false; // setting the size would clear them
    for (const c of [this.cells, this.above, this.marks]) [c.width, c.height] = [width, height];
    return true;
  }

  /** fit moves the view so that the whole world is visible. */
  fit(): void {
    const { width, height } = this.cells, [x, y, wide, high] = this.extent(), margin = 0.94;
    const zoom = Math.min((width * margin) / wide, (height * margin) / high);
    this.view.camera = { zoom, x: width / 2 - (x + wide / 2) * zoom, y: height / 2 - (y + high / 2) * zoom };
    this.view.fitted = true;
  }

  private inside: [number, number, number, number] | null = null; // in a hollow layout, the part that belongs to the world

  /** extent returns the world's origin, width and height. */
  private extent(): [number, number, number, number] {
    const l = this.layout, all: [number, number, number, number] = [0, 0, l.width, l.height];
    if (!this.about.space.hollow || !this.layers[0]) return all;
    if (!this.inside) {
      let [left, top, right, bottom] = [Infinity, Infinity, -Infinity, -Infinity];
      this.layers[0].values.forEach((v, rank) => {
        if (Number.isNaN(v)) return;
        const [x, y] = l.centre(rank);
        [left, top, right, bottom] = [Math.min(left, x), Math.min(top, y), Math.max(right, x), Math.max(bottom, y)];
      });
      this.inside = [left - 0.6, top - 0.6, right - left + 1.2, bottom - top + 1.2]; // a hex reaches 0.58 from its centre
    }
    return this.inside;
  }

  /** zoom enlarges the world around a point of the canvas. */
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

  /** reveal moves the view just far enough to show a cell. */
  reveal(cell: number): void {
    const c = this.view.camera, [u, v] = this.layout.centre(this.rank({ cell })), edge = Math.min(2 * c.zoom, this.cells.width / 4, this.cells.height / 4);
    const x = u * c.zoom + c.x, y = v * c.zoom + c.y;
    const dx = Math.max(0, edge - x) - Math.max(0, x - this.cells.width + edge), dy = Math.max(0, edge - y) - Math.max(0, y - this.cells.height + edge);
    const out = x < 0 || y < 0 || x > this.cells.width || y > this.cells.height;
    if (out || (!this.view.fitted && (dx || dy))) this.move(dx, dy);
  }

  /** beside returns the cell some columns and rows away from another; that cell itself if there is none. */
  beside(cell: number, cols: number, rows: number): number {
    if (!this.strip) return this.layout.beside(cell, cols, rows);
    const next = cell + cols;
    return next >= 0 && next < this.about.space.cells ? next : cell;
  }

  /** middle returns the cell in the middle of the view. */
  middle(): number {
    const c = this.view.camera, { width, height } = this.cells;
    const cell = this.layout.at((width / 2 - c.x) / c.zoom, (height / 2 - c.y) / c.zoom);
    return Math.max(0, cell) % this.about.space.cells;
  }

  /** under returns what is under the pointer: a cell, or with Shift, the entity on it. */
  under(e: PointerEvent): Chosen {
    const r = this.cells.getBoundingClientRect(), k = devicePixelRatio, c = this.view.camera;
    const cell = this.layout.at(((e.clientX - r.left) * k - c.x) / c.zoom, ((e.clientY - r.top) * k - c.y) / c.zoom);
    if (cell < 0 || (this.about.space.hollow && Number.isNaN(this.layers[0]?.values[cell] ?? NaN))) return {};
    if (this.strip) return { cell: cell % this.about.space.cells };
    return e.shiftKey ? this.on(cell) : { cell };
  }

  /** on returns the entity on a cell, or the cell if there is none. */
  on(cell: number): Chosen {
    const crowd = this.world?.crowd, i = crowd ? crowd.cells.indexOf(cell as never) : -1;
    return i >= 0 ? { entity: crowd!.ids[i]! } : { cell };
  }
}
