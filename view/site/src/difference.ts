// By how much the worlds of two sources differ.

import { short } from "./chart";
import type { Numbers } from "./source";

export interface Difference {
  values: Float32Array; // by rank: the second less the first, of vectors the length of that, of categories 1 where they differ; NaN where one of them has nothing
  most: number; // that two cells differ by
  unequal: number; // cells
}

/** difference compares a field cell by cell: one component of a vector, or with -1 all of them. Cells differ if any number does, however
 * little; how far apart two vectors are is the length of their difference. */
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

/** counted says how many cells differ, and by how much unless they are categories. */
export function counted(d: Difference, categories: boolean): string {
  if (!d.unequal) return "no cell differs";
  return (d.unequal === 1 ? "1 cell differs" : `${d.unequal.toLocaleString("en-US")} cells differ`) + (categories ? "" : ` by up to ${short(d.most)}`);
}
