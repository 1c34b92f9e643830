// Where cells are, in units of a cell's width.

import type { Space } from "./source";

const gap = 1; // between panels, in cells

/** A Layout places cells in panels, one for each slice of each part of a product. */
export class Layout {
  readonly panels: number;
  readonly perRow: number; // panels
  readonly pitch: number; // distance between rows
  readonly width: number;
  readonly height: number;
  readonly panelWidth: number;
  readonly panelHeight: number;
  private readonly starts: Int32Array; // of each row: the first cell's rank within its part

  constructor(readonly space: Space, aspect: number) {
    const { rows, cols, shift, slices, wide } = space;
    this.pitch = shift ? Math.sqrt(3) / 2 : 1;
    this.panels = space.panels * slices;
    this.panelWidth = cols + ((rows - 1) * shift) / 2;
    this.panelHeight = (rows - 1) * this.pitch + (shift ? 2 / Math.sqrt(3) : 1);
    let best = 0;
    this.perRow = 1;
    for (let n = 1; n <= this.panels; n++) {
      const w = n * (this.panelWidth + gap), h = Math.ceil(this.panels / n) * (this.panelHeight + gap);
      const scale = Math.min(aspect / w, 1 / h);
      if (scale > best) [best, this.perRow] = [scale, n];
    }
    this.width = this.perRow * (this.panelWidth + gap) - gap;
    this.height = Math.ceil(this.panels / this.perRow) * (this.panelHeight + gap) - gap;
    this.starts = new Int32Array(slices * rows + 1);
    for (let z = 0, i = 0; z < slices; z++) {
      for (let y = 0; y < rows; y++, i++) {
        const first = wide === 2 ? (y + z) % 2 : 0;
        this.starts[i + 1] = this.starts[i]! + Math.ceil((cols - first) / wide);
      }
    }
  }

  /** rank returns the cell at a place in a panel; -1 if there is none. */
  rank(panel: number, row: number, col: number): number {
    const { rows, cols, slices, wide } = this.space;
    if (panel < 0 || panel >= this.panels || row < 0 || row >= rows || col < 0 || col >= cols) return -1;
    const slice = panel % slices, part = (panel - slice) / slices;
    const first = wide === 2 ? (row + slice) % 2 : 0;
    if ((col - first) % wide !== 0) return -1;
    return part * this.starts[slices * rows]! + this.starts[slice * rows + row]! + (col - first) / wide;
  }

  /** place is the inverse of rank. */
  place(rank: number): { panel: number; row: number; col: number } {
    const { rows, slices, wide } = this.space;
    const each = this.starts[slices * rows]!;
    const part = Math.floor(rank / each), within = rank % each;
    let lo = 0, hi = slices * rows;
    while (hi - lo > 1) {
      const mid = (lo + hi) >> 1;
      if (this.starts[mid]! <= within) lo = mid; else hi = mid;
    }
    const slice = Math.floor(lo / rows), row = lo % rows;
    const first = wide === 2 ? (row + slice) % 2 : 0;
    return { panel: part * slices + slice, row, col: first + (within - this.starts[lo]!) * wide };
  }

  /** origin returns the upper left corner of a panel. */
  origin(panel: number): [number, number] {
    return [(panel % this.perRow) * (this.panelWidth + gap), Math.floor(panel / this.perRow) * (this.panelHeight + gap)];
  }

  /** centre returns the middle of a cell. */
  centre(rank: number): [number, number] {
    const { panel, row, col } = this.place(rank), [x, y] = this.origin(panel);
    return [x + col + (row * this.space.shift) / 2 + 0.5, y + row * this.pitch + (this.space.shift ? 1 / Math.sqrt(3) : 0.5)];
  }

  /** beside returns the cell some columns and rows away from another; that cell itself if there is none. */
  beside(rank: number, cols: number, rows: number): number {
    const [x, y] = this.centre(rank), { wide, shift } = this.space;
    const half = this.place(rank).row % 2 ? -wide / 2 : wide / 2; // alternating, so that moving along a column stays in it
    const sideways = rows && (shift || wide > 1) ? [half, -half] : [0];
    for (const leap of [0, gap, gap + 0.5]) { // into the neighbouring panel
      for (const aside of sideways) {
        const found = this.at(x + cols * wide + Math.sign(cols) * leap + aside, y + rows * this.pitch + Math.sign(rows) * leap);
        if (found >= 0 && found !== rank) return found;
      }
    }
    return rank;
  }

  /** line finds the cells at points along a horizontal line, as at does. */
  line(x: Float64Array, y: number, out: Int32Array): void {
    const { rows, cols, shift, wide } = this.space, across = this.panelWidth + gap, down = this.panelHeight + gap;
    if (shift || wide > 1) {
      for (let i = 0; i < out.length; i++) out[i] = this.at(x[i]!, y);
      return;
    }
    const r = Math.floor(y / down), row = Math.floor(y - r * down), begin = r * this.perRow * rows * cols + row * cols;
    out.fill(-1);
    if (r < 0 || row >= rows) return;
    for (let i = 0; i < out.length; i++) {
      const c = Math.floor(x[i]! / across), col = Math.floor(x[i]! - c * across);
      if (c >= 0 && c < this.perRow && col < cols && r * this.perRow + c < this.panels) out[i] = begin + c * rows * cols + col;
    }
  }

  /** at returns the cell at a point; -1 if there is none. */
  at(x: number, y: number): number {
    const c = Math.floor(x / (this.panelWidth + gap)), r = Math.floor(y / (this.panelHeight + gap));
    if (c < 0 || c >= this.perRow || r < 0) return -1;
    const panel = r * this.perRow + c, [x0, y0] = this.origin(panel);
    const { shift, wide } = this.space;
    const u = x - x0, v = y - y0;
    if (u > this.panelWidth || v > this.panelHeight) return -1;
    if (!shift && wide === 1) return this.rank(panel, Math.floor(v), Math.floor(u));
    const offset = shift ? 1 / Math.sqrt(3) : 0.5, near = Math.round((v - offset) / this.pitch);
    let best = -1, least = 1;
    for (let row = near - 1; row <= near + 1; row++) {
      const middle = u - (row * shift) / 2 - 0.5;
      for (let col = Math.floor(middle); col <= Math.floor(middle) + 1; col++) {
        const rank = this.rank(panel, row, col);
        const d = (middle - col) ** 2 + (v - offset - row * this.pitch) ** 2;
        if (rank >= 0 && d < least) [best, least] = [rank, d];
      }
    }
    return best;
  }
}
