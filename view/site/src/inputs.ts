// The commands and events of a tick, with their outcomes.

import { element, make } from "./dom";
import type { Facts } from "./facts";
import { Latest } from "./latest";
import { Unwanted, type Input, type Inputs as Head, type Source, type Wanted } from "./source";

const glance = 20; // most shown during playback

export class Inputs {
  private readonly jobs = new Latest();
  private shown = ""; // what the list shows

  constructor(private readonly source: Source, private readonly facts: Facts[]) {}

  /** show lists the inputs and events of a tick in all sources. */
  show(tick: number, playing: boolean): void {
    const asked = this.facts.map((f) => tick <= f.about.last && !f.empty(tick)), now = `${tick} ${asked} ${playing}`;
    if (now === this.shown) return;
    this.shown = now;
    void this.jobs.run(async (wanted) => {
      const parts: HTMLElement[] = [];
      try {
        for (const [i, f] of this.facts.entries()) {
          if (!asked[i]) continue;
          const list = make("ul"), head = (await this.ask(i, tick, 0, wanted)).head;
          if (!head.inputs.length) continue;
          list.ariaLabel = `Commands of ${f.about.file}`;
          list.tabIndex = 0; // so that keys can scroll it
          if (this.facts.length > 1) parts.push(make("h3", f.about.file));
          list.append(...head.inputs.slice(0, playing ? glance : undefined).map(item));
          const left = (head.more ?? 0) + (playing ? Math.max(0, head.inputs.length - glance) : 0);
          parts.push(list, ...(left ? [playing ? make("p", `and ${left.toLocaleString("en-US")} more`) : this.rest(i, tick, list, left)] : []));
        }
      } catch (e) {
        if (e instanceof Unwanted) return;
        parts.push(make("p", (e as Error).message));
      }
      element("inputs").replaceChildren(...(parts.length ? [make("h2", `Commands of tick ${tick.toLocaleString("en-US")}`), ...parts] : []));
      element("inputs").dataset["tick"] = String(tick);
    });
  }

  private ask(source: number, tick: number, since: number, wanted?: Wanted) {
    return this.source.ask<Head>({ op: "inputs", source, tick, since }, wanted);
  }

  /** rest makes a button that lists more. */
  private rest(source: number, tick: number, list: HTMLElement, left: number): HTMLElement {
    const b = make("button", `${left.toLocaleString("en-US")} more`);
    b.type = "button";
    b.onclick = async () => {
      b.disabled = true;
      const head = (await this.ask(source, tick, list.children.length)).head;
      list.append(...head.inputs.map(item));
      b.replaceWith(...(head.more ? [this.rest(source, tick, list, head.more)] : []));
    };
    return b;
  }
}

function item(i: Input): HTMLLIElement {
  const li = make("li", i.what), about: string[] = [];
  if (i.event) about.push("event");
  if (i.source !== undefined) about.push(`source ${i.source}` + (i.sequence !== undefined ? `, number ${i.sequence}` : ""));
  if (i.priority !== undefined) about.push(`priority ${i.priority}`);
  const came = make("small", i.refused ? `refused: ${i.why}` : i.made ? `applied, made ${i.made}` : "applied");
  if (i.refused) came.className = "refused";
  li.append(came);
  if (about.length) li.append(make("small", about.join(" · ")));
  return li;
}
