// The page: what is chosen, and what that shows.

import { Charts } from "./charts";
import { Choices, type Aspect } from "./choices";
import { Clock } from "./clock";
import { over, range, scaleOf, type Scale } from "./colour";
import { counted, difference, type Difference } from "./difference";
import { button, element, make } from "./dom";
import { bounds, Facts } from "./facts";
import { Inputs } from "./inputs";
import { keys } from "./keys";
import { legend, type Entry } from "./legend";
import { Looked } from "./looked";
import { Pane, type Chosen, type Layer, type View } from "./pane";
import { pointer } from "./pointer";
import { marks, ribbon } from "./ribbon";
import { rules } from "./rules";
import { RunPanel } from "./run";
import { Search } from "./search";
import { Unwanted, unless, type About, type Selection } from "./source";
import { Trace } from "./trace";
import { Why } from "./why";
import { stripRows, World } from "./world";

const dark = matchMedia("(prefers-color-scheme: dark)"); // charts and the strip use the page's colours

const patience = 2000; // milliseconds to wait after a failure

/** Acts are the actions that change the page's sources. */
export interface Acts {
  fork(source: number, tick: number): Promise<void>;
  begin(scenario: string, seed: string, set: Record<string, number>): Promise<void>;
}

export class Page {
  private shown = -1;
  private busy = false;
  private chosen: Chosen = {};
  private seen = false; // a world has been shown
  private pinned = false; // the pointer cannot choose another cell
  private readonly about: About; // of the first recording
  private readonly clock: Clock;
  private readonly choices: Choices;
  private readonly worlds: World[];
  private readonly view: View = { camera: { x: 0, y: 0, zoom: 1 }, fitted: true };
  private readonly panes: Pane[] = []; // one per field, or one per recording
  private readonly difference: Pane | null = null; // of two recordings
  private readonly facts: Facts[];
  private readonly charts: Charts;
  private readonly looked: Looked;
  private readonly inputs: Inputs;
  private readonly trace: Trace;
  private readonly run: RunPanel;
  private readonly search: Search;
  private readonly why: Why;
  private readonly live: number; // the source that the panel of a run controls
  private readonly resized = new ResizeObserver(() => this.resize());
  private left = false;
  private closed = false;
  private begun = false; // the run has been started

  constructor(private readonly source: Selection, abouts: About[], session: Acts) {
    const about = (this.about = abouts[0]!), stage = element("stage");
    const first = Math.min(...abouts.map((a) => a.first)), last = Math.max(...abouts.map((a) => a.last));
    const go = (tick: number) => this.clock.go(tick);
    const wish = new URLSearchParams(location.hash.slice(1)); // such as #tick=500&field=heat
    this.live = Math.max(0, abouts.map((a) => !!a.live).lastIndexOf(true));
    const begin = wish.get("tick") ?? (abouts[this.live]!.live ? String(abouts[this.live]!.last) : null); // follow a live run
    this.clock = new Clock(first, last, abouts[this.live]!.last, about.tick_rate, begin, () => !this.busy, () => void this.refresh(),
      (hold, speed) => void this.drive(hold, speed));
    this.choices = new Choices(about, wish, abouts.length === 1, () => {
      this.report();
      void this.refresh();
    });
    this.worlds = abouts.map((a, i) => new World(a, source, i, first));
    this.facts = abouts.map((a, i) => new Facts(a, source, i));
    this.charts = new Charts(element("charts"), this.clock, go);
    this.why = new Why(source, (tick, at) => { go(tick); this.choose(at); this.pinned = true; this.look(); });
    this.looked = new Looked(source, this.worlds, () => this.unpin(), (coord) => this.run.choose(this.chosen, coord),
      abouts.length > 1 || about.unverifiable ? null : (field, component) => this.why.ask({ field, component, at: this.chosen }, this.clock.tick));
    this.inputs = new Inputs(source, this.facts);
    this.trace = new Trace(source, this.worlds, this.choices, this.clock, go);
    this.search = new Search(source, this.facts, this.clock, () => this.report());
    this.run = new RunPanel(abouts[this.live]!, source, this.live, {
      fork: () => void session.fork(source.which[this.live]!, this.clock.tick).catch((e: Error) => this.run.say(e.message)),
      begin: (seed, set) => void session.begin(abouts[this.live]!.again!, seed, { ...abouts[this.live]!.set, ...set }).catch((e: Error) => this.run.say(e.message)),
      field: () => this.choices.aspects[0]!.field,
    });
    const seen = this.refresh(); // the source works while the panes are made, which is slow with a graphics card
    this.arrange();
    if (abouts.length > 1) this.difference = this.pane(null, about);
    this.furnish();
    this.listen(go);
    this.resized.observe(stage);
    this.size();
    void seen.then(() => this.watch()); // show the world first
    if (this.difference) void this.compare();
  }

