// The page: what is chosen, and what follows from it.

import { short } from "./chart";
import { Charts } from "./charts";
import { css, palette, range, scaleOf, type Scale } from "./colour";
import { bar, element, make, swatch } from "./dom";
import { Engine } from "./engine";
import { Facts } from "./facts";
import { Pane, type Chosen, type Choice, type Loaded, type View } from "./pane";
import { ribbon } from "./ribbon";
import { Server, type About, type Look, type Source } from "./source";

class App {
  private tick: number;
  private shown = -1;
  private choice: Choice;
  private chosen: Chosen = {};
  private playing = false;
  private speed = 1;
  private due = 0; // time of the next tick, in milliseconds
  private busy = false;
  private scale: Scale | null = null;
  private readonly about: About; // of the first recording
  private readonly first: number;
  private readonly last: number;
  private readonly view: View = { camera: { x: 0, y: 0, zoom: 1 }, fitted: true };
  private readonly panes: Pane[];
  private readonly difference: Pane | null = null; // of two recordings
  private readonly facts: Facts[];
  private readonly charts: Charts;

  constructor(private readonly source: Source, abouts: About[]) {
    const about = (this.about = abouts[0]!), stage = element("stage");
    this.first = Math.min(...abouts.map((a) => a.first));
    this.last = Math.max(...abouts.map((a) => a.last));
    this.panes = abouts.map((a, i) => new Pane(stage, a, source, i, this.view));
    this.facts = abouts.map((a, i) => new Facts(a, source, i));
    if (abouts.length > 1) this.difference = new Pane(stage, about, null, -1, this.view);
    this.charts = new Charts(element("charts"), this.first, this.last, (tick) => this.go(tick));
    const wish = new URLSearchParams(location.hash.slice(1)); // such as #tick=500&field=heat
    this.tick = Math.max(this.first, Math.min(this.last, Number(wish.get("tick") ?? this.first) || 0));
    this.choice = this.begin(wish.get("field") ?? "");
    this.furnish();
    this.listen();
    new ResizeObserver(() => this.resize()).observe(stage);
    this.resize();
    void this.refresh();
    void this.watch();
    if (this.difference) void this.compare();
    requestAnimationFrame((t) => this.frame(t));
  }

  /** begin chooses a field, by its name or the first that changes. */
  private begin(name: string): Choice {
    const all = this.about.fields, wall = all.findIndex((f) => f.name === "wall" && !f.entities);
    let field = all.findIndex((f) => f.name === name && !f.entities);
    if (field < 0) field = all.findIndex((f) => !f.entities && !f.static);
    if (field < 0) field = Math.max(0, all.findIndex((f) => !f.entities));
    return { field, component: -1, mask: field === wall ? -1 : wall, map: "" };
  }

  // What does not change.

  private furnish(): void {
    const a = this.about;
    document.title = `${a.scenario} – murksim`;
    element("title").textContent = a.scenario;
    element("subtitle").textContent = [a.about, a.space.text, `seed ${a.seed}`].filter(Boolean).join("  ·  ");
    if (a.problem) this.say(`After tick ${a.last}: ${a.problem}`);
    const scrub = element<HTMLInputElement>("scrub"), tick = element<HTMLInputElement>("tick");
    for (const e of [scrub, tick]) [e.min, e.max] = [String(this.first), String(this.last)];
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
    select.value = `${this.choice.field}:-1`;
    select.onchange = () => {
      [this.choice.field, this.choice.component] = select.value.split(":").map(Number) as [number, number];
      this.report();
      void this.refresh();
    };
    select.id = "field";
    box.append(select);
    const maps = make("select");
    maps.add(new Option("colours: automatic", ""));
    for (const name of Object.keys(a.palettes).sort()) if (name !== "categories" && name !== "kinds") maps.add(new Option(name, name));
    maps.setAttribute("aria-label", "Colours");
    maps.onchange = () => { this.choice.map = maps.value; void this.refresh(); };
    box.append(" ", maps);
    const masks = make("select");
    masks.setAttribute("aria-label", "Covered by");
    masks.add(new Option("covered by: nothing", "-1"));
    a.fields.forEach((f, i) => { if (!f.entities && f.components === 1) masks.add(new Option(`covered by: ${f.name}`, String(i))); });
    masks.value = String(this.choice.mask);
    masks.onchange = () => { this.choice.mask = +masks.value; void this.refresh(); };
    box.append(" ", masks);
  }

  private say(text: string): void {
    const m = element("message");
    m.hidden = !text;
    m.textContent = text;
  }

  // Time.

  private go(tick: number): void {
    this.tick = Math.max(this.first, Math.min(this.last, Math.round(tick)));
    void this.refresh();
  }

