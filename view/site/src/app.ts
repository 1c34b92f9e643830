// The page: what is chosen, and what follows from it.

import { css, palette, part, range, scaleOf, type Scale } from "./colour";
import { chart, short, type Series } from "./chart";
import { Engine } from "./engine";
import { Layout } from "./layout";
import { overlay, type Crowd } from "./overlay";
import { painterOf, type Camera, type Painter } from "./painter";
import { Server, type About, type Answer, type Check, type HistoryHead, type Look, type Mark, type Source, type StateHead } from "./source";

function element<T extends HTMLElement>(id: string): T {
  return document.getElementById(id) as T;
}

function make<K extends keyof HTMLElementTagNameMap>(tag: K, text = ""): HTMLElementTagNameMap[K] {
  const e = document.createElement(tag);
  e.textContent = text;
  return e;
}

/** swatch is a name with its colour. */
function swatch(name: string, colour: string): HTMLSpanElement {
  const item = make("span"), box = make("i");
  box.style.background = colour;
  item.append(box, name);
  return item;
}

const stripRows = 240; // ticks of a line or ring that are shown at a time

class App {
  private tick: number;
  private shown = -1;
  private field = 0;
  private component = -1; // of a vector; -1: its length
  private mask = -1;
  private map = "";
  private chosen: { cell?: number; entity?: string } = {};
  private playing = false;
  private speed = 1;
  private due = 0; // time of the next tick, in milliseconds
  private busy = false;
  private camera: Camera = { x: 0, y: 0, zoom: 1 };
  private fitted = true;
  private layout: Layout;
  private scale: Scale | null = null;
  private crowd: Crowd | null = null;
  private state: Answer<StateHead> | null = null;
  private check: Check = { ticks: 0, done: false };
  private marks: Mark[] = [];
  private points: { ticks: number[]; numbers: number[][] } = { ticks: [], numbers: [] };
  private painter: Painter;
  private readonly cells = element<HTMLCanvasElement>("cells");
  private readonly over = element<HTMLCanvasElement>("over");
  private readonly strip: boolean; // a line or ring over time

  constructor(private readonly source: Source, private readonly about: About) {
    const s = about.space;
    this.tick = about.first;
    this.strip = s.rows === 1 && s.panels === 1 && s.slices === 1;
    this.layout = new Layout(s, 1.5);
    this.painter = painterOf(this.cells, new URLSearchParams(location.search).has("plain"));
    const shown = about.fields.findIndex((f) => !f.entities && !f.static);
    this.field = shown >= 0 ? shown : Math.max(0, about.fields.findIndex((f) => !f.entities));
    const names = about.fields.map((f) => f.name);
    this.mask = names.indexOf("wall") >= 0 && this.field !== names.indexOf("wall") ? names.indexOf("wall") : -1;
    const wish = new URLSearchParams(location.hash.slice(1)); // such as #tick=500&field=heat
    this.tick = Math.max(about.first, Math.min(about.last, Number(wish.get("tick") ?? about.first) || 0));
    if (names.includes(wish.get("field") ?? "")) this.field = names.indexOf(wish.get("field")!);
    this.furnish();
    this.listen();
    new ResizeObserver(() => this.resize()).observe(element("stage"));
    this.resize();
    void this.refresh();
    void this.watch();
    requestAnimationFrame((t) => this.frame(t));
  }

  // What does not change.

