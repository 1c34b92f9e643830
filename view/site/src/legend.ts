// What the colours stand for.

import { short } from "./chart";
import { css, palette, type Scale } from "./colour";
import { bar, element, make, swatch } from "./dom";
import type { About } from "./source";

/** An Entry is a field with its colours. */
export interface Entry { name: string; field: number; scale: Scale; ends?: [string, string] } // instead of the numbers

let made = ""; // what the legend was made of

/** legend shows the colours of fields, and of entities if there are any. */
export function legend(about: About, entries: Entry[], crowd: boolean): void {
  const now = JSON.stringify([entries.map((e) => [e.name, e.scale.lo, e.scale.hi, e.scale.colours[0], !!e.scale.strength]), crowd]);
  if (now === made && element("legend").childElementCount) return;
  made = now;
  const groups = entries.map(({ name, field, scale: s, ends }) => {
    const group = make("div"), f = about.fields[field]!;
    group.append(make("strong", s.strength ? `over it ${name}` : name));
    if (s.categories) f.values!.forEach((v, i) => v && group.append(swatch(v, css(s.colours[i % s.colours.length]!))));
    else group.append(make("span", ends?.[0] ?? short(s.lo)), bar(s.colours), make("span", ends?.[1] ?? `${short(s.hi)} ${f.unit ?? ""}`));
    return group;
  });
  if (crowd) {
    const kinds = palette(about.palettes["kinds"]!), group = make("div");
    about.kinds!.forEach((k, i) => group.append(swatch(k, css(kinds[i % kinds.length]!))));
    groups.push(group);
  }
  element("legend").replaceChildren(...groups);
}
