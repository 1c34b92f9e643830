// Painting cells: on the GPU if there is one, otherwise pixel by pixel.

import { index, type RGB, type Scale } from "./colour";
import type { Layout } from "./layout";

/** A Picture is what is painted. */
export interface Picture {
  layout: Layout;
  values: Float32Array; // by rank; NaN: nothing is painted
  mask: Float32Array | null; // by rank: cells with values other than 0 are covered
  scale: Scale;
}

/** A Camera says where the world is on the canvas, in device pixels. */
export interface Camera { x: number; y: number; zoom: number }

export interface Painter {
  show(p: Picture): void;
  paint(c: Camera): void;
}

const covered: RGB = [0x50, 0x58, 0x64];

/** painterOf returns the best painter that the browser offers. */
export function painterOf(canvas: HTMLCanvasElement, plain: boolean): Painter {
  const gl = plain ? null : canvas.getContext("webgl2", { alpha: true, antialias: false, preserveDrawingBuffer: true });
  return gl ? new GPU(gl) : new Plain(canvas);
}

const none = -3.4e38; // stands for NaN, which not all GPUs support

/** places arranges values from rank order into place order: panel by panel, row by row. */
function places(l: Layout, values: Float32Array, length: number): Float32Array {
  const out = new Float32Array(length);
  if (l.space.wide === 1) {
    out.set(values.length <= length ? values : values.subarray(0, length));
    for (let i = 0; i < values.length; i++) if (Number.isNaN(out[i]!)) out[i] = none;
    return out;
  }
  const { rows, cols } = l.space;
  out.fill(NaN);
  for (let rank = 0; rank < values.length; rank++) {
    const p = l.place(rank);
    out[(p.panel * rows + p.row) * cols + p.col] = Number.isNaN(values[rank]!) ? none : values[rank]!;
  }
  return out;
}

const vertex = `#version 300 es
void main() { gl_Position = vec4(gl_VertexID == 1 ? 3.0 : -1.0, gl_VertexID == 2 ? 3.0 : -1.0, 0.0, 1.0); }`;

const fragment = `#version 300 es
precision highp float;
precision highp int;
precision highp sampler2D;
uniform sampler2D values, mask, palette;
uniform vec3 camera; // x, y, zoom
uniform vec4 panel;  // width and height with the gap; without it
uniform ivec4 grid;  // panels in a row, panels, rows, cols
uniform ivec3 form;  // shift, wide, slices
uniform vec2 rowAt;  // pitch, offset of the first
uniform vec4 scale;  // lo, hi, colours, categories
uniform int masked, texWidth, height;
out vec4 colour;

int place(int p, int row, int col) {
  if (row < 0 || row >= grid.z || col < 0 || col >= grid.w) return -1;
  if (form.y == 2 && ((col + row + p % form.z) & 1) != 0) return -1;
  return (p * grid.z + row) * grid.w + col;
}

int at(vec2 w) {
  ivec2 c = ivec2(floor(w / panel.xy));
  int p = c.y * grid.x + c.x;
  if (c.x < 0 || c.y < 0 || c.x >= grid.x || p >= grid.y) return -1;
  vec2 u = w - vec2(c) * panel.xy;
  if (u.x > panel.z || u.y > panel.w) return -1;
  if (form.x == 0 && form.y == 1) return place(p, int(floor(u.y)), int(floor(u.x)));
  int near = int(floor((u.y - rowAt.y) / rowAt.x + 0.5)), best = -1;
  float least = 1.0;
  for (int row = near - 1; row <= near + 1; row++) {
    float middle = u.x - float(row * form.x) / 2.0 - 0.5;
    for (int k = 0; k < 2; k++) {
      int col = int(floor(middle)) + k, i = place(p, row, col);
      vec2 d = vec2(middle - float(col), u.y - rowAt.y - float(row) * rowAt.x);
      if (i >= 0 && dot(d, d) < least) { best = i; least = dot(d, d); }
    }
  }
  return best;
}

vec4 of(vec2 w) {
  int i = at(w);
  if (i < 0) return vec4(0.0);
  ivec2 t = ivec2(i % texWidth, i / texWidth);
  float v = texelFetch(values, t, 0).r, m = texelFetch(mask, t, 0).r, n = scale.z;
  if (v < -3.3e38) return vec4(0.0); // none
  if (masked != 0 && m != 0.0 && m > -3.3e38) return vec4(0.314, 0.345, 0.392, 1.0);
  float k = scale.w != 0.0 ? mod(max(v, 0.0), n) : scale.y == scale.x ? 0.0 : clamp(floor((v - scale.x) / (scale.y - scale.x) * n), 0.0, n - 1.0);
  return texelFetch(palette, ivec2(int(k), 0), 0);
}

void main() {
  vec2 w = (vec2(gl_FragCoord.x, float(height) - gl_FragCoord.y) - camera.xy) / camera.z;
  if (camera.z >= 1.0) { colour = of(w); return; }
  vec2 d = vec2(0.25 / camera.z, 0.0);
  colour = (of(w - d.xy - d.yx) + of(w + d.xy - d.yx) + of(w - d.xy + d.yx) + of(w + d.xy + d.yx)) / 4.0;
}`;