  /** close closes the page when another one takes its place. */
  close(): void {
    this.closed = true;
    this.source.close();
    document.onkeydown = dark.onchange = null;
    this.clock.close();
    this.search.close();
    this.why.clear();
    this.trace.show(null);
    this.resized.disconnect();
    for (const p of this.all) p.remove();
    this.notes.clear();
    for (const id of ["looked", "trace", "inputs", "charts", "legend", "run"]) element(id).replaceChildren();
    document.getElementById("differ")?.remove();
    this.say("");
  }

  /** leave notes that the address now belongs to something else. */
  leave(): void { this.left = true; }

  /** hold holds the runs when the reader leaves. */
  async hold(): Promise<void> { await this.drive(true, 1); }

  /** drive holds all runs shown, or lets them go on. */
  private async drive(hold: boolean, speed: number): Promise<void> {
    try {
      for (const [source, f] of this.facts.entries()) {
        if (f.about.live && !f.check.run?.ended) await this.source.ask({ op: "drive", source, hold, speed });
      }
    } catch (e) {
      this.run.say((e as Error).message);
    }
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

  /** arrange makes a pane for each field of one recording, or for each of two recordings. It returns what each pane shows. */
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
    element("subtitle").textContent = [a.about, a.space.text, a.seed && `seed ${a.seed}`].filter(Boolean).join("  ·  ");
    element("strip").hidden = !!a.unverifiable;
    element("home").hidden = a.sources > 0;
    if (a.problem) this.say(`After tick ${a.last}: ${a.problem}`);
  }

  private readonly notes = new Map<string, string>(); // messages, by topic

  /** say shows a message until there is another one on the same topic; "" clears it. */
  say(text: string, about = ""): void {
    this.notes.set(about, text);
    const m = element("message"), all = [...new Set(this.notes.values())].filter(Boolean).join(" · ");
    m.hidden = !all;
    if (m.textContent !== all) m.textContent = all; // otherwise it would be spoken again
  }

  // What is shown.

  /** refresh requests the state of the wanted tick, and of the next one if the tick changes meanwhile. */
  private async refresh(): Promise<void> {
    this.label();
    if (this.busy) { this.shown = -1; return; }
    this.busy = true;
    try {
      do {
        this.shown = this.clock.tick;
        await this.show(this.shown).catch((e) => {
          if (!(e instanceof Unwanted)) throw e;
          this.shown = -1;
        });
        if (this.shown >= 0) this.say("", "state");
      } while (this.shown !== this.clock.tick);
    } catch (e) {
      if (this.clock.playing) this.clock.toggle();
      this.say((e as Error).message, "state");
    }
    this.busy = false;
  }

