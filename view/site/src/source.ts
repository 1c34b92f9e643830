// The protocol of docs/VIEW.md, seen from the page.

import type { Query } from "./sweep";

export interface Axis { name: string; extent: number; edge: string }

export interface Space {
  kind: string; text: string; cells: number; axes: Axis[];
  panels: number; slices: number; rows: number; cols: number; shift: number; wide: number;
  hollow?: boolean; // cells whose value is NaN are not part of the world
}

export interface Field {
  name: string; components: number; parts?: string[] | undefined; values?: string[] | undefined; entities?: boolean; static?: boolean;
  unit?: string; min?: number; max?: number;
  rules?: { name: string; lines: [name: string, formula: string][] }[]; // that set it
}

export interface Parameter { name: string; key: number; value: number }

/** A Setting is a number that a run may start with a different value. */
export interface Setting { path: string; name: string; value: number; whole?: boolean; min?: number; max?: number }

/** A Run is the state of a live run. */
export interface Run { last: number; held?: boolean; speed?: number; ended?: boolean; error?: string }

export interface About {
  sources: number; // number that the session started with
  live?: boolean; // the run is still going
  again?: string; // the gallery's name for starting another run
  set?: Record<string, number>; // the settings it was started with
  settings?: Setting[];
  file: string; scenario: string; about?: string; seed?: string; tick_rate: number;
  first: number; last: number; planned: number; problem?: string; build?: string;
  begin?: string; // the SHA-256 of the state at which the recording begins; none: genesis
  unverifiable?: string; // why nothing can be verified
  space: Space; fields: Field[]; capacity?: number; kinds?: string[]; stats?: string[]; parameters?: Parameter[];
  propagators?: string[]; systems?: string[]; palettes: Record<string, string>;
}

export interface Mark { tick: number; inputs?: number; refused?: number; events?: number }

export interface Check { ticks: number; done: boolean; differs?: number; recorded?: string; replayed?: string; error?: string; marks?: Mark[]; run?: Run }

export interface Look {
  tick: number; cell: number; coord?: number[]; entity?: string; kind?: string; name?: string;
  values: { field: number; values: string[] }[];
  details?: { name: string; text: string }[];
  entities?: { id: string; kind: string; name?: string }[];
}

/** An Input is a command or an event, with its outcome. */
export interface Input {
  what: string; event?: boolean; priority?: number; source?: string; sequence?: string; made?: string; refused?: string; why?: string;
}

export interface Inputs { tick: number; inputs: Input[]; more?: number }

/** Apart says how much fields differ between two recordings. */
export interface Apart { tick: number; values: { field: number; deltas?: string[]; ulps?: number[] }[] }

/** A FoundSpan is some ticks one after the other, in all of which a condition holds, and what its terms come to in the first of them. */
export interface FoundSpan { first: number; last: number; found: string }

/** Found is what a search for a condition has found so far. */
export interface Found {
  wrong?: { reason: string; before: string; meant: string; after: string };
  next: number; done?: boolean; held: number; unknown?: number; reason?: string; error?: string; from: number; spans: FoundSpan[];
}

/** Why is the latest change of a number, in lines, and which of them say causes that are numbers. */
export interface Why { tick: number; lines: string[]; causes: { line: number; field: number; component: number; cell: number; entity?: string }[] }

export interface StateHead { tick: number; recorded?: string; alive: number }

export interface HistoryHead { from: number; to: number; every: number }

export type Numbers = Float32Array | Float64Array | Uint8Array | Int32Array;

export interface Request {
  op: string; source?: number; tick?: number; to?: number; every?: number; fields?: number[];
  entities?: boolean; cell?: number; entity?: string; field?: number; since?: number;
  with?: number; hold?: boolean; speed?: number; order?: unknown; scenario?: string; seed?: string; set?: Record<string, number>;
  condition?: string; component?: number; query?: Query; // about a sweep
}

/** An Answer holds an object and arrays. */
export class Answer<T> {
  constructor(readonly head: T, private arrays: { name: string; type: string; at: number; len: number }[],
    private bytes: ArrayBuffer, private start: number) {}