class GPU implements Painter {
  private readonly program: WebGLProgram;
  private readonly textures: WebGLTexture[] = [];
  private picture: Picture | null = null;
  private readonly texWidth: number;

  constructor(private readonly gl: WebGL2RenderingContext) {
    this.texWidth = Math.min(4096, gl.getParameter(gl.MAX_TEXTURE_SIZE) as number);
    this.program = gl.createProgram()!;
    for (const [kind, text] of [[gl.VERTEX_SHADER, vertex], [gl.FRAGMENT_SHADER, fragment]] as const) {
      const s = gl.createShader(kind)!;
      gl.shaderSource(s, text);
      gl.compileShader(s); // runs in parallel with the page; check asks for the result before the first painting
      gl.attachShader(this.program, s);
    }
    gl.linkProgram(this.program);
    for (let i = 0; i < 3; i++) this.textures.push(gl.createTexture()!);
  }

  private upload(unit: number, format: number, width: number, height: number, data: ArrayBufferView): void {
    const gl = this.gl, float = format === gl.R32F;
    gl.activeTexture(gl.TEXTURE0 + unit);
    gl.bindTexture(gl.TEXTURE_2D, this.textures[unit]!);
    for (const name of [gl.TEXTURE_MIN_FILTER, gl.TEXTURE_MAG_FILTER]) gl.texParameteri(gl.TEXTURE_2D, name, gl.NEAREST);
    gl.texImage2D(gl.TEXTURE_2D, 0, format, width, height, 0, float ? gl.RED : gl.RGBA, float ? gl.FLOAT : gl.UNSIGNED_BYTE, data);
  }

  show(p: Picture): void {
    const gl = this.gl, { rows, cols } = p.layout.space;
    const height = Math.ceil((p.layout.panels * rows * cols) / this.texWidth);
    this.picture = p;
    this.upload(0, gl.R32F, this.texWidth, height, places(p.layout, p.values, this.texWidth * height));
    if (p.mask) this.upload(1, gl.R32F, this.texWidth, height, places(p.layout, p.mask, this.texWidth * height));
    this.upload(2, gl.RGBA8, p.scale.colours.length, 1, Uint8Array.from(p.scale.colours.flatMap((c, i) => {
      const a = p.scale.strength?.[i] ?? 1;
      return [c[0] * a, c[1] * a, c[2] * a, 255 * a]; // premultiplied, as the canvas expects
    })));
  }

  private readonly uniforms = new Map<string, WebGLUniformLocation | null>();

  private uniform(name: string): WebGLUniformLocation | null {
    if (!this.uniforms.has(name)) this.uniforms.set(name, this.gl.getUniformLocation(this.program, name));
    return this.uniforms.get(name)!;
  }

  private checked = false;

  /** check checks, once, that the shaders were compiled. */
  private check(): void {
    if (this.checked) return;
    const gl = this.gl, wrong = () => gl.getAttachedShaders(this.program)!.map((s) => gl.getShaderInfoLog(s)).join(" ").trim();
    if (!gl.getProgramParameter(this.program, gl.LINK_STATUS)) throw new Error(wrong() || "the shaders are not compiled");
    this.checked = true;
  }

