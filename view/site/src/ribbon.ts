// The strip below the time line.

import type { Facts } from "./facts";

/** ribbon draws which ticks match, a row for each recording, and those of the first in which something came from outside. */
export function ribbon(c: HTMLCanvasElement, facts: Facts[], first: number, last: number): void {
  const k = devicePixelRatio, g = c.getContext("2d")!;
  [c.width, c.height] = [c.clientWidth * k, c.clientHeight * k];
  const x = (t: number) => (last > first ? (t - first) / (last - first) : 0) * c.width;
  const high = c.height / 2 / facts.length;
  facts.forEach((f, i) => {
    const a = f.about, top = c.height / 2 + i * high;
    const fill = (name: string, from: number, to: number) => {
      g.fillStyle = colour(c, name);
      if (to > from) g.fillRect(x(from), top, Math.max(1, x(to) - x(from)), high);
    };
    const matched = f.check.differs ? f.check.differs - 1 : a.first + f.check.ticks;
    fill("unknown", a.first, a.last);
    fill("good", a.first, matched);
    if (f.wrong() && f.check.done) fill("bad", matched, a.last);
  });
  const accent = colour(c, "accent");
  for (const m of facts[0]!.marks) {
    g.fillStyle = m.refused ? "#d07a2c" : accent;
    g.fillRect(x(m.tick), 0, Math.max(1, k), c.height / 2 - k);
  }
}

/** colour returns one of the page's colours, as the light or the dark page has it. */
function colour(c: HTMLCanvasElement, name: string): string {
  c.style.color = `var(--${name})`;
  const value = getComputedStyle(c).color;
  c.style.color = "";
  return value;
}
