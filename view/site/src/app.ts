// The page: what is chosen, and what follows from it.

import { short } from "./chart";
import { Charts } from "./charts";
import { Choices, type Aspect } from "./choices";
import { Clock } from "./clock";
import { over, scaleOf, type Scale } from "./colour";
import { element, make } from "./dom";
import { Engine } from "./engine";
import { bounds, Facts } from "./facts";
import { Inputs } from "./inputs";
import { keys } from "./keys";
import { legend } from "./legend";
import { Looked } from "./looked";
import { Pane, type Chosen, type Layer, type View } from "./pane";
import { pointer } from "./pointer";
import { marks, ribbon } from "./ribbon";
import { Server, type About, type Source } from "./source";
import { Trace } from "./trace";
import { World } from "./world";

class App {
  private shown = -1;
  private busy = false;
  private chosen: Chosen = {};
  private pinned = false; // the pointer does not choose another cell
  private readonly about: About; // of the first recording
  private readonly clock: Clock;
  private readonly choices: Choices;
  private readonly worlds: World[];
  private readonly view: View = { camera: { x: 0, y: 0, zoom: 1 }, fitted: true };
  private readonly panes: Pane[] = []; // of each field, or of each recording
  private readonly difference: Pane | null = null; // of two recordings
  private readonly facts: Facts[];
  private readonly charts: Charts;
  private readonly looked: Looked;
  private readonly inputs: Inputs;
  private readonly trace: Trace;

  constructor(private readonly source: Source, abouts: About[]) {
    const about = (this.about = abouts[0]!), stage = element("stage");
    const first = Math.min(...abouts.map((a) => a.first)), last = Math.max(...abouts.map((a) => a.last));
    const go = (tick: number) => this.clock.go(tick);
    const wish = new URLSearchParams(location.hash.slice(1)); // such as #tick=500&field=heat
    this.clock = new Clock(first, last, about.tick_rate, wish.get("tick"), () => !this.busy, () => void this.refresh());
    this.choices = new Choices(about, wish, abouts.length === 1, () => {
      this.report();
      void this.refresh();
    });
    this.worlds = abouts.map((a, i) => new World(a, source, i));
    this.facts = abouts.map((a, i) => new Facts(a, source, i));
    this.charts = new Charts(element("charts"), first, last, go);
    this.looked = new Looked(source, this.worlds, () => this.unpin());
    this.inputs = new Inputs(source, this.facts);
    this.trace = new Trace(source, this.worlds, this.choices, first, last, go);
    this.arrange();
    if (abouts.length > 1) this.difference = this.pane(null, about);
    this.furnish();
    this.listen(go);
    new ResizeObserver(() => this.resize()).observe(stage);
    this.resize();
    void this.refresh();
    void this.watch();
    if (this.difference) void this.compare();
  }

  private pane(world: World | null, about: About): Pane {
    const p = new Pane(element("stage"), about, world, this.view);
    pointer(p, {
      hover: (at) => { if (!this.pinned) this.choose(at); },
      pin: (at) => this.pin(at),
      moved: () => this.paint(),
      fit: () => this.fit(),
    });
    return p;
  }

  /** arrange makes a pane for each field of one recording, or for each of two recordings, and returns what each shows. */
  private arrange(): Aspect[] {
    const compared = this.worlds.length > 1;
    const shows = compared ? this.worlds.map(() => this.choices.aspects[0]!) : [...this.choices.aspects];
    const before = this.panes.length;
    while (this.panes.length > shows.length) this.panes.pop()!.remove();
    for (let i = before; i < shows.length; i++) {
      const world = this.worlds[compared ? i : 0]!;
      this.panes.push(this.pane(world, world.about));
    }
    if (before && this.panes.length !== before) this.resize();
    return shows;
  }