  paint(c: Camera): void {
    const gl = this.gl, p = this.picture;
    gl.viewport(0, 0, gl.canvas.width, gl.canvas.height);
    gl.clearColor(0, 0, 0, 0);
    gl.clear(gl.COLOR_BUFFER_BIT);
    if (!p) return;
    this.check();
    const l = p.layout, s = l.space;
    gl.useProgram(this.program);
    const at = (name: string) => this.uniform(name);
    gl.uniform1i(at("values"), 0);
    gl.uniform1i(at("mask"), p.mask ? 1 : 0);
    gl.uniform1i(at("palette"), 2);
    gl.uniform3f(at("camera"), c.x, c.y, c.zoom);
    gl.uniform4f(at("panel"), l.panelWidth + 1, l.panelHeight + 1, l.panelWidth, l.panelHeight);
    gl.uniform4i(at("grid"), l.perRow, l.panels, s.rows, s.cols);
    gl.uniform3i(at("form"), s.shift, s.wide, s.slices);
    gl.uniform2f(at("rowAt"), l.pitch, s.shift ? 1 / Math.sqrt(3) : 0.5);
    gl.uniform4f(at("scale"), p.scale.lo, p.scale.hi, p.scale.colours.length, p.scale.categories ? 1 : 0);
    gl.uniform1i(at("masked"), p.mask ? 1 : 0);
    gl.uniform1i(at("texWidth"), this.texWidth);
    gl.uniform1i(at("height"), gl.canvas.height);
    gl.drawArrays(gl.TRIANGLES, 0, 3);
  }
}

/** Plain paints without a GPU. */
class Plain implements Painter {
  private readonly context: CanvasRenderingContext2D;
  private picture: Picture | null = null;
  private ranks = new Int32Array(0); // the cell of each pixel; -1: none
  private located = ""; // what the ranks were made for
  private image: ImageData | null = null;

  constructor(private readonly canvas: HTMLCanvasElement) {
    this.context = canvas.getContext("2d")!;
  }

  show(p: Picture): void { this.picture = p; }

  /** locate finds the cell of each pixel. The result stays the same while a world plays. */
  private locate(l: Layout, c: Camera): void {
    const { width, height } = this.canvas, now = [width, height, c.x, c.y, c.zoom, l.space.rows].join(); // a strip grows
    if (now === this.located) return;
    this.located = now;
    if (this.ranks.length !== width * height) this.ranks = new Int32Array(width * height);
    const across = Float64Array.from({ length: width }, (_, x) => (x + 0.5 - c.x) / c.zoom);
    for (let y = 0; y < height; y++) l.line(across, (y + 0.5 - c.y) / c.zoom, this.ranks.subarray(y * width, (y + 1) * width));
  }

  paint(c: Camera): void {
    const { width, height } = this.canvas, p = this.picture;
    if (!p || !width || !height) return this.context.clearRect(0, 0, width, height);
    this.locate(p.layout, c);
    if (this.image?.width !== width || this.image.height !== height) this.image = this.context.createImageData(width, height);
    const out = new Uint32Array(this.image.data.buffer), { ranks } = this, { values, mask, scale } = p;
    const cells = new Uint32Array(values.length); // their colours
    const pack = ([r, g, b]: RGB, strength: number) => new Uint32Array(Uint8Array.of(r, g, b, 255 * strength).buffer)[0]!;
    const colours = scale.colours.map((colour, i) => pack(colour, scale.strength?.[i] ?? 1)), hidden = pack(covered, 1);
    for (let rank = 0; rank < cells.length; rank++) {
      const v = values[rank]!;
      if (!Number.isNaN(v)) cells[rank] = mask && mask[rank] ? hidden : colours[index(scale, v)]!;
    }
    for (let i = 0; i < out.length; i++) out[i] = ranks[i]! < 0 ? 0 : cells[ranks[i]!]!;
    this.context.putImageData(this.image, 0, 0);
  }
}
