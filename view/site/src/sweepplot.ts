// The picture of a sweep, as sweep plot draws it.

import { make } from "./dom";
import type { Source } from "./source";
import type { SweepHead } from "./sweep";
import { set } from "./sweephead";

interface Plot { version: number; kind?: string; stats?: string[]; by?: string[]; none?: string }

const every = 2000; // milliseconds between two pictures
const nothing = "-"; // nothing upward; "" is automatic

export class Picture {
  readonly box = make("section");
  version = 0; // the sweep's version in the picture
  private readonly figure = make("div");
  private readonly none = make("p");
  private readonly stat = make("select");
  private readonly across = make("select");
  private readonly upward = make("select");
  private asked = 0; // time
  private drawn = "";
  private over: string[] = []; // the parameters the picture is drawn over
  private turn = 0;
  private head: SweepHead | null = null;

  constructor(private readonly source: Source, private readonly wished: URLSearchParams, private readonly changed: () => void) {
    this.box.id = "sweep-picture";
    const title = make("h2", "Picture"), choices = make("div");
    title.id = "sweep-picture-title";
    this.box.setAttribute("aria-labelledby", title.id);
    choices.className = "choices";
    for (const [name, id, select] of [["statistic", "sweep-stat", this.stat], ["across", "sweep-across", this.across], ["upward", "sweep-upward", this.upward]] as const) {
      const label = make("label", `${name} `);
      select.id = id;
      select.onchange = () => {
        this.settle(select);
        void this.choose();
      };
      label.append(select);
      choices.append(label);
    }
    this.figure.className = "wide";
    this.figure.tabIndex = 0; // keys scroll it
    this.figure.setAttribute("role", "region");
    this.figure.ariaLabel = "Picture of the sweep";
    this.box.append(title, choices, this.none, this.figure);
  }

  /** wish returns the choices for the address. */
  wish(): Record<string, string> {
    if (!this.head) return Object.fromEntries([...this.wished].filter(([name]) => name === "stat" || name === "by"));
    const by = this.by();
    return { ...(this.stat.value && { stat: this.stat.value }), ...(by.length && { by: by.join() }) };
  }

  private by(): string[] {
    return [this.across.value, this.upward.value].filter((path) => path && path !== nothing);
  }

  /** settle makes across and upward consistent after one of them changes: both are automatic or neither is, and they differ. It changes as
   * little of the picture as possible. */
  private settle(chosen: HTMLSelectElement): void {
    const { across, upward } = this, other = this.over.find((path) => path !== chosen.value);
    if (chosen === across) {
      if (!across.value) upward.value = "";
      else if (upward.value === across.value) upward.value = other ?? nothing;
      else upward.value ||= nothing;
    } else if (chosen === upward) {
      if (!upward.value) across.value = "";
      else if (!across.value || across.value === upward.value) across.value = other ?? "";
      if (!across.value && upward.value) [across.value, upward.value] = upward.value === nothing ? ["", ""] : [upward.value, nothing];
    }
  }

  private async choose(): Promise<void> {
    this.changed();
    this.asked = 0;
    if (this.head) await this.show(this.head);
  }

  /** show draws the sweep if it has changed, and not too often. */
  async show(h: SweepHead): Promise<void> {
    this.offer(h);
    this.head = h;
    if (this.asked && (h.version === this.version || performance.now() - this.asked < every)) return;
    this.asked = performance.now();
    const turn = ++this.turn;
    const answer = await this.source.ask<Plot>({ op: "plot", query: { ...(this.stat.value && { stats: [this.stat.value] }), by: this.by() } });
    if (turn !== this.turn) return;
    this.version = answer.head.version;
    this.none.hidden = !answer.head.none;
    set(this.none, answer.head.none ? `There is no picture: ${answer.head.none}.` : "");
    this.figure.hidden = !!answer.head.none;
    if (!answer.head.none) this.draw(answer.text("picture"));
    this.choice(answer.head);
  }

  /** draw puts the picture into the page. */
  private draw(text: string): void {
    if (text === this.drawn) return;
    this.drawn = text;
    const plain = text.replace(/ style="[^"]*"/, ""); // the page has its own style and allows no other
    const svg = document.importNode(new DOMParser().parseFromString(plain, "image/svg+xml").documentElement, true);
    const title = svg.querySelector(":scope > title");
    svg.setAttribute("aria-label", title?.textContent ?? "Picture");
    title?.remove(); // it would pop up wherever the pointer rests
    this.figure.replaceChildren(svg);
    document.body.dataset["drawn"] = String(this.version);
  }

  /** offer fills the lists. At first it selects what the address names. */
  private offer(h: SweepHead): void {
    const key = JSON.stringify([h.stats, h.varying]);
    if (this.box.dataset["of"] === key) return;
    const first = !this.box.dataset["of"];
    this.box.dataset["of"] = key;
    const by = first ? (this.wished.get("by") ?? "").split(",") : this.by(), stat = first ? this.wished.get("stat") : this.stat.value;
    const fill = (select: HTMLSelectElement, all: string[], chosen: string, ...more: HTMLOptionElement[]) => {
      select.replaceChildren(new Option("automatic", ""), ...more, ...all.map((name) => new Option(name, name)));
      select.value = all.includes(chosen) ? chosen : "";
    };
    fill(this.stat, h.stats, stat ?? "");
    fill(this.across, h.varying, by[0] ?? "");
    fill(this.upward, h.varying, by[1] ?? "", new Option("nothing", nothing));
    this.settle(this.across);
  }

  /** choice shows what was chosen automatically. */
  private choice(p: Plot): void {
    set(this.stat.options[0]!, p.stats && !this.stat.value ? `automatic: ${p.stats.join(", ")}` : "automatic");
    this.over = p.by ?? [];
    const is = (path: string) => (p.by && !this.across.value ? `automatic: ${path.replace(/^.+\.(?=[^.]+\.[^.]+$)/, "…")}` : "automatic"); // there is little room
    set(this.across.options[0]!, is(this.over[0] ?? "seed"));
    set(this.upward.options[0]!, is(this.over[1] ?? "nothing"));
  }
}
