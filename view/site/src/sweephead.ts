// A sweep's progress: a bar, the number of jobs by status, and the jobs that differ when run again.

import { button, element, make } from "./dom";
import type { SweepHead } from "./sweep";

/** number formats a whole number with commas between thousands. */
export const number = (n: number): string => n.toLocaleString("en-US");

/** jobs formats a number of jobs. */
const jobs = (n: number): string => `${number(n)} ${n === 1 ? "job" : "jobs"}`;

/** time formats seconds in a suitable unit. */
function time(seconds: number): string {
  if (seconds < 90) return `${Math.round(seconds)} s`;
  if (seconds < 90 * 60) return `${Math.round(seconds / 60)} min`;
  if (seconds < 36 * 3600) return `${(seconds / 3600).toFixed(1)} h`;
  return `${number(Math.round(seconds / 86400))} days`;
}

/** rate formats a number of jobs per second. */
const rate = (r: number): string => (r >= 10 ? `${number(Math.round(r))} jobs/s` : r >= 0.1 ? `${r.toFixed(1)} jobs/s` : `${(r * 3600).toFixed(0)} jobs/h`);

const patience = 15; // seconds without a new job, after which the page says so

export class Progress {
  readonly box = make("section");
  private readonly bar = make("progress");
  private readonly words = make("p");
  private readonly filters = make("div");
  private readonly alarm = make("div");
  private readonly chips = new Map<string, HTMLButtonElement>();
  private alarmed = "";

  constructor(private readonly filter: (status: string) => void, private readonly open: (job: number) => void) {
    this.box.id = "sweep-head";
    this.box.ariaLabel = "Progress";
    this.bar.ariaLabel = "Finished jobs";
    this.words.id = "sweep-words";
    this.filters.id = "sweep-filters";
    this.filters.setAttribute("role", "group");
    this.filters.ariaLabel = "Show in the table";
    this.alarm.id = "sweep-alarm";
    this.alarm.hidden = true;
    this.alarm.setAttribute("role", "alert");
    this.box.append(this.bar, this.words, this.alarm, this.filters);
  }

  show(h: SweepHead, status: string): void {
    const part = h.jobs ? Math.floor((100 * h.done) / h.jobs) : 100;
    element("title").textContent = h.scenario;
    element("subtitle").textContent = [h.text, h.shard && `shard ${h.shard}`, h.folder].filter(Boolean).join("  ·  ");
    document.title = `${part < 100 ? `${part}% of ` : ""}${h.scenario} – murksim`;
    [this.bar.max, this.bar.value] = [Math.max(h.jobs, 1), h.done];
    set(this.words, this.text(h));
    this.verdict(h);
    this.alarms(h);
    this.count(h);
    this.filtered(status);
    document.body.dataset["done"] = String(h.done);
  }

  private text(h: SweepHead): string {
    if (h.reading) return `reading the journal: ${Math.floor(100 * h.reading)}%`;
    const parts = [`${number(h.done)} of ${jobs(h.jobs)}`], goes = h.done < h.jobs;
    if (goes && h.rate > 0) parts.push(rate(h.rate), `${time(h.left ?? 0)} left`);
    if (goes && h.idle > patience) parts.push(`last update ${time(h.idle)} ago`);
    if (h.rechecked) parts.push(`${number(h.rechecked)} rechecked: ${h.differ ? `${number(h.differ)} DIFFER${h.differ === 1 ? "S" : ""}` : "equal"}`);
    if (h.damaged) parts.push(`${number(h.damaged)} damaged ${h.damaged === 1 ? "line" : "lines"} in the journal`);
    if (h.problem) parts.push(`reading stopped: ${h.problem}`);
    return parts.join("  ·  ");
  }

  /** verdict announces rare news, which is spoken. */
  private verdict(h: SweepHead): void {
    const e = element("verdict"), whole = h.done >= h.jobs;
    const text = h.differ ? `${jobs(h.differ)} DIFFER${h.differ === 1 ? "S" : ""} when run again`
      : h.problem ? "cannot read more of the journal"
      : h.reading ? "reading"
      : !whole ? (h.idle > patience ? "waiting for jobs" : "the sweep is running")
      : h.bad ? `all jobs done, ${number(h.bad)} not ok` : "all jobs ok";
    e.className = h.differ || h.problem || (whole && h.bad) ? "bad" : whole ? "good" : "";
    set(e, text);
    document.body.dataset["verdict"] = whole ? "whole" : "goes on";
  }

  /** alarms shows the jobs that gave another result when they were run again. */
  private alarms(h: SweepHead): void {
    const now = JSON.stringify([h.differ, h.differing]);
    if (now === this.alarmed) return;
    this.alarmed = now;
    this.alarm.hidden = !h.differ;
    const list = make("ul");
    for (const d of h.differing ?? []) {
      const li = make("li");
      li.append(make("strong", `job ${number(d.job)} differs`), `: ${d.differ}. Run by ${d.workers[0] || "?"}, and again by ${d.workers[1] || "?"}. `,
        d.tick ? `Tick ${number(d.tick)} is the first that differs. ` : "No recording shows where. ");
      if (d.recordings === 2) li.append(button("compare", `Compare the recordings of job ${number(d.job)}`, () => this.open(d.job)));
      list.append(li);
    }
    const more = h.differ - (h.differing?.length ?? 0);
    if (more > 0) list.append(make("li", `and ${number(more)} more`));
    this.alarm.replaceChildren(make("h2", "A computer is broken, a build is wrong, or a component is not deterministic"), list);
  }

  /** count makes a button for each status. */
  private count(h: SweepHead): void {
    const rows = h.statuses.filter((s) => s.status !== "equal");
    const all: [string, string, number, string][] = [["", "all", rows.reduce((n, s) => n + s.jobs, 0), ""]];
    if (h.bad) all.push(["not ok", "not ok", h.bad, ""]);
    for (const s of rows) all.push([s.status, s.status, s.jobs, s.reason ? `such as job ${number(s.job)}: ${s.reason}` : ""]);
    if (h.differ) all.push(["differs", "differ", h.differ, ""]);
    for (const [status, name, n, why] of all) {
      let chip = this.chips.get(status);
      if (!chip) {
        this.chips.set(status, (chip = make("button")));
        chip.type = "button";
        chip.onclick = () => this.filter(status);
        chip.dataset["status"] = status;
        if (status && status !== "ok") chip.classList.add("bad");
      }
      set(chip, `${number(n)} ${name}`);
      chip.title = why;
    }
    const gone = [...this.chips.keys()].filter((k) => !all.some(([status]) => status === k));
    for (const k of gone) this.chips.delete(k);
    const list = all.map(([status]) => this.chips.get(status)!);
    if (list.length !== this.filters.children.length || list.some((c, i) => c !== this.filters.children[i])) this.filters.replaceChildren(...list);
  }

  /** filtered marks which rows are shown. */
  filtered(status: string): void {
    for (const [name, chip] of this.chips) chip.ariaPressed = String(name === status);
  }
}

/** set changes a text only if it differs. */
export function set(e: Element, text: string): void {
  if (e.textContent !== text) e.textContent = text;
}
