// The pointer over a pane: it looks, pins, moves and zooms.

import type { Chosen, Pane } from "./pane";

/** Hands are what a pointer does. */
export interface Hands {
  hover(at: Chosen): void;
  pin(at: Chosen): void;
  moved(): void; // the view
  fit(): void;
}

export function pointer(p: Pane, hands: Hands): void {
  let drag: { x: number; y: number; moved: boolean } | null = null;
  p.cells.onpointerdown = (e) => {
    drag = { x: e.clientX, y: e.clientY, moved: false };
    p.cells.setPointerCapture(e.pointerId);
  };
  p.cells.onpointermove = (e) => {
    if (!drag) {
      if (e.pointerType === "mouse") hands.hover(p.under(e));
      return;
    }
    const [dx, dy] = [e.clientX - drag.x, e.clientY - drag.y];
    if (!drag.moved && Math.hypot(dx, dy) <= 4) return;
    p.move(dx * devicePixelRatio, dy * devicePixelRatio);
    drag = { x: e.clientX, y: e.clientY, moved: true };
    hands.moved();
  };
  p.cells.onpointerup = (e) => {
    if (drag && !drag.moved) hands.pin(p.under(e));
    drag = null;
  };
  p.cells.onwheel = (e) => {
    e.preventDefault();
    p.zoom(Math.exp(-e.deltaY / 400), e.offsetX * devicePixelRatio, e.offsetY * devicePixelRatio);
    hands.moved();
  };
  p.cells.ondblclick = () => hands.fit();
}