  private furnish(): void {
    const a = this.about;
    document.title = `${a.scenario} – murksim`;
    element("title").textContent = a.scenario;
    element("subtitle").textContent = [a.about, a.space.text, `seed ${a.seed}`].filter(Boolean).join("  ·  ");
    if (a.problem) this.say(`After tick ${a.last}: ${a.problem}`);
    const scrub = element<HTMLInputElement>("scrub"), tick = element<HTMLInputElement>("tick");
    for (const e of [scrub, tick]) [e.min, e.max] = [String(a.first), String(a.last)];
    const speed = element<HTMLSelectElement>("speed");
    for (const v of [0.25, 0.5, 1, 2, 4, 8, 16, 64]) speed.add(new Option(`${v}×`, String(v), v === 1, v === 1));
    const box = element("fields"), select = make("select");
    select.setAttribute("aria-label", "Field");
    a.fields.forEach((f, i) => {
      if (f.entities) return;
      if (f.components === 1) select.add(new Option(f.name, `${i}:-1`));
      else {
        select.add(new Option(`${f.name}: length`, `${i}:-1`));
        for (let c = 0; c < f.components; c++) select.add(new Option(`${f.name}[${c}]`, `${i}:${c}`));
      }
    });
    select.value = `${this.field}:-1`;
    select.onchange = () => {
      [this.field, this.component] = select.value.split(":").map(Number) as [number, number];
      void this.refresh();
    };
    select.id = "field";
    box.append(select);
    const maps = make("select");
    maps.add(new Option("colours: automatic", ""));
    for (const name of Object.keys(a.palettes).sort()) if (name !== "categories" && name !== "kinds") maps.add(new Option(name, name));
    maps.setAttribute("aria-label", "Colours");
    maps.onchange = () => { this.map = maps.value; void this.refresh(); };
    box.append(" ", maps);
    const masks = make("select");
    masks.setAttribute("aria-label", "Covered by");
    masks.add(new Option("covered by: nothing", "-1"));
    a.fields.forEach((f, i) => { if (!f.entities && f.components === 1) masks.add(new Option(`covered by: ${f.name}`, String(i))); });
    masks.value = String(this.mask);
    masks.onchange = () => { this.mask = +masks.value; void this.refresh(); };
    box.append(" ", masks);
  }

  private say(text: string): void {
    const m = element("message");
    m.hidden = !text;
    m.textContent = text;
  }

  // Time.

  private go(tick: number): void {
    const { first, last } = this.about;
    this.tick = Math.max(first, Math.min(last, Math.round(tick)));
    void this.refresh();
  }

  private toggle(): void {
    this.playing = !this.playing;
    if (this.playing && this.tick >= this.about.last) this.tick = this.about.first;
    this.due = performance.now();
    const play = element("play");
    play.textContent = this.playing ? "❚❚" : "▶";
    play.setAttribute("aria-label", this.playing ? "Pause" : "Play");
  }

  private frame(now: number): void {
    requestAnimationFrame((t) => this.frame(t));
    if (!this.playing || this.busy || now < this.due) return;
    const each = 1000 / (this.about.tick_rate * this.speed), steps = Math.max(1, Math.floor((now - this.due) / each));
    this.due = Math.max(now - 100, this.due + steps * each);
    if (this.tick >= this.about.last) this.toggle();
    else this.go(this.tick + steps);
  }

  // What is shown.

  /** refresh asks for the state of the tick, and for the next one if the tick has changed meanwhile. */
  private async refresh(): Promise<void> {
    this.label();
    if (this.busy) { this.shown = -1; return; }
    this.busy = true;
    try {
      do {
        const tick = this.tick;
        this.shown = tick;
        await this.show(tick);
      } while (this.shown === -1 || this.shown !== this.tick);
    } catch (e) {
      this.playing = false;
      this.say((e as Error).message);
    }
    this.busy = false;
  }

  private async show(tick: number): Promise<void> {
    const a = this.about, f = a.fields[this.field]!;
    const wanted = this.mask >= 0 && this.mask !== this.field ? [this.field, this.mask] : [this.field];
    const state = await this.source.ask<StateHead>({ op: "state", tick, fields: wanted, entities: !!a.kinds });
    const all = state.numbers(`field ${this.field}`);
    let values = part(all, f.components, this.component);
    let mask = wanted.length > 1 ? part(state.numbers(`field ${this.mask}`), 1, -1) : null;
    if (this.strip) {
      [values, this.layout] = await this.over_time(tick, f.components);
      mask = null;
    }
    const [lo, hi] = this.bounds(values);
    this.scale = scaleOf(a, f, lo, hi, this.map);
    this.state = state;
    this.crowd = a.kinds && !this.strip ? { ids: state.ids("ids"), kinds: state.numbers("kinds"), cells: state.numbers("cells") } : null;
    if (this.fitted) this.fit();
    this.painter.show({ layout: this.layout, values, mask, scale: this.scale });
    this.paint();
    this.legend();
    this.label();
    this.draw();
    document.body.dataset["tick"] = String(tick);
    if (this.chosen.cell !== undefined || this.chosen.entity) await this.look();
  }

