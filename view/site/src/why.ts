// Why a number is what it is: its latest change, what made it, and from cause to cause what was before.

import { element, make } from "./dom";
import type { Chosen } from "./pane";
import type { Source, Why as Head } from "./source";

/** A Number names a number: of a field, in a cell or an entity. */
export interface Number { field: number; component: number; at: Chosen }

export class Why {
  private job = 0; // number of the current question

  /** Go is called to show a cause: the tick that it is of, and where it is. */
  constructor(private readonly source: Source, private readonly go: (tick: number, at: Chosen) => void) {}

  /** ask begins with a number at a tick. */
  ask(n: Number, tick: number): void {
    element("why").replaceChildren(make("h2", "Why"));
    void this.step(n, tick);
  }

  /** clear ends the question. */
  clear(): void {
    this.job++;
    element("why").replaceChildren();
  }

  private async step(n: Number, tick: number): Promise<void> {
    const job = ++this.job, box = make("div", "…");
    box.setAttribute("role", "status");
    element("why").append(box);
    box.scrollIntoView({ block: "nearest" });
    try {
      const { lines, causes, tick: changed } = (await this.source.ask<Head>({ op: "why", tick, field: n.field, component: n.component, ...n.at }, () => job === this.job)).head;
      if (job !== this.job) return;
      box.replaceChildren(...lines.map((text, i) => {
        const cause = causes.find((c) => c.line === i), line = make("p", cause ? "" : text);
        if (!cause) return line;
        const [, label, what] = /^\s*(because)?\s*(.*)$/.exec(text)!, b = make("button", what), at: Chosen = cause.entity ? { entity: cause.entity } : { cell: cause.cell };
        b.type = "button";
        b.title = `Go to tick ${(changed - 1).toLocaleString("en-US")}, and ask why it was so`;
        b.onclick = () => {
          while (box.nextSibling) box.nextSibling.remove(); // what another cause had led to
          this.go(changed - 1, at);
          void this.step({ field: cause.field, component: cause.component, at }, changed - 1);
        };
        line.append(...(label ? [`${label} `] : []), b);
        return line;
      }));
    } catch (e) {
      if (job === this.job) box.textContent = (e as Error).message;
    }
  }
}
