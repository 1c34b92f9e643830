// Charts: numbers over ticks.

import type { Span } from "./clock";
import { make } from "./dom";

export interface Series { name: string; ticks: ArrayLike<number>; values: ArrayLike<number>; colour: string }

/** short formats a number in a few characters. */
export function short(v: number): string {
  if (!Number.isFinite(v)) return "–";
  const a = Math.abs(v);
  return a !== 0 && (a < 1e-3 || a >= 1e6) ? v.toExponential(2) : String(+v.toPrecision(5));
}

const beside = 56; // pixels for the numbers to the left of the lines

/** plot makes a canvas for a chart. A click on it goes to a tick. */
export function plot(label: string, span: Span, go: (tick: number) => void): HTMLCanvasElement {
  const canvas = make("canvas");
  canvas.setAttribute("role", "img");
  canvas.setAttribute("aria-label", label);
  canvas.onclick = (e) => go(span.first + (Math.max(0, e.offsetX - beside) / (canvas.clientWidth - beside)) * (span.end - span.first));
  return canvas;
}

/** chart draws series over ticks, and a line at a tick. Values above the top are cut off. Say formats a value. */
export function chart(canvas: HTMLCanvasElement, list: Series[], { first, end }: Span, tick: number, top = Infinity, say = short): void {
  const ratio = devicePixelRatio, width = canvas.clientWidth * ratio, height = canvas.clientHeight * ratio;
  if (canvas.width !== width || canvas.height !== height) [canvas.width, canvas.height] = [width, height];
  const g = canvas.getContext("2d")!, style = getComputedStyle(canvas);
  g.clearRect(0, 0, width, height);
  let lo = Infinity, hi = -Infinity;
  for (const s of list) {
    for (let i = 0; i < s.values.length; i++) {
      const v = s.values[i]!;
      if (v < lo) lo = v;
      if (v > hi) hi = Math.min(v, top);
    }
  }
  if (!(lo <= hi)) return;
  let ends = lo === hi ? [say(hi), ""] : [say(hi), say(lo)];
  if (ends[0] === ends[1]) ends = [hi, lo].map((v) => String(+v.toPrecision(9)));
  if (lo === hi) [lo, hi] = [lo - 1, hi + 1];
  const left = beside * ratio, x = (t: number) => left + (end > first ? (t - first) / (end - first) : 0) * (width - 1 - left);
  const pad = 3 * ratio, y = (v: number) => height - pad - ((Math.min(v, hi) - lo) / (hi - lo)) * (height - 2 * pad);
  for (const s of list) {
    g.beginPath();
    let pen = false;
    for (let i = 0; i < s.values.length; i++) {
      if (Number.isNaN(s.values[i]!)) { pen = false; continue; }
      if (pen) g.lineTo(x(s.ticks[i]!), y(s.values[i]!)); else g.moveTo(x(s.ticks[i]!), y(s.values[i]!));
      pen = true;
    }
    for (const [colour, thick] of [["rgb(128 128 128)", 3], [s.colour, 1.5]] as const) { // visible on any background
      g.strokeStyle = colour;
      g.lineWidth = thick * ratio;
      g.stroke();
    }
  }
  g.fillStyle = style.color;
  g.fillRect(Math.round(x(tick)), 0, Math.max(1, Math.round(ratio)), height);
  g.font = `${10 * ratio}px system-ui, sans-serif`;
  g.textAlign = "right";
  for (const [text, base, y] of [[ends[0]!, "top", 1], [ends[1]!, "bottom", height]] as const) {
    g.textBaseline = base;
    g.fillText(text, left - 6 * ratio, y, left - 8 * ratio);
  }
}
