// How much the worlds of two sources differ.

import { short } from "./chart";
import type { Numbers } from "./source";

export interface Difference {
  values: Float32Array; // by rank: second minus first; vectors: its length; categories: 1 if different; NaN if one has none
  most: number; // the largest difference of two cells
  unequal: number; // number of cells that differ
}

/** difference compares a field cell by cell: one component of a vector, or all with -1. Cells differ if any number does, however slightly.
 * The distance between two vectors is the length of their difference. */
export function difference(a: Numbers, b: Numbers, components: number, component: number, categories: boolean): Difference {
  const values = new Float32Array(Math.min(a.length, b.length) / components);
  const [from, to] = component < 0 ? [0, components] : [component, component + 1];
  let [most, unequal] = [0, 0];
  for (let i = 0; i < values.length; i++) {
    let [differs, hole, sum] = [false, false, 0];
    for (let c = i * components + from; c < i * components + to; c++) {
      const [x, y] = [a[c]!, b[c]!];
      if (Number.isNaN(x) || Number.isNaN(y)) hole = true;
      if (hole || x === y) continue;
      differs = true;
      sum += (x - y) ** 2;
    }
    if (hole) values[i] = NaN;
    if (hole || !differs) continue;
    values[i] = categories ? 1 : to - from === 1 ? b[i * components + from]! - a[i * components + from]! : Math.sqrt(sum);
    unequal++;
    most = Math.max(most, categories ? 1 : Math.sqrt(sum));
  }
  return { values, most, unequal };
}

/** counted says how many cells differ and, unless they are categories, by how much. */
export function counted(d: Difference, categories: boolean): string {
  if (!d.unequal) return "no cell differs";
  return (d.unequal === 1 ? "1 cell differs" : `${d.unequal.toLocaleString("en-US")} cells differ`) + (categories ? "" : ` by up to ${short(d.most)}`);
}