  /** numbers returns an array by its name; an empty one if there is none. */
  numbers(name: string): Numbers {
    const a = this.arrays.find((x) => x.name === name);
    if (!a) return new Float64Array(0);
    const at = this.start + a.at;
    switch (a.type) {
      case "f32": return new Float32Array(this.bytes, at, a.len);
      case "f64": return new Float64Array(this.bytes, at, a.len);
      case "u8": return new Uint8Array(this.bytes, at, a.len);
      case "i32": return new Int32Array(this.bytes, at, a.len);
    }
    throw new Error(`array ${name} has the type ${a.type}`);
  }

  /** text returns an array of bytes decoded as text. */
  text(name: string): string { return new TextDecoder().decode(this.numbers(name)); }

  /** ids returns an array of 64-bit integers, as decimal digits. */
  ids(name: string): string[] {
    const a = this.arrays.find((x) => x.name === name);
    if (!a) return [];
    return Array.from(new BigUint64Array(this.bytes, this.start + a.at, a.len), String);
  }
}

/** Wanted says whether an answer is still needed. */
export type Wanted = () => boolean;

/** A Source answers requests: a server, or the engine in a worker. It repeats slow requests while the answer is wanted, then fails with
 * Unwanted. */
export interface Source {
  ask<T>(q: Request, wanted?: Wanted): Promise<Answer<T>>;
}

export class Unwanted extends Error {}

const grace = 300; // milliseconds

/** unless wants an answer until another one is wanted instead, but at least for a short time: otherwise nothing would be shown of what
 * changes fast. */
export function unless(other: () => boolean): Wanted {
  const end = performance.now() + grace;
  return () => performance.now() < end || !other();
}

/** A Selection is one or two sources of a session, numbered from 0. Two are compared. */
export class Selection implements Source {
  private closed = false;

  constructor(private readonly all: Source, readonly which: number[]) {}

  /** close drops everything that waits for an answer, so that nothing of a closed page affects the next one. */
  close(): void { this.closed = true; }

  async ask<T>(q: Request, wanted: Wanted = () => true): Promise<Answer<T>> {
    const other = this.which[1];
    if (!this.closed) {
      try {
        const answer = await this.all.ask<T>({ ...q, source: this.which[q.source ?? 0]!, ...(other !== undefined && { with: other }) }, () => !this.closed && wanted());
        if (!this.closed) return answer;
      } catch (e) {
        if (!this.closed) throw e;
      }
    }
    return new Promise(() => {}); // forever
  }
}

/** persist repeats a request until there is an answer. */
export async function persist<T>(ask: () => Promise<ArrayBuffer>, wanted: Wanted = () => true): Promise<Answer<T>> {
  do {
    const answer = decode<T>(await ask());
    if (answer) return answer;
  } while (wanted());
  throw new Unwanted();
}

/** decode decodes an answer; null if the answer comes later. */
export function decode<T>(bytes: ArrayBuffer): Answer<T> | null {
  const length = new DataView(bytes).getUint32(0, true);
  const h = JSON.parse(new TextDecoder().decode(new Uint8Array(bytes, 4, length)));
  if (h.error) throw new Error(h.error);
  if (h.later) return null;
  return new Answer<T>(h.answer, h.arrays ?? [], bytes, 4 + length);
}

/** unpack decodes the content of an element: base64. */
function unpack(e: Element): ArrayBuffer { return Uint8Array.from(atob(e.textContent!), (c) => c.charCodeAt(0)).buffer; }

/** A Server is the source that served the page. */
export class Server implements Source {
  private id = 0;
  private known = document.getElementById("about"); // the answer contained in the page

  async ask<T>(q: Request, wanted?: Wanted): Promise<Answer<T>> {
    if (this.known && q.op === "about" && !q.source) {
      const answer = unpack(this.known);
      this.known = null; // it is soon out of date
      return decode<T>(answer)!;
    }
    return persist<T>(async () => {
      try {
        const response = await fetch("ask", { method: "POST", body: JSON.stringify({ id: ++this.id, ...q }) });
        if (!response.ok) throw new Error(`the server says ${response.status}: ${(await response.text()).trim()}`);
        return await response.arrayBuffer();
      } catch (e) {
        throw e instanceof TypeError ? new Error("The server has ended, or cannot be reached. Start murksim view again, and open the address that it prints.") : e;
      }
    }, wanted);
  }
}