  private furnish(): void {
    const a = this.about;
    document.title = `${a.scenario} – murksim`;
    element("title").textContent = a.scenario;
    element("subtitle").textContent = [a.about, a.space.text, `seed ${a.seed}`].filter(Boolean).join("  ·  ");
    if (a.problem) this.say(`After tick ${a.last}: ${a.problem}`);
  }

  private say(text: string): void {
    const m = element("message");
    m.hidden = !text;
    m.textContent = text;
  }

  // What is shown.

  /** refresh asks for the state of the tick, and for the next one if the tick has changed meanwhile. */
  private async refresh(): Promise<void> {
    this.label();
    if (this.busy) { this.shown = -1; return; }
    this.busy = true;
    try {
      do {
        this.shown = this.clock.tick;
        await this.show(this.shown);
      } while (this.shown !== this.clock.tick);
    } catch (e) {
      if (this.clock.playing) this.clock.toggle();
      this.say((e as Error).message);
    }
    this.busy = false;
  }

  private async show(tick: number): Promise<void> {
    const { mask, over: second } = this.choices, wanted = this.choices.fields();
    await Promise.all(this.worlds.map((w) => w.load(tick, [...new Set([...wanted, ...(mask >= 0 ? [mask] : [])])])));
    if (this.choices.fields().some((f) => !wanted.includes(f)) || mask !== this.choices.mask) return; // another choice: refresh shows it
    const shows = this.arrange(), layers = shows.map((a, i) => this.layer(a, this.worldOf(i), this.choices.map));
    const overs = shows.map((_, i) => (second ? this.layerOver(second, this.worldOf(i), layers[i]!.scale) : null));
    this.panes.forEach((p, i) => {
      const hide = mask >= 0 && mask !== shows[i]!.field && !p.world!.strip;
      p.show(layers[i]!, overs[i]!, hide ? p.world!.values({ field: mask, component: -1 }) : null);
    });
    if (this.difference) this.difference.show(this.subtract(layers), null, null);
    this.names(tick, shows);
    if (this.view.fitted) this.panes[0]!.fit();
    this.paint();
    const entries = (this.difference ? layers.slice(0, 1) : layers).map((l) => ({ name: this.choices.title(l.aspect), field: l.aspect.field, scale: l.scale }));
    if (second) entries.push({ name: this.choices.title(second), field: second.field, scale: overs[0]!.scale });
    legend(this.about, entries, !!this.worlds[0]!.crowd);
    this.label();
    this.charts.draw(this.clock.tick);
    this.trace.show(this.pinned ? this.chosen : null);
    this.trace.draw(this.clock.tick);
    this.inputs.show(tick, this.clock.playing);
    this.address();
    document.body.dataset["tick"] = String(tick);
    if (this.chosen.cell !== undefined || this.chosen.entity) this.looked.show(this.clock.tick, this.chosen, this.pinned);
  }

  private worldOf(pane: number): World { return this.worlds[this.difference ? pane : 0]!; }

  private layer(aspect: Aspect, w: World, map: string): Layer {
    const values = w.values(aspect), [lo, hi] = bounds(this.facts, aspect, this.worlds.map((x) => x.values(aspect)));
    return { aspect, values, scale: scaleOf(this.about, this.about.fields[aspect.field]!, lo, hi, map) };
  }

  /** layerOver is what is drawn over another layer, in other colours. */
  private layerOver(aspect: Aspect, w: World, below: Scale): Layer {
    let l = this.layer(aspect, w, this.choices.overMap);
    if (!this.choices.overMap && String(l.scale.colours) === String(below.colours)) l = this.layer(aspect, w, "fire");
    return { ...l, scale: over(l.scale) };
  }

  private most = 0; // that two cells differ by
  private unequal = 0; // cells