  private async show(tick: number): Promise<void> {
    const { mask, dots, over: second } = this.choices, wanted = this.choices.fields();
    const fields = [...new Set([...wanted, ...[mask, dots].filter((f) => f >= 0)])];
    const { gone } = this.clock, seen = () => unless(() => this.clock.gone !== gone);
    await Promise.all(this.worlds.map((w) => w.load(tick, fields, seen())));
    const next = this.clock.ahead(performance.now());
    if (next >= 0) for (const w of this.worlds) w.prepare(next, fields, seen());
    if (this.choices.fields().some((f) => !wanted.includes(f)) || mask !== this.choices.mask || dots !== this.choices.dots) return; // refresh shows the new choice
    const shows = this.arrange(), layers = shows.map((a, i) => this.layer(a, this.worldOf(i), this.choices.map));
    const overs = shows.map((_, i) => (second ? this.layerOver(second, this.worldOf(i), layers[i]!.scale) : null));
    this.panes.forEach((p, i) => {
      const hide = mask >= 0 && mask !== shows[i]!.field && !p.world!.strip;
      p.show(layers[i]!, overs[i]!, hide ? p.world!.values({ field: mask, component: -1 }) : null);
    });
    const dotted = this.colourDots(dots);
    const apart = this.difference && this.subtract(shows[0]!);
    if (apart) this.difference!.show(apart, null, null);
    this.names(tick, shows);
    if (this.view.fitted) this.panes[0]!.fit();
    this.paint();
    const entries: Entry[] = (this.difference ? layers.slice(0, 1) : layers).map((l) => ({ name: this.choices.title(l.aspect), field: l.aspect.field, scale: l.scale }));
    if (second) entries.push({ name: this.choices.title(second), field: second.field, scale: overs[0]!.scale });
    if (apart) {
      const [a, b] = this.worlds.map((w) => w.about.file), names = !!this.about.fields[apart.aspect.field]!.values;
      const name = names ? "difference" : apart.scale.lo < 0 ? `${b} − ${a}` : `length of ${b} − ${a}`;
      entries.push({ name, field: apart.aspect.field, scale: apart.scale, ...(names && { ends: ["equal", "another"] as [string, string] }) });
    }
    if (dotted) entries.push({ name: `dots ${this.about.fields[dots]!.name}`, field: dots, scale: dotted });
    legend(this.about, entries, !!this.worlds[0]!.crowd && !dotted);
    rules(this.about, shows[0]!.field);
    this.label();
    this.charts.draw(this.clock.tick);
    this.trace.show(this.pinned ? this.chosen : null);
    this.trace.draw(this.clock.tick);
    this.inputs.show(tick, this.clock.playing);
    this.run.parameters(this.worlds[this.live]!.parameters);
    this.search.tell();
    this.address();
    document.body.dataset["tick"] = String(tick);
    if (!this.seen) requestAnimationFrame(() => performance.mark("world")); // for tests that measure the time
    this.seen = true;
    if (this.chosen.cell !== undefined || this.chosen.entity) this.looked.show(this.clock.tick, this.chosen, this.pinned);
  }

  /** colourDots colours the dots of all panes by an entity field, and returns the scale; null: by kind. */
  private colourDots(field: number): Scale | null {
    const held = new Map(field < 0 || !this.worlds[0]!.crowd ? [] : this.worlds.map((w) => [w, w.held(field)]));
    const ends = [...held.values()].map(range), f = this.about.fields[field];
    const scale = held.size ? scaleOf(this.about, f!, Math.min(...ends.map((e) => e[0])), Math.max(...ends.map((e) => e[1])), "") : null;
    for (const p of this.panes) p.dots = scale && p.world ? { values: held.get(p.world)!, scale } : null;
    return scale;
  }

  private worldOf(pane: number): World { return this.worlds[this.difference ? pane : 0]!; }

  private layer(aspect: Aspect, w: World, map: string): Layer {
    const values = w.values(aspect), [lo, hi] = bounds(this.facts, aspect, this.worlds.map((x) => x.values(aspect)));
    return { aspect, values, scale: scaleOf(this.about, this.about.fields[aspect.field]!, lo, hi, map) };
  }

  /** layerOver returns a layer to draw over another one, in other colours. */
  private layerOver(aspect: Aspect, w: World, below: Scale): Layer {
    let l = this.layer(aspect, w, this.choices.overMap);
    if (!this.choices.overMap && String(l.scale.colours) === String(below.colours)) l = this.layer(aspect, w, "fire");
    return { ...l, scale: over(l.scale) };
  }

  private differs: Difference = { values: new Float32Array(0), most: 0, unequal: 0 };

  /** subtract returns the difference of two worlds. */
  private subtract(aspect: Aspect): Layer {
    const f = this.about.fields[aspect.field]!, [a, b] = this.worlds.map((w) => w.column(aspect.field));
    this.differs = difference(a!, b!, f.components, aspect.component, !!f.values);
    const { values, most } = this.differs, signed = !f.values && (f.components === 1 || aspect.component >= 0);
    return { aspect, values, scale: scaleOf(this.about, { ...f, values: undefined }, signed ? -most : 0, most, signed ? "balance" : "fire") };
  }

