// What is drawn over the cells: entities, arrows, and the chosen cell.

import { css, type RGB } from "./colour";
import type { Layout } from "./layout";
import type { Camera } from "./painter";
import type { Numbers } from "./source";

export interface Crowd { ids: string[]; kinds: Numbers; cells: Numbers }

export interface Overlay {
  layout: Layout;
  crowd: Crowd | null;
  colour: (i: number) => RGB; // of each entity in the crowd
  arrows: { values: Numbers; components: number; longest: number } | null;
  chosen: number; // a cell; -1: none
}

/** overlay draws it. The camera is in device pixels. */
export function overlay(canvas: HTMLCanvasElement, o: Overlay, c: Camera): void {
  const g = canvas.getContext("2d")!;
  g.clearRect(0, 0, canvas.width, canvas.height);
  const seen = (x: number, y: number) => x > -c.zoom && y > -c.zoom && x < canvas.width + c.zoom && y < canvas.height + c.zoom;
  const spot = (rank: number): [number, number] => {
    const [x, y] = o.layout.centre(rank);
    return [x * c.zoom + c.x, y * c.zoom + c.y];
  };
  if (o.arrows) arrows(g, o, c, spot, seen);
  if (o.crowd) crowd(g, o, o.crowd, c, spot, seen);
  if (o.chosen >= 0) {
    const [x, y] = spot(o.chosen), r = Math.max(c.zoom / 2, 4);
    for (const [colour, width] of [["#000", 4], ["#fff", 2]] as const) {
      g.strokeStyle = colour;
      g.lineWidth = width;
      g.beginPath();
      if (o.layout.space.shift) g.arc(x, y, r, 0, 2 * Math.PI);
      else g.rect(x - r, y - r, 2 * r, 2 * r);
      g.stroke();
    }
  }
}

type Spot = (rank: number) => [number, number];
type Seen = (x: number, y: number) => boolean;

function crowd(g: CanvasRenderingContext2D, o: Overlay, all: Crowd, c: Camera, spot: Spot, seen: Seen): void {
  const r = Math.max(1.5, Math.min(c.zoom * 0.32, 14)), named = c.zoom >= 40;
  g.font = `${Math.min(12 * devicePixelRatio, c.zoom / 4)}px system-ui, sans-serif`;
  g.textAlign = "center";
  g.lineWidth = 1;
  for (let i = 0; i < all.cells.length; i++) {
    if (all.cells[i]! < 0) continue; // it has no place
    const [x, y] = spot(all.cells[i]!);
    if (!seen(x, y)) continue;
    g.fillStyle = css(o.colour(i));
    g.strokeStyle = "rgb(0 0 0 / 70%)";
    g.beginPath();
    g.arc(x, y, r, 0, 2 * Math.PI);
    g.fill();
    if (r > 2) g.stroke();
    if (named) {
      g.strokeStyle = "#000";
      g.lineWidth = 3;
      g.strokeText(all.ids[i]!, x, y + c.zoom * 0.47);
      g.fillStyle = "#fff";
      g.fillText(all.ids[i]!, x, y + c.zoom * 0.47);
      g.lineWidth = 1;
    }
  }
}

function arrows(g: CanvasRenderingContext2D, o: Overlay, c: Camera, spot: Spot, seen: Seen): void {
  const { values, components, longest } = o.arrows!;
  if (components < 2 || !longest) return;
  const apart = Math.max(1, Math.ceil((18 * devicePixelRatio) / c.zoom)); // distance of arrows in cells
  const length = c.zoom * apart * 0.9;
  g.beginPath();
  for (let rank = 0; rank * components < values.length; rank++) {
    const p = o.layout.place(rank);
    if (p.row % apart || p.col % apart) continue;
    const [x, y] = spot(rank);
    if (!seen(x, y)) continue;
    const dx = (values[rank * components]! / longest) * length, dy = (values[rank * components + 1]! / longest) * length;
    const size = Math.hypot(dx, dy);
    if (size < 2) continue;
    const [ux, uy] = [dx / size, dy / size], head = Math.min(5 * devicePixelRatio, size / 2);
    g.moveTo(x - dx / 2, y - dy / 2);
    g.lineTo(x + dx / 2, y + dy / 2);
    g.lineTo(x + dx / 2 - head * (ux + uy / 2), y + dy / 2 - head * (uy - ux / 2));
    g.moveTo(x + dx / 2, y + dy / 2);
    g.lineTo(x + dx / 2 - head * (ux - uy / 2), y + dy / 2 - head * (uy + ux / 2));
  }
  for (const [colour, width] of [["rgb(0 0 0 / 60%)", 3], ["#fff", 1.2]] as const) {
    g.strokeStyle = colour;
    g.lineWidth = width * devicePixelRatio;
    g.stroke();
  }
}