  /** subtract returns by how much two worlds differ: of categories 1 where they do. */
  private subtract([a, b]: Layer[]): Layer {
    const values = new Float32Array(Math.min(a!.values.length, b!.values.length)), f = this.about.fields[a!.aspect.field]!;
    [this.most, this.unequal] = [0, 0];
    for (let i = 0; i < values.length; i++) {
      const [x, y] = [a!.values[i]!, b!.values[i]!];
      if (x === y) continue;
      values[i] = f.values ? 1 : Math.abs(x - y);
      this.unequal++;
      if (values[i]! > this.most) this.most = values[i]!;
    }
    return { aspect: a!.aspect, values, scale: { ...scaleOf(this.about, { ...f, values: undefined }, 0, this.most, "fire"), categories: false } };
  }

  private names(tick: number, shows: Aspect[]): void {
    const name = (i: number) => this.choices.title(shows[i]!) + (this.choices.over ? ` under ${this.choices.title(this.choices.over)}` : "");
    this.panes.forEach((p, i) => {
      const ended = tick > p.about.last ? `, which ends with tick ${p.about.last}` : "";
      const visible = this.difference ? p.about.file + ended : shows.length > 1 ? name(i) : "";
      p.name(visible, `${p.about.scenario}, ${name(i)} at tick ${tick}, ${p.about.space.text}. Arrow keys go from cell to cell.`);
    });
    const f = this.about.fields[shows[0]!.field]!;
    const found = this.unequal ? `${this.unequal.toLocaleString("en-US")} cells differ` + (f.values ? "" : ` by up to ${short(this.most)}`) : "no cell differs";
    this.difference?.name(`${f.name}: ${found}`, `In ${f.name} ${found}`);
  }

  private get all(): Pane[] { return this.difference ? [...this.panes, this.difference] : this.panes; }

  private paint(): void {
    for (const p of this.all) p.paint(this.chosen);
  }

  private label(): void {
    this.clock.label(this.about.kinds ? `  ·  ${this.worlds[0]!.alive} alive` : "");
  }

  /** address keeps what is shown in the address, unless it plays: browsers limit how often it may change. */
  private address(): void {
    if (!this.clock.playing) history.replaceState(null, "", `#tick=${this.clock.tick}&${this.choices.address()}`);
  }

  private resize(): void {
    const stage = element("stage"), n = this.all.length, { width, height } = this.panes[0]!.layout;
    let [columns, best] = [n, 0];
    for (let k = n; k >= 1; k--) {
      const zoom = Math.min(stage.clientWidth / k / width, stage.clientHeight / Math.ceil(n / k) / height);
      if (zoom > best * 1.01) [columns, best] = [k, zoom];
    }
    stage.style.gridTemplateColumns = `repeat(${columns}, minmax(0, 1fr))`;
    for (const p of this.all) p.resize();
    if (this.view.fitted) this.panes[0]!.fit();
    this.paint();
    this.report();
  }

  // What replays find.

  private async watch(): Promise<void> {
    for (;;) {
      try {
        const news = await Promise.all(this.facts.map((f) => f.more()));
        if (news.includes(true)) void this.refresh();
      } catch (e) {
        this.say((e as Error).message);
        return;
      }
      this.verdict();
      this.report();
      if (this.facts.every((f) => f.check.done)) return;
      await new Promise((done) => setTimeout(done, 200));
    }
  }

  private verdict(): void {
    const v = element("verdict"), wrong = this.facts.find((f) => f.wrong()), done = this.facts.every((f) => f.check.done);
    v.className = wrong ? "bad" : done ? "good" : "";
    v.textContent = this.facts.map((f) => f.verdict()).join("  ·  ");
    document.body.dataset["verdict"] = wrong ? `differs ${wrong.check.differs ?? ""}` : done ? "verified" : "";
  }

