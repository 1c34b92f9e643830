// The table of a sweep: a page of rows, sorted and filtered by the process that reads the sweep.

import { button, make } from "./dom";
import type { Source } from "./source";
import type { Column, SweepHead } from "./sweep";
import { number, set } from "./sweephead";

interface Row { job: number; cells: (string | number | null)[]; recordings?: number; bad?: boolean; differs?: boolean }

interface Rows { version: number; from: number; all: number; rows: Row[] }

const count = 100; // rows per page

export class Table {
  readonly box = make("section");
  status: string;
  version = 0; // the sweep's version when the rows were read
  private sort: string;
  private down: boolean;
  private from: number;
  private all = 0;
  private turn = 0;
  private turned = false; // scrolled to the column that the address names
  private columns: Column[] = []; // in the order of the sweep's answers
  private shown: number[] = []; // which of them is shown at each place
  private why = false; // the rows are jobs that are not ok
  private head: SweepHead | null = null;
  private readonly region = make("div");
  private readonly table = make("table");
  private readonly top = this.table.createTHead().insertRow();
  private readonly body = this.table.createTBody();
  private readonly where = make("p");
  private readonly page = make("input");
  private readonly pages = make("span");
  private readonly ways: [HTMLButtonElement, () => number][];

  constructor(private readonly source: Source, wish: URLSearchParams, private readonly open: (job: number) => void, private readonly changed: () => void) {
    [this.status, this.sort, this.down] = [wish.get("status") ?? "", wish.get("sort") ?? "", wish.has("down")];
    this.from = Math.max(0, (Number(wish.get("page")) || 1) - 1) * count;
    const title = make("h2", "Table"), bar = make("div"), page = make("label", "page "), last = () => Math.max(0, Math.ceil(this.all / count) - 1) * count;
    this.box.id = "sweep-table";
    title.id = "sweep-table-title";
    this.box.setAttribute("aria-labelledby", title.id);
    this.where.id = "sweep-where";
    this.region.className = "wide";
    this.region.tabIndex = 0; // keys scroll it
    this.region.setAttribute("role", "region");
    this.region.ariaLabel = "Rows";
    this.region.append(this.table);
    this.region.addEventListener("focusin", (e) => this.uncover(e.target as HTMLElement));
    this.page.type = "number";
    this.page.id = "sweep-page";
    this.page.min = "1";
    this.page.onchange = () => this.go((Math.round(+this.page.value) - 1) * count);
    page.append(this.page, this.pages);
    const way = (text: string, label: string, to: () => number): [HTMLButtonElement, () => number] => [button(text, label, () => this.go(to())), to];
    this.ways = [way("⇤", "The first page", () => 0), way("‹", "The previous page", () => this.from - count), way("›", "The next page", () => this.from + count), way("⇥", "The last page", last)];
    bar.className = "choices";
    bar.append(title, this.where, ...this.ways.slice(0, 2).map(([b]) => b), page, ...this.ways.slice(2).map(([b]) => b));
    this.box.append(bar, this.region);
  }

  /** uncover scrolls the focused element out from under the first column, which stays in place. */
  private uncover(e: HTMLElement): void {
    const cell = e.closest("th"), left = this.top.cells[0]!.offsetWidth, r = this.region;
    if (!cell || cell.cellIndex < 1) return;
    r.style.scrollPaddingLeft = `${left}px`;
    r.scrollLeft = Math.max(Math.min(r.scrollLeft, cell.offsetLeft - left), cell.offsetLeft + cell.offsetWidth - r.clientWidth);
  }

  /** wish returns the choices for the address. */
  wish(): Record<string, string> {
    return {
      ...(this.sort && { sort: this.sort }), ...(this.down && { down: "" }), ...(this.status && { status: this.status }), ...(this.from && { page: String(this.from / count + 1) }),
    };
  }

  /** filter shows the rows with a status; "": all. */
  filter(status: string): void {
    this.status = status;
    this.go(0);
    this.box.scrollIntoView({ block: "nearest" });
  }

  private go(from: number): void {
    this.from = Math.max(0, Math.min(from, Math.max(0, Math.ceil(this.all / count) - 1) * count)) || 0;
    this.region.scrollTop = 0;
    this.changed();
    if (this.head) void this.ask(this.head, true);
  }

  private by(column: Column): void {
    const name = column.name === this.columns[0]!.name ? "" : column.name;
    [this.down, this.sort] = [name === this.sort && !this.down, name];
    this.go(0);
  }

  /** show shows what is new in the sweep. */
  async show(h: SweepHead): Promise<void> {
    this.head = h;
    if (h.version !== this.version) await this.ask(h, false);
  }

  /** ask requests rows. The outcome is spoken if the user is waiting for it. */
  private async ask(h: SweepHead, waits: boolean): Promise<void> {
    const turn = ++this.turn;
    this.where.ariaLive = waits ? "polite" : "off";
    try {
      const rows = (await this.source.ask<Rows>({ op: "rows", query: { sort: this.sort, down: this.down, status: this.status, from: this.from, count } })).head;
      if (turn === this.turn) this.fill(h.columns, rows);
    } catch (e) {
      if (turn !== this.turn) return;
      if (this.sort || this.status) [this.sort, this.status, this.down] = ["", "", false]; // what the address names does not exist
      set(this.where, (e as Error).message);
    }
  }