  /** over_time returns the values of a line or ring, tick by tick, and the layout of that picture. */
  private async over_time(tick: number, components: number): Promise<[Float32Array, Layout]> {
    const from = Math.max(this.about.first, tick - stripRows + 1), cells = this.about.space.cells;
    const values = new Float32Array((tick - from + 1) * cells);
    for (let at = from; at <= tick; ) {
      const h = await this.source.ask<HistoryHead>({ op: "history", field: this.field, tick: at, to: tick });
      values.set(part(h.numbers("values"), components, this.component), (at - from) * cells);
      at = h.head.to + 1;
    }
    return [values, new Layout({ ...this.about.space, rows: tick - from + 1 }, 1.5)];
  }

  /** bounds returns the range of the field over all ticks, as far as it is known. */
  private bounds(values: Float32Array): [number, number] {
    let [lo, hi] = range(values);
    const at = this.column(this.field) + 3 * Math.max(0, this.component);
    if (this.about.fields[this.field]!.components > 1 && this.component < 0) return [0, hi];
    for (const n of this.points.numbers) {
      lo = Math.min(lo, n[at + 1]!);
      hi = Math.max(hi, n[at + 2]!);
    }
    return [lo, hi];
  }

  /** column returns where the numbers of a field begin in a point. */
  private column(field: number): number {
    return this.about.fields.slice(0, field).reduce((n, f) => n + (f.values ? f.values.length : 3 * f.components), 0);
  }

  private paint(): void {
    this.painter.paint(this.camera);
    const a = this.about, f = a.fields[this.field]!;
    const arrows = f.components > 1 && !this.strip && this.state
      ? { values: this.state.numbers(`field ${this.field}`), components: f.components, longest: this.scale?.hi ?? 0 } : null;
    let chosen = this.strip ? -1 : this.chosen.cell ?? -1;
    if (this.chosen.entity && this.crowd) {
      const i = this.crowd.ids.indexOf(this.chosen.entity);
      chosen = i >= 0 ? this.crowd.cells[i]! : -1;
    }
    overlay(this.over, { layout: this.layout, crowd: this.crowd, colours: palette(a.palettes["kinds"]!), arrows, chosen }, this.camera);
  }

  private label(): void {
    const a = this.about;
    element<HTMLInputElement>("scrub").value = String(this.tick);
    const tick = element<HTMLInputElement>("tick");
    if (document.activeElement !== tick) tick.value = String(this.tick);
    const alive = a.kinds && this.state ? `  ·  ${this.state.head.alive} alive` : "";
    element("when").textContent = `${(this.tick / a.tick_rate).toFixed(2)} s of ${(a.last / a.tick_rate).toFixed(2)} s${alive}`;
  }

  private legend(): void {
    const s = this.scale!, f = this.about.fields[this.field]!, a = this.about;
    const name = f.components > 1 ? (this.component < 0 ? `${f.name}: length` : `${f.name}[${this.component}]`) : f.name;
    const parts: HTMLElement[] = [make("strong", name)];
    if (s.categories) f.values!.forEach((v, i) => parts.push(swatch(v, css(s.colours[i % s.colours.length]!))));
    else {
      const bar = make("canvas");
      [bar.width, bar.height] = [s.colours.length, 1];
      const g = bar.getContext("2d")!;
      s.colours.forEach((c, i) => { g.fillStyle = css(c); g.fillRect(i, 0, 1, 1); });
      parts.push(make("span", short(s.lo)), bar, make("span", `${short(s.hi)} ${f.unit ?? ""}`));
    }
    if (this.crowd) {
      const kinds = palette(a.palettes["kinds"]!);
      a.kinds!.forEach((k, i) => parts.push(swatch(k, css(kinds[i % kinds.length]!))));
    }
    element("legend").replaceChildren(...parts);
  }

