// The ticks in which a condition holds: a field for it, ways to the next of them and the one before, and where playback stops.

import type { Clock } from "./clock";
import { element, make } from "./dom";
import type { Facts } from "./facts";
import type { Found, FoundSpan, Source } from "./source";

const pause = 10; // milliseconds left for other requests
const patience = 300; // milliseconds between questions to a run that goes on
const glance = 150; // milliseconds after which progress is shown

/** A Part is what is known about one source. */
interface Part { next: number; done: boolean; held: number; unknown: number; reason: string; error: string; spans: FoundSpan[] }

export class Search {
  private text = ""; // the condition that is looked for; "": none
  private parts: Part[] = []; // one per source
  private job = 0; // number of the current search
  private way = 0; // 1 or -1: the page is to go to the next tick in which the condition becomes true, or to the one before
  private from = 0; // the tick from which it goes
  private note = ""; // why it did not go
  private seen = 0; // the last tick of the run when it was let go on
  private asked = 0; // when the search began

  /** Drawn is called when there are new ticks to mark. */
  constructor(private readonly source: Source, private readonly facts: Facts[], private readonly clock: Clock, private readonly drawn: () => void) {
    const field = this.field, possible = !facts.some((f) => f.about.unverifiable);
    element("search").hidden = !possible;
    field.placeholder = example(facts[0]!);
    field.onkeydown = (e) => {
      if (e.key === "Escape") this.clear();
      if (e.key === "Enter") this.go(e.shiftKey ? -1 : 1);
      if (e.key === "Enter") e.preventDefault();
    };
    field.onchange = () => this.begin(); // so that playback stops there
    element("search").onclick = () => this.open();
    element("earlier").onclick = () => this.go(-1);
    element("later").onclick = () => this.go(1);
    element("unfind").onclick = () => this.clear();
    clock.until = (from, to) => this.until(from, to);
  }

  private get field(): HTMLInputElement { return element("condition"); }

  /** open shows the field, if there is one. */
  open(): void {
    if (element("search").hidden) return;
    element("find").hidden = false;
    this.field.focus();
    this.field.select();
  }

  /** clear ends the search, and hides the field. */
  clear(): void {
    this.stop();
    this.field.value = "";
    if (element("find").contains(document.activeElement)) element("search").focus();
    element("find").hidden = true;
  }

  /** close ends the search when another page takes the place of this one. */
  close(): void {
    this.stop();
    this.field.value = "";
    element("find").hidden = true;
  }

  private stop(): void {
    [this.text, this.parts, this.way, this.note] = ["", [], 0, ""];
    this.job++;
    element("found").replaceChildren();
    element("looking").hidden = true;
    this.drawn();
  }

  /** spans returns in which ticks of a source the condition is known to hold. */
  spans(which: number): FoundSpan[] { return this.parts[which]?.spans ?? []; }

  /** begin looks for the condition in the field, unless that is done already. */
  private begin(): void {
    const text = this.field.value.trim();
    if (text === this.text) return;
    this.stop();
    if (!text) return;
    this.text = text;
    this.parts = this.facts.map((f) => ({ next: f.about.first, done: false, held: 0, unknown: 0, reason: "", error: "", spans: [] }));
    this.seen = this.clock.last;
    this.asked = performance.now();
    void this.look(this.job);
  }

  private go(way: 1 | -1): void {
    this.begin();
    if (!this.text) return;
    [this.way, this.from, this.note] = [way, this.clock.tick, ""];
    this.settle();
    this.tell();
  }

  /** look asks piece by piece, until another condition is looked for. */
  private async look(job: number): Promise<void> {
    while (job === this.job) {
      let fresh = false;
      try {
        for (const [i, p] of this.parts.entries()) {
          if (p.done && !this.goes(i)) continue;
          const f = (await this.source.ask<Found>({ op: "find", source: i, condition: this.text, since: p.spans.length })).head;
          if (job !== this.job) return;
          if (f.wrong) return this.refuse(f.wrong);
          fresh ||= f.spans.length > (f.from < p.spans.length ? 1 : 0) || JSON.stringify(f.spans[0]) !== JSON.stringify(p.spans[f.from]);
          p.spans.splice(f.from, Infinity, ...f.spans);
          Object.assign(p, { next: f.next, done: !!f.done, held: f.held, unknown: f.unknown ?? 0, reason: f.reason ?? "", error: f.error ?? "" });
        }
      } catch (e) {
        if (job !== this.job) return;
        this.text = ""; // so that it can be tried again
        element("looking").hidden = true;
        element("found").textContent = (e as Error).message;
        return;
      }
      this.settle();
      this.hold();
      this.tell();
      if (fresh) this.drawn();
      const rests = this.parts.every((p) => p.done);
      if (rests && !this.parts.some((_, i) => this.goes(i))) return;
      await new Promise((done) => setTimeout(done, rests ? patience : pause));
    }
  }

