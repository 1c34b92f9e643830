// What the page shows: a gallery, a sweep, or some sources of the session.

import { element } from "./dom";
import { Engine } from "./engine";
import { gallery } from "./gallery";
import { Page, type Acts } from "./page";
import { Selection, Server, type About, type Source } from "./source";
import { SweepPage } from "./sweep";

/** An Opener changes the sources of the page. */
class Opener implements Acts {
  private page: Page | null = null;
  private sweep: SweepPage | null = null;
  private opened = 0; // how often something was opened: only the latest is shown

  constructor(private readonly source: Source) {}

  /** open shows what the address names, or what the session started with. */
  async open(): Promise<void> {
    let gone = "";
    const turn = ++this.opened;
    this.page?.leave();
    const named = new URLSearchParams(location.hash.slice(1)).get("show");
    if (named) {
      try {
        return await this.show(named.split(",").map(Number));
      } catch (e) { // such as a fork of a closed page
        gone = (e as Error).message;
        history.replaceState(null, "", location.pathname);
      }
    }
    const first = await this.first();
    if (turn !== this.opened) return;
    if (!first?.sources) {
      await this.page?.hold();
      if (turn !== this.opened) return;
      this.page?.close();
      this.page = null;
      return this.begins(turn, gone);
    }
    await this.show(Array.from({ length: first.sources }, (_, i) => i), first);
    if (gone) this.page?.say(`The address cannot be opened: ${gone}`);
  }

  /** begins shows what a session without sources offers: a sweep, or a gallery. */
  private async begins(turn: number, gone: string): Promise<void> {
    const { sweep } = (await this.source.ask<{ sweep?: boolean }>({ op: "gallery" })).head;
    if (turn !== this.opened) return;
    if (!sweep) return gallery(this.source, (...what) => this.begin(...what));
    this.sweep?.close();
    this.sweep = new SweepPage(this.source, (job) => this.recordings(job));
    if (gone) this.sweep.say(`The address cannot be opened: ${gone}`);
    const home = element("home");
    home.title = home.ariaLabel = "The sweep";
  }

  /** recordings shows the recordings of a job of a sweep. */
  private async recordings(job: number): Promise<void> {
    const { sources } = (await this.source.ask<{ sources: number[] }>({ op: "open", query: { job } })).head;
    history.pushState(null, "", `#show=${sources.join()}`);
    await this.show(sources);
    element("home").focus();
  }

  /** first describes the first of the sources that the session started with; null if there are none. */
  private async first(): Promise<About | null> {
    try {
      return (await this.source.ask<About>({ op: "about" })).head;
    } catch (e) {
      const { items, sweep } = (await this.source.ask<{ items?: unknown[]; sweep?: boolean }>({ op: "gallery" })).head;
      if (!items?.length && !sweep) throw e;
      return null;
    }
  }

  /** show shows sources. The description of the first one may be known already. */
  private async show(which: number[], first?: About): Promise<void> {
    const turn = ++this.opened;
    const abouts = await Promise.all(which.map(async (source, i) => (!i && first) || (await this.source.ask<About>({ op: "about", source })).head));
    if (turn !== this.opened) return;
    this.page?.close();
    this.sweep?.close();
    this.sweep = null;
    document.body.classList.remove("choosing");
    this.page = new Page(new Selection(this.source, which), abouts, this);
  }

  /** fork starts a run that continues from a tick of a source, and shows both. */
  async fork(source: number, tick: number): Promise<void> {
    const fork = (await this.source.ask<{ source: number }>({ op: "fork", source, tick, hold: true })).head.source;
    history.pushState(null, "", `#show=${source},${fork}&tick=${tick}&${location.hash.replace(/.*?(?=field=|$)/, "")}`);
    await this.show([source, fork]);
    element("play").focus();
  }

  /** begin starts a run from the gallery. */
  async begin(scenario: string, seed: string, set: Record<string, number>): Promise<void> {
    const run = (await this.source.ask<{ source: number }>({ op: "begin", scenario, seed, set })).head.source;
    history.pushState(null, "", `#show=${run}`);
    await this.show([run]);
    element("play").focus();
  }

  /** home returns to the gallery, or to what the session started with. */
  async home(): Promise<void> {
    history.pushState(null, "", location.pathname);
    await this.open();
  }
}

async function main(): Promise<void> {
  const failed = (e: Error) => {
    const { classList } = document.body, m = element(classList.contains("choosing") ? "refused" : classList.contains("sweeping") ? "sweep-said" : "message");
    m.hidden = false;
    m.textContent = e.message;
  };
  try {
    const opener = new Opener(document.getElementById("engine") ? await Engine.open() : new Server());
    element("home").onclick = () => void opener.home().catch(failed);
    onpopstate = () => void opener.open().catch(failed);
    await opener.open();
  } catch (e) {
    failed(e as Error);
  }
  document.getElementById("loading")?.remove(); // in a single-file page
}

void main();
