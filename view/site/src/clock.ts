// Time: the wanted tick, playback, and the controls for both.

import { element } from "./dom";
import type { Run } from "./source";

/** A Span is the range of ticks that the time line and charts cover. */
export interface Span { readonly first: number; readonly end: number }

export class Clock implements Span {
  tick: number;
  playing = false;
  end: number; // of the time line, which has room for future ticks
  private run: Run | null = null; // the live run, if any
  private follow = false; // the run's latest tick is shown
  private began: number; // the last tick of the run when it was opened
  private closed = false;
  private speed = 1;
  private paced = false; // the user chose the speed
  private due = 0; // time of the next tick, in milliseconds
  private coming = -1; // the tick to show next during playback; -1: not chosen
  private took = 16; // average milliseconds for showing a tick
  private since = 0; // when the page began to show a tick; 0: done
  until: (from: number, to: number) => { tick: number; stop: boolean } = (_, tick) => ({ tick, stop: false }); // how far playback may go, and whether it stops there
  gone = 0; // how often the user went to another tick

  /** Ready says whether the last wanted tick is shown. Changed is called when another tick is wanted. */
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

  /** toggle plays or pauses. At the last tick of a run, it holds the run or lets it go on. */
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
    const tip = element<HTMLButtonElement>("to-tip"); // hidden only without a run: otherwise its neighbours would jump
    tip.hidden = !this.run;
    tip.disabled = !this.run || this.tick >= this.run.last;
    element("looked").ariaLive = on ? "off" : "polite"; // a screen reader would never stop speaking
  }

  /** following reports whether the page shows the latest tick of a run that goes on. */
  get following(): boolean { return this.follow && !!this.run && !this.run.held; }

  /** hold holds the run. */
  hold(): void { if (this.run) this.drive(true, this.speed); }

  /** extend sets the last tick so far, the number of planned ticks, and the state of the live run; null: no run. */
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

  /** pace adopts the speed of a run. */
  private pace(speed: number): void {
    const list = element<HTMLSelectElement>("speed");
    if (![...list.options].some((o) => +o.value === speed)) list.add(new Option(`${speed}×`, String(speed)), list.options.length - 1);
    [list.value, this.speed] = [String(speed), speed];
  }

  /** close stops the clock. */
  close(): void { [this.closed, this.playing] = [true, false]; }

  private get each(): number { return 1000 / (this.rate * (this.speed || 1e6)); } // milliseconds per tick

  private steps(now: number): number { return Math.max(1, Math.floor((now - this.due) / this.each)); }

  /** ahead chooses the next tick of playback, so that it can be requested while this one is drawn; -1 if there is none. */
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
      const { tick, stop } = this.until(this.tick, Math.min(last, this.tick + steps));
      if (tick === this.tick) return; // until more is known
      this.tick = tick;
      if (stop) [this.playing, this.coming] = [false, -1];
      if (stop) this.icon();
      this.changed();
    } else if (this.run) { // from here on, follow the run
      [this.playing, this.follow] = [false, true];
      this.icon();
    } else this.toggle();
  }

  /** label shows the tick and an additional text. */
  label(more: string): void {
    element<HTMLInputElement>("scrub").value = String(this.tick);
    const tick = element<HTMLInputElement>("tick");
    if (document.activeElement !== tick) tick.value = String(this.tick);
    element("when").textContent = `${(this.tick / this.rate).toFixed(2)} s of ${(this.end / this.rate).toFixed(2)} s${more}`;
  }
}
