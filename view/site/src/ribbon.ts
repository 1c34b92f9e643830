// The strip below the time line.

import type { Span } from "./clock";
import { element } from "./dom";
import type { Facts } from "./facts";
import type { FoundSpan, Mark } from "./source";

/** ribbon draws which ticks match, in a row for each recording, which have inputs or events, and in which a condition holds. */
export function ribbon(c: HTMLCanvasElement, facts: Facts[], { first, end }: Span, found: (which: number) => FoundSpan[]): void {
  const k = devicePixelRatio, g = c.getContext("2d")!;
  [c.width, c.height] = [c.clientWidth * k, c.clientHeight * k];
  const x = (t: number) => (end > first ? (t - first) / (end - first) : 0) * c.width;
  const high = c.height / 2 / facts.length;
  facts.forEach((f, i) => {
    const a = f.about, top = c.height / 2 + i * high;
    const fill = (name: string, from: number, to: number, tall = high) => {
      g.fillStyle = colour(c, name);
      if (to > from) g.fillRect(x(from), top + high - tall, Math.max(1, x(to) - x(from)), tall);
    };
    const matched = f.check.differs ? f.check.differs - 1 : a.first + f.check.ticks;
    fill("good", a.first, matched);
    const wrong = f.wrong() && f.check.done;
    if (!wrong) fill("unknown", matched, a.last, high / 3);
    else fill("bad", matched, a.last);
    if (wrong) for (let at = x(matched); at < x(a.last); at += 6 * k) g.clearRect(at + 4 * k, top, 2 * k, high); // for readers who cannot see red
  });
  const accent = colour(c, "accent"), refused = colour(c, "refused"), holds = colour(c, "holds");
  const each = (c.height / 2 - k) / facts.length;
  facts.forEach((f, i) => {
    for (const m of f.marks) {
      g.fillStyle = m.refused ? refused : accent;
      g.fillRect(x(m.tick), i * each, Math.max(1, k), each - (i < facts.length - 1 ? k : 0));
    }
    g.fillStyle = holds;
    const tall = Math.min(each - k, 5 * k), low = (i + 1) * each - tall - (i < facts.length - 1 ? k : 0);
    let drawn = -1; // up to here: one of many ticks in a pixel is enough
    for (const s of found(i)) {
      const to = Math.max(x(s.last), x(s.first) + 2 * k);
      if (to - drawn >= 1) g.fillRect(x(s.first) - k / 2, low, to - x(s.first), tall);
      drawn = Math.max(drawn, to);
    }
  });
}

const reach = 4; // pixels from the pointer to a mark

/** marks shows the marks under the pointer, and goes to them on a click. */
export function marks(c: HTMLCanvasElement, facts: Facts[], span: Span, go: (tick: number) => void): void {
  const tip = element("tip");
  const under = (e: MouseEvent): { tick: number; near: Mark[] } => {
    const each = Math.max(span.end - span.first, 1) / c.clientWidth, tick = span.first + e.offsetX * each;
    const near = facts.flatMap((f) => f.within(Math.ceil(tick - reach * each), Math.floor(tick + reach * each))).sort((a, b) => a.tick - b.tick);
    const closest = near.reduce((x, m) => (Math.abs(m.tick - tick) < Math.abs(x - tick) ? m.tick : x), Infinity);
    return { tick: Number.isFinite(closest) ? closest : Math.round(tick), near };
  };
  c.onclick = (e) => go(under(e).tick);
  c.onpointermove = (e) => {
    const { tick, near } = under(e);
    tip.textContent = said(tick, near);
    tip.hidden = false;
    const box = c.getBoundingClientRect(), half = tip.offsetWidth / 2 + 4;
    tip.style.left = `${Math.max(half, Math.min(innerWidth - half, e.clientX))}px`;
    tip.style.bottom = `${innerHeight - box.top + 4}px`;
  };
  c.onpointerleave = () => { tip.hidden = true; };
}

/** said describes the marks near a tick. */
function said(tick: number, near: Mark[]): string {
  const count = (n: number, name: string) => `${n.toLocaleString("en-US")} ${name}${n === 1 ? "" : "s"}`;
  const sum = (of: (m: Mark) => number | undefined) => near.reduce((n, m) => n + (of(m) ?? 0), 0);
  const [inputs, refused, events] = [sum((m) => m.inputs), sum((m) => m.refused), sum((m) => m.events)];
  const what = [inputs ? count(inputs, "command") + (refused ? `, ${refused.toLocaleString("en-US")} refused` : "") : "", events ? count(events, "event") : ""];
  const where = near.length > 1 ? `ticks ${near[0]!.tick.toLocaleString("en-US")} to ${near[near.length - 1]!.tick.toLocaleString("en-US")}` : `tick ${tick.toLocaleString("en-US")}`;
  return [where, what.filter(Boolean).join(", ")].filter(Boolean).join(": ");
}

/** colour returns one of the page's colours, in its light or dark version. */
function colour(c: HTMLCanvasElement, name: string): string {
  c.style.color = `var(--${name})`;
  const value = getComputedStyle(c).color;
  c.style.color = "";
  return value;
}
