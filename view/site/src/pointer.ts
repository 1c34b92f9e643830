// The pointer over a pane: inspecting, pinning, moving and zooming.

import type { Chosen, Pane } from "./pane";

/** Hands are the actions of pointers. */
export interface Hands {
  hover(at: Chosen): void;
  pin(at: Chosen): void;
  moved(): void; // the view
  fit(): void;
}

/** pointer makes a mouse or fingers work. One finger moves the world if part of it is hidden, and scrolls the page otherwise. Two fingers
 * pinch. */
export function pointer(p: Pane, hands: Hands): void {
  const down = new Map<number, { x: number; y: number }>(); // fingers, or the mouse
  let moved = false;
  p.cells.onpointerdown = (e) => {
    if (!down.size) moved = false;
    down.set(e.pointerId, { x: e.clientX, y: e.clientY });
    p.cells.setPointerCapture(e.pointerId);
  };
  p.cells.onpointermove = (e) => {
    const from = down.get(e.pointerId);
    if (!from) {
      if (e.pointerType === "mouse") hands.hover(p.under(e));
      return;
    }
    const [dx, dy] = [e.clientX - from.x, e.clientY - from.y], k = devicePixelRatio;
    if (!moved && Math.hypot(dx, dy) <= 4) return;
    moved = true;
    const other = [...down].find(([id]) => id !== e.pointerId)?.[1];
    if (other) {
      const box = p.cells.getBoundingClientRect(), far = (x: number, y: number) => Math.max(20, Math.hypot(x - other.x, y - other.y));
      p.zoom(far(e.clientX, e.clientY) / far(from.x, from.y), (other.x - box.left) * k, (other.y - box.top) * k);
    } else p.move(dx * k, dy * k);
    down.set(e.pointerId, { x: e.clientX, y: e.clientY });
    hands.moved();
  };
  p.cells.onpointerup = (e) => {
    if (down.delete(e.pointerId) && !down.size && !moved) hands.pin(p.under(e));
  };
  p.cells.onpointercancel = (e) => { down.delete(e.pointerId); }; // the page scrolls
  p.cells.addEventListener("touchmove", (e) => { if (e.touches.length > 1) e.preventDefault(); }, { passive: false }); // the page does not
  p.cells.onwheel = (e) => {
    e.preventDefault();
    p.zoom(Math.exp(-e.deltaY / 400), e.offsetX * devicePixelRatio, e.offsetY * devicePixelRatio);
    hands.moved();
  };
  p.cells.ondblclick = () => hands.fit();
}
