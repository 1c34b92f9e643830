// Keys, and a dialog that lists them.

import { element } from "./dom";
import type { Pane } from "./pane";

/** Acts are the actions of keys. */
export interface Acts {
  toggle(): void;
  step(ticks: number): void;
  edge(end: boolean): void;
  mark(way: 1 | -1): void;
  zoom(by: number): void;
  fit(): void;
  pan(x: number, y: number): void;
  field(): void;
  cursor(pane: Pane, cols: number, rows: number): void;
  pin(pane: Pane, entity: boolean): void;
  unpin(): void;
  search(): void;
}

/** What keys do, in words, as in docs/VIEW.md. */
const words: [string, string][] = [
  ["space", "play or pause"],
  ["← →", "one tick back or forward; with Shift, ten"],
  [", .", "the same, even in a list or on a slider"],
  ["Home, End", "the first tick, the last tick"],
  ["n N", "the next tick with commands or events, the previous one"],
  ["/", "a condition: Enter goes to the next tick in which it becomes true, Shift and Enter to the one before, and playback stops there; Escape ends it"],
  ["Tab to the world, arrows", "move to another cell; with Shift, ten cells further"],
  ["Enter", "pin the cell, or with Shift the entity on it, to see its history"],
  ["Escape", "unpin"],
  ["+ − 0", "zoom in, zoom out, show the whole world"],
  ["w a s d", "move the picture"],
  ["f", "the next field"],
  ["?", "these keys"],
];

const free = ",.<>+-=?/"; // keys that lists and sliders do not use themselves

/** keys makes the keys work. */
export function keys(panes: () => Pane[], acts: Acts): void {
  const help = element<HTMLDialogElement>("help"), table = help.querySelector("table")!;
  if (!table.rows.length) for (const [key, what] of words) {
    const row = table.insertRow();
    row.insertCell().textContent = key;
    row.insertCell().textContent = what;
  }
  const open = () => help.showModal();
  element("keys").onclick = open;
  help.onclick = (e) => { if (e.target === help) help.close(); }; // outside the dialog
  const pan = 60 * devicePixelRatio;
  document.onkeydown = (e) => {
    const target = e.target as HTMLElement;
    const slider = target.tagName === "INPUT" && (target as HTMLInputElement).type === "range";
    if (e.ctrlKey || e.metaKey || e.altKey || help.open || target.tagName === "TEXTAREA" || (target.tagName === "INPUT" && !slider)) return;
    if ((target.tagName === "SELECT" || (slider && target.id !== "scrub")) && !free.includes(e.key)) return;
    if (e.key === " " && ["BUTTON", "SUMMARY"].includes(target.tagName)) return;
    const step = e.shiftKey ? 10 : 1, pane = panes().find((p) => p.cells === target);
    const table: Record<string, () => void> = {
      " ": () => acts.toggle(),
      ArrowLeft: () => acts.step(-step), ArrowRight: () => acts.step(step),
      ",": () => acts.step(-1), ".": () => acts.step(1), "<": () => acts.step(-10), ">": () => acts.step(10),
      Home: () => acts.edge(false), End: () => acts.edge(true),
      n: () => acts.mark(1), N: () => acts.mark(-1),
      "+": () => acts.zoom(1.25), "=": () => acts.zoom(1.25), "-": () => acts.zoom(0.8), "0": () => acts.fit(),
      w: () => acts.pan(0, pan), s: () => acts.pan(0, -pan), a: () => acts.pan(pan, 0), d: () => acts.pan(-pan, 0),
      "/": () => acts.search(), f: () => acts.field(), Escape: () => acts.unpin(), "?": open,
      ...(pane && {
        ArrowLeft: () => acts.cursor(pane, -step, 0), ArrowRight: () => acts.cursor(pane, step, 0),
        ArrowUp: () => acts.cursor(pane, 0, -step), ArrowDown: () => acts.cursor(pane, 0, step),
        Enter: () => acts.pin(pane, e.shiftKey),
      }),
    };
    const act = table[e.key];
    if (!act) return;
    e.preventDefault();
    act();
  };
}