  private fill(columns: Column[], r: Rows): void {
    if (r.rows[0] && r.rows[0].cells.length !== columns.length) return; // the columns have changed; the next look gets them
    this.heads(columns);
    [this.version, this.all, this.from] = [r.version, r.all, Math.floor(r.from / count) * count];
    while (this.body.rows.length > r.rows.length) this.body.deleteRow(-1);
    r.rows.forEach((row, i) => this.row(this.body.rows[i] ?? this.body.insertRow(), row));
    const last = Math.ceil(r.all / count) || 1, page = this.from / count + 1;
    set(this.where, r.all ? `rows ${number(this.from + 1)} to ${number(this.from + r.rows.length)} of ${number(r.all)}` : "no rows");
    this.page.max = String(last);
    if (document.activeElement !== this.page) this.page.value = String(page);
    if (!this.turned) this.uncover(this.top.querySelector("[aria-sort$=scending] button")!);
    this.turned = true;
    set(this.pages, ` of ${number(last)}`);
    for (const [b, to] of this.ways) b.disabled = to() === this.from || to() < 0 || to() >= Math.max(r.all, 1);
    document.body.dataset["rows"] = `${r.version} ${this.sort} ${this.down ? "down" : "up"} ${this.status || "all"} ${r.all}`;
  }

  /** heads makes the column heads, which sort when clicked. */
  private heads(columns: Column[]): void {
    const why = !["", "ok"].includes(this.status), of = JSON.stringify([columns, why]);
    if (this.top.dataset["of"] !== of) {
      this.top.dataset["of"] = of;
      this.columns = columns;
      [this.why, this.shown] = [why, arranged(columns, why)];
      this.body.replaceChildren();
      this.top.replaceChildren(...this.shown.map((at) => {
        const c = columns[at]!, th = make("th"), b = make("button"), name = make("span"), unit = make("small", c.unit ?? "");
        name.append(...c.name.split(/(?<=[._+])/).flatMap((part, i) => (i ? [make("wbr"), part] : [part]))); // names are long
        b.append(name);
        th.scope = "col";
        if (c.kind !== "text") th.className = "number";
        b.type = "button";
        b.onclick = () => this.by(c);
        if (c.unit) b.append(" ", unit);
        th.append(b);
        return th;
      }));
    }
    this.shown.forEach((at, i) => {
      const on = columns[at]!.name === (this.sort || columns[0]!.name);
      this.top.cells[i]!.ariaSort = on ? (this.down ? "descending" : "ascending") : "none";
    });
  }

  /** row fills in a row. What has not changed stays, and so does the focus. */
  private row(tr: HTMLTableRowElement, row: Row): void {
    tr.className = row.differs ? "differs" : row.bad ? "bad" : "";
    const what = `${row.job} ${row.recordings ?? 0} ${row.differs}`;
    if (tr.dataset["of"] !== what) {
      tr.dataset["of"] = what;
      tr.replaceChildren(this.name(row), ...this.shown.slice(1).map((at) => {
        const c = this.columns[at]!, td = make("td");
        td.className = c.kind !== "text" ? "number" : c.is ? "" : /hash$|^id$/.test(c.name) ? "code" : c.name === "reason" ? (this.why ? "reason" : "") : "";
        return td;
      }));
    }
    this.shown.slice(1).forEach((at, i) => this.cell(tr.cells[i + 1]!, this.columns[at]!, row.cells[at] ?? ""));
  }

  private cell(td: HTMLTableCellElement, c: Column, v: string | number): void {
    const exact = String(v);
    if (td.dataset["value"] === exact) return;
    td.dataset["value"] = exact;
    if (typeof v === "number") [td.textContent, td.title] = [digits(v), exact];
    else td.textContent = c.kind === "whole" && v.length < 16 && !c.is ? number(+v) : v;
  }

  /** name makes the first cell of a row: the job, with a button for its recordings. */
  private name(row: Row): HTMLTableCellElement {
    const th = make("th", number(row.job)), two = row.recordings === 2;
    th.scope = "row";
    if (row.recordings) {
      th.prepend(button(two ? "compare" : "view", two ? `Compare the recordings of job ${number(row.job)}` : `View the recording of job ${number(row.job)}`, () => this.open(row.job)), " ");
    }
    return th;
  }
}

/** arranged orders the columns: statistics beside the status, where they are visible, and the reason last, in one line, unless the filter
 * is for jobs that are not ok. Everything else is as in results.csv. */
function arranged(columns: Column[], why: boolean): number[] {
  const place = (c: Column, at: number) => {
    if (at === 0 || c.is === "value") return 0;
    if (c.is === "stat") return 3;
    return c.name === "status" ? 1 : c.name === "reason" ? (why ? 2 : 5) : 4;
  };
  return columns.map((c, at) => ({ at, place: place(c, at) })).sort((a, b) => a.place - b.place || a.at - b.at).map((c) => c.at);
}

/** digits formats a number with at most seven digits. */
function digits(v: number): string {
  const size = Math.abs(v);
  if (v && (size < 1e-4 || size >= 1e12)) return v.toExponential(6).replace(/\.?0+e/, "e").replace("e+", "e");
  return v.toLocaleString("en-US", { maximumSignificantDigits: 7 });
}
