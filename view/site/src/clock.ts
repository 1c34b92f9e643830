// Time: the tick that is wanted, playing, and the controls for both.

import { element } from "./dom";

export class Clock {
  tick: number;
  playing = false;
  private speed = 1;
  private due = 0; // time of the next tick, in milliseconds

  /** Ready says whether the last tick is shown; changed is called when another one is wanted. */
  constructor(readonly first: number, readonly last: number, private readonly rate: number, wish: string | null,
    private readonly ready: () => boolean, private readonly changed: () => void) {
    this.tick = this.within(Number(wish ?? first) || 0);
    const scrub = element<HTMLInputElement>("scrub"), tick = element<HTMLInputElement>("tick"), speed = element<HTMLSelectElement>("speed");
    for (const e of [scrub, tick]) [e.min, e.max] = [String(first), String(last)];
    for (const v of [0.25, 0.5, 1, 2, 4, 8, 16, 64]) speed.add(new Option(`${v}×`, String(v), v === 1, v === 1));
    scrub.oninput = () => this.go(+scrub.value);
    tick.onchange = () => this.go(+tick.value);
    speed.onchange = () => { this.speed = +speed.value; };
    element("play").onclick = () => this.toggle();
    element("back").onclick = () => this.go(this.tick - 1);
    element("on").onclick = () => this.go(this.tick + 1);
    requestAnimationFrame((t) => this.frame(t));
  }

  private within(tick: number): number {
    return Math.max(this.first, Math.min(this.last, Math.round(tick)));
  }

  go(tick: number): void {
    this.tick = this.within(tick);
    this.changed();
  }

  toggle(): void {
    this.playing = !this.playing;
    if (this.playing && this.tick >= this.last) this.tick = this.first;
    this.due = performance.now();
    const play = element("play");
    play.textContent = this.playing ? "❚❚" : "▶";
    play.setAttribute("aria-label", this.playing ? "Pause" : "Play");
    if (!this.playing) this.changed();
  }

  private frame(now: number): void {
    requestAnimationFrame((t) => this.frame(t));
    if (!this.playing || !this.ready() || now < this.due) return;
    const each = 1000 / (this.rate * this.speed), steps = Math.max(1, Math.floor((now - this.due) / each));
    this.due = Math.max(now - 100, this.due + steps * each);
    if (this.tick >= this.last) this.toggle();
    else this.go(this.tick + steps);
  }

  /** label says which tick it is, and something more. */
  label(more: string): void {
    element<HTMLInputElement>("scrub").value = String(this.tick);
    const tick = element<HTMLInputElement>("tick");
    if (document.activeElement !== tick) tick.value = String(this.tick);
    element("when").textContent = `${(this.tick / this.rate).toFixed(2)} s of ${(this.last / this.rate).toFixed(2)} s${more}`;
  }
}