  /** compare finds the first tick in which two recordings differ. */
  private async compare(): Promise<void> {
    try {
      const d = (await this.source.ask<{ tick?: number; equal?: boolean; reason?: string }>({ op: "differ", with: 1 })).head;
      const go = make("button", d.equal ? "the recordings are equal" : `first difference: tick ${d.tick!.toLocaleString("en-US")}`);
      go.id = "differ";
      go.title = d.reason ?? "Go to the first tick in which they differ";
      go.disabled = !!d.equal;
      go.onclick = () => this.clock.go(d.tick!);
      element("controls").insertBefore(go, element("when"));
    } catch (e) {
      this.say((e as Error).message);
    }
  }

  /** report draws what replays have found so far: charts and the strip. */
  private report(): void {
    this.charts.set(this.facts, this.choices);
    this.charts.draw(this.clock.tick);
    ribbon(element<HTMLCanvasElement>("strip"), this.facts, this.clock.first, this.clock.last);
  }

  // Hands.

  private listen(go: (tick: number) => void): void {
    const c = this.clock, near = () => this.panes[0]!;
    marks(element<HTMLCanvasElement>("strip"), this.facts[0]!, c.first, c.last, go);
    element("before").onclick = () => this.mark(-1);
    element("after").onclick = () => this.mark(1);
    keys(() => this.all, {
      toggle: () => c.toggle(),
      step: (ticks) => c.go(c.tick + ticks),
      edge: (end) => c.go(end ? c.last : c.first),
      mark: (way) => this.mark(way),
      zoom: (by) => { near().zoom(by); this.paint(); },
      fit: () => this.fit(),
      pan: (x, y) => { near().move(x, y); this.paint(); },
      field: () => this.choices.next(),
      cursor: (p, cols, rows) => this.cursor(p, cols, rows),
      pin: (p, entity) => {
        const at = this.chosen.cell ?? p.middle();
        this.pin(this.chosen.entity ? this.chosen : entity ? p.on(at) : { cell: at });
      },
      unpin: () => this.unpin(),
    });
  }

  /** mark goes to the next tick in which something came from outside, in any recording. */
  private mark(way: 1 | -1): void {
    const ticks = this.facts.flatMap((f) => f.next(this.clock.tick, way)?.tick ?? []);
    if (ticks.length) this.clock.go(way > 0 ? Math.min(...ticks) : Math.max(...ticks));
  }

  /** cursor goes from the chosen cell to another one. */
  private cursor(p: Pane, cols: number, rows: number): void {
    let cell = this.chosen.cell ?? (this.chosen.entity ? p.rank(this.chosen) : -1);
    if (cell < 0) cell = p.middle();
    else for (let i = Math.max(Math.abs(cols), Math.abs(rows)); i > 0; i--) cell = p.beside(cell, Math.sign(cols), Math.sign(rows));
    p.reveal(cell);
    this.pinned = false;
    this.choose({ cell });
  }

  private fit(): void {
    this.panes[0]!.fit();
    this.paint();
  }

  private choose(at: Chosen): void {
    if (at.cell === this.chosen.cell && at.entity === this.chosen.entity) return;
    this.chosen = at;
    this.look();
  }

  /** pin keeps a cell or an entity chosen, and shows its history. */
  private pin(at: Chosen): void {
    if (at.cell === undefined && !at.entity) return;
    [this.chosen, this.pinned] = [at, true];
    this.look();
  }

  private unpin(): void {
    this.pinned = false;
    this.look();
  }

  private look(): void {
    this.paint();
    this.trace.show(this.pinned ? this.chosen : null);
    if (this.chosen.cell !== undefined || this.chosen.entity) this.looked.show(this.clock.tick, this.chosen, this.pinned);
  }
}

async function main(): Promise<void> {
  try {
    const source = document.getElementById("engine") ? await Engine.open() : new Server();
    const abouts = [(await source.ask<About>({ op: "about" })).head];
    while (abouts.length < abouts[0]!.sources) abouts.push((await source.ask<About>({ op: "about", source: abouts.length })).head);
    new App(source, abouts);
  } catch (e) {
    const m = element("message");
    m.hidden = false;
    m.textContent = (e as Error).message;
  }
}

void main();
