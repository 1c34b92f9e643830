// Elements of the page.

import { css, type RGB } from "./colour";

export function element<T extends HTMLElement>(id: string): T {
  return document.getElementById(id) as T;
}

export function make<K extends keyof HTMLElementTagNameMap>(tag: K, text = ""): HTMLElementTagNameMap[K] {
  const e = document.createElement(tag);
  e.textContent = text;
  return e;
}

export function button(text: string, label: string, act: () => void): HTMLButtonElement {
  const b = make("button", text);
  b.type = "button";
  b.title = label;
  b.setAttribute("aria-label", label);
  b.onclick = act;
  return b;
}

/** swatch returns a name with its colour. */
export function swatch(name: string, colour: string): HTMLSpanElement {
  const item = make("span"), box = make("i");
  box.style.background = colour;
  item.append(box, name);
  return item;
}

/** bar draws all colours of a scale, from first to last. The numbers beside it say what they stand for. */
export function bar(colours: RGB[]): HTMLCanvasElement {
  const c = make("canvas"), g = c.getContext("2d")!;
  c.setAttribute("aria-hidden", "true");
  [c.width, c.height] = [colours.length, 1];
  colours.forEach((colour, i) => { g.fillStyle = css(colour); g.fillRect(i, 0, 1, 1); });
  return c;
}