  private names(tick: number, shows: Aspect[]): void {
    const name = (i: number) => this.choices.title(shows[i]!) + (this.choices.over ? ` under ${this.choices.title(this.choices.over)}` : "");
    this.panes.forEach((p, i) => {
      const ended = tick > p.about.last ? `, which ends with tick ${p.about.last}` : "";
      const visible = this.difference ? p.about.file + ended : shows.length > 1 ? name(i) : "";
      p.name(visible, `${p.about.scenario}, ${name(i)} at tick ${tick}, ${p.about.space.text}. Arrow keys go from cell to cell.`);
    });
    const f = this.about.fields[shows[0]!.field]!;
    const without = this.worlds.find((w) => w.within(tick) !== tick);
    const found = without ? `${without.about.file} has no tick ${tick.toLocaleString("en-US")}` : counted(this.differs, !!f.values);
    this.difference?.name(`${f.name}: ${found}`, `In ${f.name} ${found}`);
  }

  private get all(): Pane[] { return this.difference ? [...this.panes, this.difference] : this.panes; }

  private paint(): void {
    for (const p of this.all) p.paint(this.chosen);
  }

  private label(): void {
    this.clock.label(this.about.kinds ? `  ·  ${this.worlds[0]!.alive} alive` : "");
  }

  private addressed = 0; // a timer

  /** address writes what is shown into the address, but not while it changes quickly: browsers limit such changes. */
  private address(): void {
    clearTimeout(this.addressed);
    this.addressed = setTimeout(() => {
      if (!this.clock.moves && !this.left && !this.closed) history.replaceState(null, "", `#${this.shows()}${this.clock.live ? "" : `tick=${this.clock.tick}&`}${this.choices.address()}`);
    }, 300);
  }

  /** shows returns the part of the address that names the sources; empty for those that the page started with. */
  private shows(): string {
    const { which } = this.source, { sources } = this.about;
    return which.length === sources && which.every((w, i) => w === i) ? "" : `show=${which.join(",")}&`;
  }

  private resize(): void {
    if (!this.size()) return;
    if (this.view.fitted) this.panes[0]!.fit();
    this.paint();
    this.report();
  }

  /** size gives each pane its room, and reports whether any size has changed. */
  private size(): boolean {
    const stage = element("stage"), columns = this.columns();
    stage.style.gridTemplateColumns = `repeat(${columns}, minmax(0, 1fr))`;
    stage.classList.toggle("three", columns === 2 && this.all.length === 3);
    return this.all.map((p) => p.resize()).includes(true);
  }

  /** columns returns the number of panes side by side that makes the worlds largest. */
  private columns(): number {
    const stage = element("stage"), n = this.all.length, { width, height: rows } = this.panes[0]!.layout;
    const height = this.worlds[0]!.strip ? Math.min(stripRows, this.clock.last - this.clock.first + 1) : rows;
    let [columns, best] = [n, 0];
    for (let i = 1; i <= n; i++) {
      const k = this.difference ? n + 1 - i : i; // on a tie, recordings go in one row, fields in a square
      const zoom = Math.min(stage.clientWidth / k / width, stage.clientHeight / Math.ceil(n / k) / height);
      if (zoom > best * 1.01) [columns, best] = [k, zoom];
    }
    return columns;
  }

  // What replays find.

  private async watch(): Promise<void> {
    for (let told = false, failed = false; !this.closed; ) {
      let any = !told;
      try {
        const news = await Promise.all(this.facts.map((f) => f.more()));
        if (this.closed) return;
        this.extend();
        any ||= news.some((n) => n.any);
        if (news.some((n) => n.points)) void this.refresh();
        if (failed) void this.refresh();
        failed = false;
        this.say("", "news");
      } catch (e) { // such as after the computer was asleep
        failed = true;
        this.say((e as Error).message, "news");
        await new Promise((done) => setTimeout(done, patience));
        continue;
      }
      if (any) {
        this.verdict();
        this.report();
        told = true;
      }
      if (this.facts.every((f) => f.check.done)) return;
      const goes = this.facts.some((f) => f.check.run && !f.check.run.ended && !f.check.run.held);
      await new Promise((done) => setTimeout(done, goes ? 30 : 200));
    }
  }

  /** extend takes in the progress of runs. */
  private extend(): void {
    const run = this.facts[this.live]!.check.run;
    if (!run) return;
    const last = Math.max(...this.facts.map((f) => f.about.last));
    this.run.update(run);
    if (run.held && run.last === this.clock.first && !this.begun && !this.shows()) void this.drive(false, 1); // it waited for the page
    this.begun = true;
    const tip = Math.min(...this.facts.map((f) => (f.check.run && !f.check.run.ended ? f.about.last : Infinity)), last);
    this.clock.extend(last, Math.max(last, this.facts[this.live]!.about.planned), run.ended ? null : { ...run, last: tip });
    this.trace.more();
  }

