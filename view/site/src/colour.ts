// Colours of values.

import type { About, Field, Numbers } from "./source";

export type RGB = [number, number, number];

/** palette parses concatenated RRGGBB digits. */
export function palette(digits: string): RGB[] {
  const list: RGB[] = [];
  for (let i = 0; i + 6 <= digits.length; i += 6) {
    const v = parseInt(digits.slice(i, i + 6), 16);
    list.push([v >> 16, (v >> 8) & 255, v & 255]);
  }
  return list;
}

export const css = ([r, g, b]: RGB): string => `rgb(${r} ${g} ${b})`;

/** A Scale maps values to colours. */
export interface Scale {
  colours: RGB[]; lo: number; hi: number; categories: boolean;
  strength?: number[]; // opacity of each colour, 0 to 1, for a layer drawn over another
}

/** over makes a scale for a layer drawn over another: transparent where there is nothing, half transparent elsewhere. */
export function over(s: Scale): Scale {
  const last = s.colours.length - 1, both = s.lo < 0 && s.hi > 0; // diverging: zero is in the middle
  const strength = s.colours.map((_, i) => {
    if (s.categories) return i ? 0.65 : 0;
    return 0.15 + 0.65 * (both ? Math.abs((2 * i) / last - 1) : i / last);
  });
  return { ...s, strength };
}

/** scaleOf returns a field's scale: its categories, or from its minimum to its maximum. */
export function scaleOf(about: About, f: Field, lo: number, hi: number, map: string): Scale {
  if (f.values) return { colours: palette(about.palettes["categories"]!), lo: 0, hi: 24, categories: true };
  if (!map) {
    map = "viridis";
    if (lo < 0 && hi > 0 && Math.min(-lo, hi) >= 0.2 * Math.max(-lo, hi)) {
      map = "balance";
      hi = Math.max(-lo, hi);
      lo = -hi;
    }
  }
  return { colours: palette(about.palettes[map]!), lo, hi, categories: false };
}

/** index returns the index of a value's colour. */
export function index(s: Scale, v: number): number {
  const n = s.colours.length;
  if (s.categories) return Math.max(0, v) % n;
  if (s.hi === s.lo) return 0;
  return Math.max(0, Math.min(n - 1, Math.floor(((v - s.lo) / (s.hi - s.lo)) * n)));
}

/** part returns what is drawn of a field: its values, a component of a vector, or the vector's length. */
export function part(values: Numbers, components: number, which: number): Float32Array {
  const n = values.length / components;
  if (components === 1) return values instanceof Float32Array ? values : Float32Array.from(values);
  const out = new Float32Array(n);
  for (let i = 0; i < n; i++) {
    if (which >= 0) out[i] = values[i * components + which]!;
    else {
      let sum = 0;
      for (let c = 0; c < components; c++) sum += values[i * components + c]! ** 2;
      out[i] = Math.sqrt(sum);
    }
  }
  return out;
}

/** partName returns the name of a component of a vector, for people. */
export function partName(f: Field, component: number): string {
  const part = f.parts?.[component];
  return part ? `${f.name}: ${part}` : `${f.name}[${component}]`;
}

/** range returns the minimum and the maximum. */
export function range(values: Float32Array): [number, number] {
  let lo = Infinity, hi = -Infinity;
  for (const v of values) {
    if (v < lo) lo = v;
    if (v > hi) hi = v;
  }
  return lo <= hi ? [lo, hi] : [0, 0];
}
