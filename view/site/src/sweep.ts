// The page of a sweep: its progress, table and picture, kept up to date.

import { element, make } from "./dom";
import { type Source } from "./source";
import { Progress } from "./sweephead";
import { Picture } from "./sweepplot";
import { Table } from "./sweeptable";

/** A Column of the table; value: varies between jobs, stat: a statistic. */
export interface Column { name: string; kind: "text" | "whole" | "number"; unit?: string; is?: "value" | "stat" }

/** A SweepHead describes a sweep's progress. */
export interface SweepHead {
  version: number; folder: string; scenario: string; text: string; shard?: string;
  jobs: number; done: number; bad: number;
  statuses: { status: string; jobs: number; job: number; reason?: string }[];
  rechecked: number; differ: number;
  differing?: { job: number; differ: string; tick?: number; workers: [string, string]; recordings?: number }[];
  reading?: number; rate: number; left?: number; idle: number; damaged?: number; problem?: string;
  columns: Column[]; stats: string[]; varying: string[];
}

/** A Query is a request about the table, the picture or a job. */
export interface Query {
  sort?: string; down?: boolean; status?: string; from?: number; count?: number;
  stats?: string[]; by?: string[]; job?: number;
}

const every = 1000; // milliseconds between two looks at the sweep
const seldom = 5000; // the same, when all jobs are done

export class SweepPage {
  private closed = false;
  private timer = 0;
  private busy = false;
  private lost = ""; // why the sweep cannot be read
  private head: SweepHead | null = null;
  private readonly progress: Progress;
  private readonly picture: Picture;
  private readonly table: Table;
  private readonly said = make("p");

  constructor(private readonly source: Source, open: (job: number) => Promise<void>) {
    const opened = (job: number) => void open(job).catch((e: Error) => this.say(`Job ${job.toLocaleString("en-US")} cannot be opened: ${e.message}`));
    this.said.id = "sweep-said";
    this.said.setAttribute("role", "alert");
    this.said.hidden = true;
    const wish = new URLSearchParams(location.hash.slice(1)), note = () => this.note();
    this.progress = new Progress((status) => this.table.filter(status), opened);
    this.picture = new Picture(source, wish, note);
    this.table = new Table(source, wish, opened, () => {
      this.note();
      this.progress.filtered(this.table.status);
    });
    element("sweep").replaceChildren(this.progress.box, this.table.box, this.picture.box);
    this.progress.box.prepend(this.said);
    document.body.classList.remove("choosing");
    document.body.classList.add("sweeping");
    element("home").hidden = true;
    document.addEventListener("visibilitychange", this.seen);
    void this.look();
  }

  /** close closes the page when something else takes its place. */
  close(): void {
    this.closed = true;
    clearTimeout(this.timer);
    document.removeEventListener("visibilitychange", this.seen);
    document.body.classList.remove("sweeping");
    element("sweep").replaceChildren();
    element("verdict").textContent = element("verdict").className = "";
  }

  /** say shows a message; "" clears it. */
  say(text: string): void {
    this.said.hidden = !text;
    if (this.said.textContent !== text) this.said.textContent = text; // otherwise it would be spoken again
  }

  private readonly seen = () => { if (!document.hidden) void this.look(); };

  /** note writes the choices into the address. */
  private note(): void {
    const all = new URLSearchParams({ ...this.table.wish(), ...this.picture.wish() }).toString();
    history.replaceState(null, "", all ? `#${all}` : location.pathname + location.search);
  }

  /** look asks for the sweep's progress and news, and schedules the next look. */
  private async look(): Promise<void> {
    if (this.busy || this.closed) return;
    this.busy = true;
    clearTimeout(this.timer);
    try {
      const head = (await this.source.ask<SweepHead>({ op: "sweep" })).head;
      if (this.closed) return;
      if (this.lost) this.say(this.lost = "");
      this.head = head;
      this.progress.show(head, this.table.status);
      if (!head.reading) await Promise.all([this.table.show(head), this.picture.show(head)]);
      else if (!this.table.version) await this.table.show(head); // the rows there are so far
    } catch (e) {
      this.say(this.lost = `The sweep cannot be read: ${(e as Error).message}`);
    } finally {
      this.busy = false;
    }
    if (this.closed || document.hidden) return;
    const head = this.head, whole = head && head.done >= head.jobs && this.table.version === head.version && this.picture.version === head.version;
    this.timer = window.setTimeout(() => void this.look(), head?.reading ? 0 : whole ? seldom : every);
  }
}