  private verdict(): void {
    const v = element("verdict"), wrong = this.facts.find((f) => f.wrong()), done = this.facts.every((f) => f.check.done);
    const neutral = !wrong && !!this.about.unverifiable;
    v.className = wrong ? "bad" : done && !neutral ? "good" : "";
    v.replaceChildren(...this.facts.flatMap((f, i) => {
      const text = (this.facts.length > 1 ? `${f.about.file}: ` : "") + f.verdict(), { differs, recorded, replayed } = f.check;
      const go = differs ? button(text, "Go to this tick", () => this.clock.go(differs)) : null;
      const hashes = recorded ? ` recorded ${recorded}, replayed ${replayed}` : "";
      go?.removeAttribute("aria-label"); // its text is enough
      const begins = f.begins(), from = begins && make("small", `, ${begins[0]}`);
      if (from) [from.title, from.className] = [begins![1], "begins"];
      return [i ? "  ·  " : "", go ?? text, ...(hashes ? [make("small", hashes)] : []), ...(from ? [from] : [])];
    }));
    document.body.dataset["verdict"] = wrong ? `differs ${wrong.check.differs ?? ""}` : done ? (neutral ? "unverifiable" : "verified") : "";
  }

  /** compare finds the first tick at which two recordings differ. */
  private async compare(): Promise<void> {
    const go = make("button");
    go.id = "differ";
    while (!this.closed) {
      try {
        const d = (await this.source.ask<{ tick?: number; equal?: boolean; open?: boolean; reason?: string }>({ op: "differ" })).head;
        go.textContent = d.open ? "equal so far" : d.equal ? "the recordings are equal" : !d.tick ? d.reason! : `first difference: tick ${d.tick!.toLocaleString("en-US")}` + (d.reason ? ` (${d.reason})` : "");
        go.title = d.tick ? "Go to the first tick in which they differ" : "";
        go.disabled = !d.tick;
        go.onclick = () => this.clock.go(d.tick!);
        if (!go.isConnected && !this.closed) element("controls").insertBefore(go, element("when"));
        this.say("", "comparison");
        if (!d.open) return;
        await new Promise((done) => setTimeout(done, 300));
      } catch (e) {
        this.say((e as Error).message, "comparison");
        await new Promise((done) => setTimeout(done, patience));
      }
    }
  }

  /** report draws what replays have found so far: the charts and the strip. */
  private report(): void {
    this.charts.set(this.facts, this.choices);
    this.charts.draw(this.clock.tick);
    ribbon(element<HTMLCanvasElement>("strip"), this.facts, this.clock, (which) => this.search.spans(which));
  }

  // Hands.

  private listen(go: (tick: number) => void): void {
    const c = this.clock, near = () => this.panes[0]!;
    marks(element<HTMLCanvasElement>("strip"), this.facts, c, go);
    element("before").onclick = () => this.mark(-1);
    element("after").onclick = () => this.mark(1);
    dark.onchange = () => {
      this.report();
      this.trace.draw(c.tick);
    };
    this.zooming(near);
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
      search: () => this.search.open(),
    });
  }

  /** zooming makes buttons zoom like a wheel. */
  private zooming(near: () => Pane): void {
    const by = (factor: number) => () => { near().zoom(factor); this.paint(); };
    element("zoom").replaceChildren(button("+", "Zoom in (+)", by(1.25)), button("−", "Zoom out (−)", by(0.8)), button("⤢", "Show the whole world (0)", () => this.fit()));
  }

  /** mark goes to the next tick, in any recording, that has inputs or events. */
  private mark(way: 1 | -1): void {
    const ticks = this.facts.flatMap((f) => f.next(this.clock.tick, way)?.tick ?? []);
    if (ticks.length) this.clock.go(way > 0 ? Math.min(...ticks) : Math.max(...ticks));
  }

  /** cursor moves from the chosen cell to another one. */
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
    this.why.clear();
    this.look();
  }

  private look(): void {
    this.paint();
    this.trace.show(this.pinned ? this.chosen : null);
    if (this.chosen.cell !== undefined || this.chosen.entity) this.looked.show(this.clock.tick, this.chosen, this.pinned);
    else this.looked.hide();
  }
}