  // The place.

  private resize(): void {
    for (const c of [this.cells, this.over]) {
      c.width = Math.max(1, Math.round(c.clientWidth * devicePixelRatio));
      c.height = Math.max(1, Math.round(c.clientHeight * devicePixelRatio));
    }
    if (this.fitted) this.fit();
    this.paint();
    this.draw();
  }

  private fit(): void {
    const { width, height } = this.cells, l = this.layout, margin = 0.94;
    const zoom = Math.min((width * margin) / l.width, (height * margin) / l.height);
    this.camera = { zoom, x: (width - l.width * zoom) / 2, y: (height - l.height * zoom) / 2 };
    this.fitted = true;
  }

  private zoom(by: number, x = this.cells.width / 2, y = this.cells.height / 2): void {
    const c = this.camera, zoom = Math.max(0.02, Math.min(400, c.zoom * by)), k = zoom / c.zoom;
    this.camera = { zoom, x: x - (x - c.x) * k, y: y - (y - c.y) * k };
    this.fitted = false;
    this.paint();
  }

  private under(e: PointerEvent): { cell?: number; entity?: string; tick?: number } {
    const r = this.cells.getBoundingClientRect(), k = devicePixelRatio;
    const x = ((e.clientX - r.left) * k - this.camera.x) / this.camera.zoom, y = ((e.clientY - r.top) * k - this.camera.y) / this.camera.zoom;
    const cell = this.layout.at(x, y);
    if (cell < 0) return {};
    if (this.strip) return { cell: cell % this.about.space.cells };
    if (this.crowd) {
      const i = this.crowd.cells.indexOf(cell as never);
      if (i >= 0 && e.shiftKey) return { entity: this.crowd.ids[i]! };
    }
    return { cell };
  }

  // What a cell holds.

  private looking = false;

  private async look(): Promise<void> {
    if (this.looking) return;
    this.looking = true;
    try {
      const at = this.chosen, answer = await this.source.ask<Look>({ op: "look", tick: this.tick, ...at });
      if (at === this.chosen) this.tell(answer.head);
    } catch (e) {
      element("looked").replaceChildren(make("h2", (e as Error).message));
    }
    this.looking = false;
  }

  private tell(l: Look): void {
    const a = this.about, table = make("table");
    const row = (name: string, value: string) => {
      const r = table.insertRow();
      r.insertCell().textContent = name;
      r.insertCell().textContent = value;
    };
    for (const v of l.values) {
      const f = a.fields[v.field]!;
      row(f.name, v.values.join(", ") + (f.unit ? ` ${f.unit}` : ""));
    }
    for (const e of l.entities ?? []) row(e.kind, e.name ? `${e.name} (${e.id})` : e.id);
    const where = l.coord ? `[${l.coord.join(", ")}]` : "";
    element("looked").replaceChildren(make("h2", l.entity ? `${l.kind} ${l.name ?? l.entity} at ${where}` : `Cell ${where}, tick ${l.tick}`), table);
  }

  // What a replay finds.

  private async watch(): Promise<void> {
    for (;;) {
      try {
        const c = await this.source.ask<Check>({ op: "check", since: this.marks.length });
        this.marks.push(...(c.head.marks ?? []));
        this.check = c.head;
        const p = await this.source.ask<{ numbers: number }>({ op: "charts", since: this.points.ticks.length });
        const ticks = p.numbers("ticks"), numbers = p.numbers("values"), n = p.head.numbers;
        for (let i = 0; i < ticks.length; i++) {
          this.points.ticks.push(ticks[i]!);
          this.points.numbers.push(Array.from(numbers.subarray(i * n, (i + 1) * n)));
        }
        if (ticks.length > 0) void this.refresh();
      } catch (e) {
        this.say((e as Error).message);
        return;
      }
      this.verdict();
      this.draw();
      if (this.check.done) return;
      await new Promise((done) => setTimeout(done, 200));
    }
  }

