// Time: the tick that is wanted, playing, and the controls for both.

import { element } from "./dom";
import type { Run } from "./source";

/** A Span is the ticks that the time line and charts have room for. */
export interface Span { readonly first: number; readonly end: number }

export class Clock implements Span {
  tick: number;
  playing = false;
  end: number; // of the time line, which has room for what is to come
  private run: Run | null = null; // that goes on
  private follow = false; // it is shown as it goes
  private began: number; // the last tick of the run when it was opened
  private closed = false;
  private speed = 1;
  private paced = false; // somebody chose the speed
  private due = 0; // time of the next tick, in milliseconds
  private coming = -1; // the tick that is shown next while it plays, if it is chosen
  private took = 16; // milliseconds that it takes to show a tick, on average
  private since = 0; // time when the page began to show one; 0: it has shown it
  gone = 0; // how often somebody went to another tick

  /** Ready says whether the last tick is shown; changed is called when another one is wanted. */
  constructor(readonly first: number, public last: number, tip: number, private readonly rate: number, wish: string | null,
    private readonly ready: () => boolean, private readonly changed: () => void, private readonly drive: (hold: boolean, speed: number) => void) {
    [this.end, this.began] = [last, tip];
    this.tick = this.within(Number(wish ?? first) || 0);
    const scrub = element<HTMLInputElement>("scrub"), tick = element<HTMLInputElement>("tick"), speed = element<HTMLSelectElement>("speed");
    for (const e of [scrub, tick]) [e.min, e.max] = [String(first), String(last)];
    speed.replaceChildren(...[0.25, 0.5, 1, 2, 4, 8, 16, 64].map((v) => new Option(`${v}×`, String(v), v === 1, v === 1)), new Option("all at once", "0"));
    scrub.oninput = () => this.go(+scrub.value);
    tick.onchange = () => this.go(+tick.value);
    speed.onchange = () => {
      [this.speed, this.coming, this.paced] = [+speed.value, -1, true];
      if (this.run) this.drive(!!this.run.held, this.speed);
    };
    element("to-tip").onclick = () => { if (this.run) this.go(this.run.last); };
    element("play").onclick = () => this.toggle();
    element("back").onclick = () => this.go(this.tick - 1);
    element("on").onclick = () => this.go(this.tick + 1);
    requestAnimationFrame((t) => this.frame(t));
  }

  private within(tick: number): number {
    return Math.max(this.first, Math.min(this.last, Math.round(tick)));
  }

  go(tick: number): void {
    this.gone++;
    [this.tick, this.coming] = [this.within(tick), -1];
    this.follow = !!this.run && this.tick === this.run.last;
    this.icon();
    this.changed();
  }

  /** toggle plays or pauses; at the last tick of a run it holds the run, or lets it go on. */
  toggle(): void {
    if (this.run && !this.playing && this.tick >= this.run.last) {
      this.follow = this.tick === this.run.last;
      this.drive(!this.run.held, this.speed);
      return;
    }
    [this.playing, this.coming] = [!this.playing, -1];
    if (this.playing && this.tick >= this.last) this.tick = this.first;
    this.due = performance.now();
    this.icon();
    if (!this.playing) this.changed();
  }

  /** live reports whether the last tick of a run is shown. */
  get live(): boolean { return !!this.run && this.tick === this.run.last; }

  /** moves reports whether the tick changes by itself. */
  get moves(): boolean { return this.playing || (this.follow && !this.run!.held); }

  private icon(): void {
    const on = this.moves, play = element("play");
    play.textContent = on ? "❚❚" : "▶";
    play.setAttribute("aria-label", on ? "Pause" : "Play");
    const tip = element<HTMLButtonElement>("to-tip"); // it comes once: else what is beside it would jump
    tip.hidden = !this.run;
    tip.disabled = !this.run || this.tick >= this.run.last;
    element("looked").ariaLive = on ? "off" : "polite"; // it would never end speaking
  }

  /** extend says how far there are ticks by now, of how many, and how the run is that makes them; null: none does. */
  extend(last: number, planned: number, run: Run | null): void {
    const before = this.run?.last ?? this.began;
    if (run && !this.run && !this.paced) this.pace(run.speed ?? 0);
    if (run && !this.run) this.follow = this.tick >= before;
    const tip = run ? run.last : last, on = this.follow && tip > before;
    [this.run, this.last] = [run, last];
    this.end = run ? Math.max(last, planned) : last;
    element<HTMLInputElement>("scrub").max = String(this.end);
    element<HTMLInputElement>("tick").max = String(last);
    if (!run) [this.follow, this.began] = [false, tip];
    if (on) this.tick = tip;
    this.icon();
    if (on) this.changed();
  }

  /** pace takes up the speed of a run. */
  private pace(speed: number): void {
    const list = element<HTMLSelectElement>("speed");
    if (![...list.options].some((o) => +o.value === speed)) list.add(new Option(`${speed}×`, String(speed)), list.options.length - 1);
    [list.value, this.speed] = [String(speed), speed];
  }

  /** close ends it. */
  close(): void { [this.closed, this.playing] = [true, false]; }

  private get each(): number { return 1000 / (this.rate * (this.speed || 1e6)); } // milliseconds of a tick

  private steps(now: number): number { return Math.max(1, Math.floor((now - this.due) / this.each)); }

  /** ahead chooses the tick that is shown next while it plays, so that it can be asked for while this one is drawn; -1 if there is none. */
  ahead(now: number): number {
    const next = this.tick + this.steps(now + this.took);
    this.coming = this.playing && next <= (this.run?.last ?? this.last) ? next : -1;
    return this.coming;
  }

  private frame(now: number): void {
    if (this.closed) return;
    requestAnimationFrame((t) => this.frame(t));
    if (!this.playing || !this.ready()) return;
    if (this.since) this.took += (Math.min(now - this.since, 200) - this.took) / 4;
    this.since = 0;
    if (now < this.due) return;
    this.since = now;
    const steps = this.coming > this.tick ? this.coming - this.tick : this.steps(now), last = this.run?.last ?? this.last;
    this.due = Math.max(now - 100, this.due + steps * this.each);
    if (this.tick < last) {
      this.tick = Math.min(last, this.tick + steps);
      this.changed();
    } else if (this.run) { // from here on it is shown as it goes
      [this.playing, this.follow] = [false, true];
      this.icon();
    } else this.toggle();
  }

  /** label says which tick it is, and something more. */
  label(more: string): void {
    element<HTMLInputElement>("scrub").value = String(this.tick);
    const tick = element<HTMLInputElement>("tick");
    if (document.activeElement !== tick) tick.value = String(this.tick);
    element("when").textContent = `${(this.tick / this.rate).toFixed(2)} s of ${(this.end / this.rate).toFixed(2)} s${more}`;
  }
}