  private toggle(): void {
    this.playing = !this.playing;
    if (this.playing && this.tick >= this.last) this.tick = this.first;
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
    if (this.tick >= this.last) this.toggle();
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
        this.shown = this.tick;
        await this.show(this.tick);
      } while (this.shown !== this.tick);
    } catch (e) {
      if (this.playing) this.toggle();
      this.say((e as Error).message);
    }
    this.busy = false;
  }

  private async show(tick: number): Promise<void> {
    const c = { ...this.choice }, f = this.about.fields[c.field]!;
    const loaded = await Promise.all(this.panes.map((p) => p.load(tick, c)));
    const [lo, hi] = this.bounds(loaded, c);
    this.scale = scaleOf(this.about, f, lo, hi, c.map);
    this.panes.forEach((p, i) => p.show(loaded[i]!, this.scale!));
    this.difference?.show(this.subtract(loaded, !!f.values), { ...scaleOf(this.about, { ...f, values: undefined }, 0, this.most, "fire"), categories: false });
    this.names(tick);
    if (this.view.fitted) this.panes[0]!.fit();
    this.paint();
    this.legend();
    this.label();
    this.charts.draw(this.tick);
    document.body.dataset["tick"] = String(tick);
    if (this.chosen.cell !== undefined || this.chosen.entity) await this.look();
  }

  /** bounds returns the range of the field over all ticks and recordings, as far as it is known. */
  private bounds(loaded: Loaded[], c: Choice): [number, number] {
    let [lo, hi] = [Infinity, -Infinity];
    for (const l of loaded) {
      const r = range(l.values);
      [lo, hi] = [Math.min(lo, r[0]), Math.max(hi, r[1])];
    }
    if (this.about.fields[c.field]!.components > 1 && c.component < 0) return [0, hi];
    for (const f of this.facts) {
      const at = f.column(c.field) + 3 * Math.max(0, c.component);
      for (const n of f.points) {
        lo = Math.min(lo, n[at + 1]!);
        hi = Math.max(hi, n[at + 2]!);
      }
    }
    return [lo, hi];
  }

  private most = 0; // that two cells differ by
  private unequal = 0; // cells

  /** subtract returns by how much two worlds differ: of categories 1 where they do. */
  private subtract([a, b]: Loaded[], categories: boolean): Loaded {
    const values = new Float32Array(Math.min(a!.values.length, b!.values.length));
    [this.most, this.unequal] = [0, 0];
    for (let i = 0; i < values.length; i++) {
      const [x, y] = [a!.values[i]!, b!.values[i]!];
      if (x === y) continue;
      values[i] = categories ? 1 : Math.abs(x - y);
      this.unequal++;
      if (values[i]! > this.most) this.most = values[i]!;
    }
    return { values, mask: null };
  }

  private names(tick: number): void {
    const f = this.about.fields[this.choice.field]!;
    const spoken = (p: Pane) => `${p.about.scenario}, ${f.name} at tick ${tick}, ${p.about.space.text}`;
    for (const p of this.panes) p.name(this.difference ? p.about.file + (tick > p.about.last ? `, which ends with tick ${p.about.last}` : "") : "", spoken(p));
    const found = this.unequal ? `${this.unequal.toLocaleString("en-US")} cells differ` + (f.values ? "" : ` by up to ${short(this.most)}`) : "no cell differs";
    this.difference?.name(`${f.name}: ${found}`, `In ${f.name} ${found}`);
  }

  private get all(): Pane[] { return this.difference ? [...this.panes, this.difference] : this.panes; }

  private paint(): void {
    for (const p of this.all) p.paint(this.choice, this.chosen);
  }

  private label(): void {
    const a = this.about, state = this.panes[0]!.state;
    element<HTMLInputElement>("scrub").value = String(this.tick);
    const tick = element<HTMLInputElement>("tick");
    if (document.activeElement !== tick) tick.value = String(this.tick);
    const alive = a.kinds && state ? `  ·  ${state.head.alive} alive` : "";
    element("when").textContent = `${(this.tick / a.tick_rate).toFixed(2)} s of ${(this.last / a.tick_rate).toFixed(2)} s${alive}`;
  }

  private legendOf = ""; // what it was made of

  private legend(): void {
    const s = this.scale!, a = this.about, { field, component } = this.choice, f = a.fields[field]!;
    const now = [field, component, s.lo, s.hi, this.choice.map].join();
    if (now === this.legendOf) return;
    this.legendOf = now;
    const name = f.components > 1 ? (component < 0 ? `${f.name}: length` : `${f.name}[${component}]`) : f.name;
    const parts: HTMLElement[] = [make("strong", name)];
    if (s.categories) f.values!.forEach((v, i) => parts.push(swatch(v, css(s.colours[i % s.colours.length]!))));
    else parts.push(make("span", short(s.lo)), bar(s.colours), make("span", `${short(s.hi)} ${f.unit ?? ""}`));
    if (this.panes[0]!.crowd) {
      const kinds = palette(a.palettes["kinds"]!);
      a.kinds!.forEach((k, i) => parts.push(swatch(k, css(kinds[i % kinds.length]!))));
    }
    element("legend").replaceChildren(...parts);
  }

  private resize(): void {
    for (const p of this.all) p.resize();
    if (this.view.fitted) this.panes[0]!.fit();
    this.paint();
    this.report();
  }

  // What a cell holds.

  private looking = false;

  private async look(): Promise<void> {
    if (this.looking) return;
    this.looking = true;
    try {
      const at = this.chosen;
      const answers = await Promise.all(this.panes.map((p, source) =>
        this.source.ask<Look>({ op: "look", source, tick: Math.max(p.about.first, Math.min(p.about.last, this.tick)), ...at })));
      if (at === this.chosen) this.tell(answers.map((a) => a.head));
    } catch (e) {
      element("looked").replaceChildren(make("h2", (e as Error).message));
    }
    this.looking = false;
  }

  private tell(all: Look[]): void {
    const a = this.about, table = make("table"), l = all[0]!;
    const row = (name: string, values: string[]) => {
      const r = table.insertRow();
      r.insertCell().textContent = name;
      for (const v of values) r.insertCell().textContent = v;
      if (values.some((v) => v !== values[0])) r.className = "differs";
    };
    l.values.forEach((v, i) => {
      const f = a.fields[v.field]!;
      row(f.name, all.map((x) => x.values[i]!.values.join(", ") + (f.unit ? ` ${f.unit}` : "")));
    });
    for (const e of l.entities ?? []) row(e.kind, [e.name ? `${e.name} (${e.id})` : e.id]);
    const where = l.coord ? `[${l.coord.join(", ")}]` : "";
    element("looked").replaceChildren(make("h2", l.entity ? `${l.kind} ${l.name ?? l.entity} at ${where}` : `Cell ${where}, tick ${l.tick}`), table);
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
      go.onclick = () => this.go(d.tick!);
      element("controls").insertBefore(go, element("when"));
    } catch (e) {
      this.say((e as Error).message);
    }
  }

  /** report draws what replays have found so far: charts and the strip. */
  private report(): void {
    this.charts.set(this.facts, this.choice);
    this.charts.draw(this.tick);
    ribbon(element<HTMLCanvasElement>("strip"), this.facts, this.first, this.last);
  }

  // Hands.

  private listen(): void {
    element("play").onclick = () => this.toggle();
    element("back").onclick = () => this.go(this.tick - 1);
    element("on").onclick = () => this.go(this.tick + 1);
    element<HTMLInputElement>("scrub").oninput = (e) => this.go(+(e.target as HTMLInputElement).value);
    element<HTMLInputElement>("tick").onchange = (e) => this.go(+(e.target as HTMLInputElement).value);
    element<HTMLSelectElement>("speed").onchange = (e) => { this.speed = +(e.target as HTMLSelectElement).value; };
    for (const p of this.all) this.pointer(p);
    document.onkeydown = (e) => this.key(e);
  }

  private pointer(p: Pane): void {
    let drag: { x: number; y: number; moved: boolean } | null = null;
    p.cells.onpointerdown = (e) => {
      drag = { x: e.clientX, y: e.clientY, moved: false };
      p.cells.setPointerCapture(e.pointerId);
    };
    p.cells.onpointermove = (e) => {
      if (!drag) {
        if (e.pointerType === "mouse") this.choose(p.under(e));
        return;
      }
      const [dx, dy] = [e.clientX - drag.x, e.clientY - drag.y];
      if (!drag.moved && Math.hypot(dx, dy) <= 4) return;
      p.move(dx * devicePixelRatio, dy * devicePixelRatio);
      drag = { x: e.clientX, y: e.clientY, moved: true };
      this.paint();
    };
    p.cells.onpointerup = (e) => {
      if (drag && !drag.moved) this.choose(p.under(e));
      drag = null;
    };
    p.cells.onwheel = (e) => {
      e.preventDefault();
      p.zoom(Math.exp(-e.deltaY / 400), e.offsetX * devicePixelRatio, e.offsetY * devicePixelRatio);
      this.paint();
    };
    p.cells.ondblclick = () => this.fit();
  }

  private fit(): void {
    this.panes[0]!.fit();
    this.paint();
  }

  private zoom(by: number): void {
    this.panes[0]!.zoom(by);
    this.paint();
  }

  private choose(at: Chosen): void {
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
      Home: () => this.go(this.first),
      End: () => this.go(this.last),
      "+": () => this.zoom(1.25),
      "=": () => this.zoom(1.25),
      "-": () => this.zoom(0.8),
      "0": () => this.fit(),
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
    this.panes[0]!.move(x, y);
    this.paint();
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
