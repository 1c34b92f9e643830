// The rules in the recording that set the field that is shown.

import { element, make } from "./dom";
import type { About } from "./source";

let made = ""; // what the section was made of

/** rules shows what the rules of the recording say about a field; nothing if none sets it. */
export function rules(about: About, field: number): void {
  const list = about.fields[field]!.rules ?? [], now = JSON.stringify(list);
  if (now === made) return;
  made = now;
  const open = element("rules").querySelector("details")?.open ?? true;
  if (list.length === 0) {
    element("rules").replaceChildren();
    return;
  }
  const box = make("details");
  box.open = open;
  box.append(make("summary", list.length > 1 ? "Rules" : `Rule ${list[0]!.name}`));
  for (const r of list) {
    if (list.length > 1) box.append(make("h3", r.name));
    const table = make("dl");
    for (const [name, formula] of r.lines) table.append(make("dt", name), make("dd", formula.replaceAll(" else if ", "\nelse if ").replace(/ else (?!if )([^()]*)$/, "\nelse $1")));
    box.append(table);
  }
  element("rules").replaceChildren(box);
}