  /** goes reports whether more ticks of a source may come. */
  private goes(which: number): boolean {
    const run = this.facts[which]!.check.run;
    return !!run && !run.ended && !this.parts[which]!.error;
  }

  /** known returns the tick before which everything is known about a source. */
  private known(p: Part): number { return p.done ? Infinity : p.next; }

  /** settle goes where the page is to go, as soon as that is known. */
  private settle(): void {
    if (!this.way) return;
    const { from } = this, on = this.way > 0;
    const ticks = this.parts.map((p) => (on ? p.spans.find((s) => s.first > from) : p.spans.filter((s) => s.first < from).at(-1))?.first ?? (on ? Infinity : -1));
    const to = on ? Math.min(...ticks) : Math.max(...ticks), known = Math.min(...this.parts.map((p) => this.known(p)));
    if (on ? known <= to && known < Infinity : known < from) return;
    this.way = 0;
    if (Number.isFinite(to) && to >= 0) this.clock.go(to);
    else if (this.parts.some((p) => p.held)) this.note = `${on ? "not again after" : "not before"} tick ${from.toLocaleString("en-US")}`;
  }

  /** until returns how far playback may go from one tick to another, and whether the condition becomes true there. */
  private until(from: number, to: number): { tick: number; stop: boolean } {
    if (!this.text) return { tick: to, stop: false };
    const first = Math.min(...this.parts.map((p) => p.spans.find((s) => s.first > from)?.first ?? Infinity));
    if (first <= to) return { tick: first, stop: true };
    return { tick: Math.max(from, Math.min(to, ...this.parts.map((p) => this.known(p) - 1))), stop: false };
  }

  /** hold holds a run that the page follows, and goes back to the tick in which the condition became true. */
  private hold(): void {
    const first = Math.min(...this.parts.map((p) => p.spans.find((s) => s.first > this.seen)?.first ?? Infinity));
    if (!this.clock.following || first > this.clock.last) return;
    this.seen = this.clock.last;
    this.clock.hold();
    this.clock.go(first);
  }

  private refuse({ reason, before, meant, after }: NonNullable<Found["wrong"]>): void {
    const code = make("code");
    code.append(before, make("mark", meant), after);
    element("found").replaceChildren(make("strong", reason), ...(before || after ? [" ", code] : []));
    element("looking").hidden = true;
    [this.parts, this.way, this.text] = [[], 0, ""];
  }

  /** tell says what is known. While ticks are looked at, a bar shows how many: words would be spoken again and again. */
  tell(): void {
    if (!this.text || !this.parts.length) return;
    const bar = element<HTMLProgressElement>("looking"), busy = this.parts.some((p) => !p.done);
    bar.hidden = !busy || performance.now() - this.asked < glance;
    [bar.max, bar.value] = this.facts.reduce(([max, value], { about: a }, i) => [max! + a.last - a.first + 1, value! + this.parts[i]!.next - a.first], [0, 0]) as [number, number];
    bar.title = `${bar.value.toLocaleString("en-US")} of ${bar.max.toLocaleString("en-US")} states looked at`;
    const text = [this.note, ...this.parts.map((p, i) => (p.done ? this.said(p, this.facts[i]!) : ""))].filter(Boolean).join("  ·  ");
    const found = element("found");
    if (found.textContent !== text) found.textContent = text; // otherwise it would be spoken again
  }

  /** said says what is known about a source. */
  private said(p: Part, { about }: Facts): string {
    const n = (x: number) => x.toLocaleString("en-US"), states = p.next - about.first;
    const here = p.spans.find((s) => s.first === this.clock.tick)?.found;
    return (this.parts.length > 1 ? `${about.file}: ` : "") + [
      here, p.held ? `in ${n(p.held)} of ${n(states)} ${states === 1 ? "state" : "states"}` : `never in ticks ${n(about.first)} to ${n(p.next - 1)}`,
      p.unknown && `without a value in ${n(p.unknown)} ${p.unknown === 1 ? "state" : "states"}: ${p.reason}`, p.error && `no further: ${p.error}`,
    ].filter(Boolean).join(", ");
  }
}

/** example returns a condition about the first field that changes. */
function example(f: Facts): string {
  const d = f.about.fields.find((x) => !x.entities && !x.static && x.components === 1) ?? f.about.fields[0];
  if (!d || d.entities) return `count(${f.about.kinds?.[0] ?? "kind"}) > 1`;
  return d.values ? `count(${d.name} == ${d.values.at(-1)}) > 1` : `most(${d.name}) > 1`;
}