  private verdict(): void {
    const c = this.check, a = this.about, v = element("verdict"), all = a.last - a.first;
    const n = (x: number) => x.toLocaleString("en-US");
    v.className = c.differs || c.error ? "bad" : c.done ? "good" : "";
    if (c.differs) v.textContent = `tick ${n(c.differs)} differs from what was recorded`;
    else if (c.error) v.textContent = c.error;
    else if (c.done) v.textContent = `${n(c.ticks)} of ${n(all)} ticks verified`;
    else v.textContent = `${n(c.ticks)} of ${n(all)} ticks verified …`;
    document.body.dataset["verdict"] = c.differs ? `differs ${c.differs}` : c.done ? "verified" : "";
  }

  /** draw draws what lies under the scrubber, and the charts. */
  private draw(): void {
    this.ribbon();
    const a = this.about, f = a.fields[this.field]!, box = element("charts");
    const groups: { name: string; series: Series[] }[] = [];
    const series = (name: string, i: number, colour: string): Series =>
      ({ name, ticks: this.points.ticks, values: this.points.numbers.map((n) => n[i] ?? NaN), colour });
    const colours = palette(a.palettes["categories"]!).map(css), at = this.column(this.field) + 3 * Math.max(0, this.component);
    if (f.values) groups.push({ name: f.name, series: f.values.map((v, i) => series(v, at + i, colours[i % colours.length]!)) });
    else {
      groups.push({ name: `${f.name}: total`, series: [series("total", at, "#3c8fd0")] });
      groups.push({ name: f.name, series: [series("least", at + 1, "#3c8fd0"), series("greatest", at + 2, "#d07a2c")] });
    }
    if (a.kinds) {
      const first = this.column(a.fields.length), own = palette(a.palettes["kinds"]!).map(css);
      groups.push({ name: "alive", series: a.kinds.map((k, i) => series(k, first + i, own[i % own.length]!)) });
    }
    while (box.children.length > groups.length) box.lastChild!.remove();
    groups.forEach((group, i) => {
      let figure = box.children[i] as HTMLElement | undefined;
      if (!figure) {
        figure = make("figure");
        const canvas = make("canvas");
        canvas.onclick = (e) => this.go(a.first + (e.offsetX / canvas.clientWidth) * (a.last - a.first));
        figure.append(make("figcaption"), canvas);
        box.append(figure);
      }
      const names = group.series.length > 1 ? group.series.map((x) => swatch(x.name, x.colour)) : [];
      figure.firstElementChild!.replaceChildren(make("strong", group.name), ...names);
      const canvas = figure.lastElementChild as HTMLCanvasElement;
      canvas.setAttribute("role", "img");
      canvas.setAttribute("aria-label", group.name);
      chart(canvas, group.series, a.first, a.last, this.tick);
    });
  }

  /** ribbon draws which ticks match, and those in which something came from outside. */
  private ribbon(): void {
    const c = element<HTMLCanvasElement>("strip"), k = devicePixelRatio, g = c.getContext("2d")!;
    [c.width, c.height] = [c.clientWidth * k, c.clientHeight * k];
    const { first, last } = this.about, style = getComputedStyle(document.documentElement);
    const x = (t: number) => (last > first ? (t - first) / (last - first) : 0) * c.width;
    const fill = (name: string, from: number, to: number) => {
      g.fillStyle = style.getPropertyValue(name);
      g.fillRect(x(from), c.height / 2, Math.max(1, x(to) - x(from)), c.height / 2);
    };
    const matched = this.check.differs ? this.check.differs - 1 : first + this.check.ticks;
    g.fillStyle = this.color("unknown");
    g.fillRect(0, c.height / 2, c.width, c.height / 2);
    if (matched > first) fill("--good", first, matched);
    if (this.check.differs) fill("--bad", this.check.differs - 1, last);
    for (const m of this.marks) {
      g.fillStyle = m.refused ? "#d07a2c" : this.color("accent");
      g.fillRect(x(m.tick), 0, Math.max(1, k), c.height / 2 - k);
    }
  }

  private color(name: string): string {
    const probe = element("strip");
    probe.style.color = `var(--${name})`;
    const c = getComputedStyle(probe).color;
    probe.style.color = "";
    return c;
  }

  // Hands.

  private listen(): void {
    element("play").onclick = () => this.toggle();
    element("back").onclick = () => this.go(this.tick - 1);
    element("on").onclick = () => this.go(this.tick + 1);
    element<HTMLInputElement>("scrub").oninput = (e) => this.go(+(e.target as HTMLInputElement).value);
    element<HTMLInputElement>("tick").onchange = (e) => this.go(+(e.target as HTMLInputElement).value);
    element<HTMLSelectElement>("speed").onchange = (e) => { this.speed = +(e.target as HTMLSelectElement).value; };
    let drag: { x: number; y: number; moved: boolean } | null = null;
    this.cells.onpointerdown = (e) => {
      drag = { x: e.clientX, y: e.clientY, moved: false };
      this.cells.setPointerCapture(e.pointerId);
    };
    this.cells.onpointermove = (e) => {
      if (drag) {
        const [dx, dy] = [e.clientX - drag.x, e.clientY - drag.y];
        if (drag.moved || Math.hypot(dx, dy) > 4) {
          this.camera = { ...this.camera, x: this.camera.x + dx * devicePixelRatio, y: this.camera.y + dy * devicePixelRatio };
          this.fitted = false;
          drag = { x: e.clientX, y: e.clientY, moved: true };
          this.paint();
        }
        return;
      }
      if (e.pointerType === "mouse") this.choose(this.under(e));
    };
    this.cells.onpointerup = (e) => {
      if (drag && !drag.moved) this.choose(this.under(e));
      drag = null;
    };
    this.cells.onwheel = (e) => {
      e.preventDefault();
      this.zoom(Math.exp(-e.deltaY / 400), e.offsetX * devicePixelRatio, e.offsetY * devicePixelRatio);
    };
    this.cells.ondblclick = () => { this.fit(); this.paint(); };
    document.onkeydown = (e) => this.key(e);
  }

  private choose(at: { cell?: number; entity?: string }): void {
    if (at.cell === this.chosen.cell && at.entity === this.chosen.entity) return;
    this.chosen = at;
    this.paint();
    if (at.cell !== undefined || at.entity) void this.look();
  }

  private key(e: KeyboardEvent): void {
    const target = e.target as HTMLElement;
    if (e.ctrlKey || e.metaKey || e.altKey || target.tagName === "SELECT" || (target.tagName === "INPUT" && target.id !== "scrub")) return;
    if (e.key === " " && target.tagName === "BUTTON") return;
    const step = e.shiftKey ? 10 : 1, pan = 60 * devicePixelRatio;
    const keys: Record<string, () => void> = {
      " ": () => this.toggle(),
      ArrowLeft: () => this.go(this.tick - step),
      ArrowRight: () => this.go(this.tick + step),
      Home: () => this.go(this.about.first),
      End: () => this.go(this.about.last),
      "+": () => this.zoom(1.25),
      "=": () => this.zoom(1.25),
      "-": () => this.zoom(0.8),
      "0": () => { this.fit(); this.paint(); },
      w: () => this.pan(0, pan), s: () => this.pan(0, -pan), a: () => this.pan(pan, 0), d: () => this.pan(-pan, 0),
      f: () => {
        const select = element<HTMLSelectElement>("field");
        select.selectedIndex = (select.selectedIndex + 1) % select.options.length;
        select.dispatchEvent(new Event("change"));
      },
    };
    const act = keys[e.key];
    if (!act) return;
    e.preventDefault();
    act();
  }

  private pan(x: number, y: number): void {
    this.camera = { ...this.camera, x: this.camera.x + x, y: this.camera.y + y };
    this.fitted = false;
    this.paint();
  }
}

async function main(): Promise<void> {
  try {
    const source = document.getElementById("engine") ? await Engine.open() : new Server();
    const about = await source.ask<About>({ op: "about" });
    new App(source, about.head);
  } catch (e) {
    const m = element("message");
    m.hidden = false;
    m.textContent = (e as Error).message;
  }
}

void main();
