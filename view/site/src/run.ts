// The panel of a run: its parameters, commands, forks, and another run with other settings.

import { button, element, make } from "./dom";
import type { Chosen } from "./pane";
import type { About, Numbers, Run, Setting, Source } from "./source";

/** Acts are the actions that the panel needs from the page. */
export interface Acts {
  fork(): void;
  begin(seed: string, set: Record<string, number>): void;
  field(): number; // the field shown
}

export class RunPanel {
  private readonly box = element("run");
  private readonly state = make("p");
  private readonly said = make("p");
  private readonly here = make("form"); // sets the chosen cell
  private readonly values = new Map<number, HTMLInputElement[]>(); // inputs of parameters, by key

  constructor(private readonly about: About, private readonly source: Source, private readonly which: number, private readonly acts: Acts) {
    this.box.hidden = !!about.unverifiable; // a film has nothing to compute
    this.said.setAttribute("role", "status");
    this.box.replaceChildren(make("h2", about.live ? "Run" : "Recording"), this.state, this.said);
    this.state.id = "run-state";
    if (about.live) this.orders();
    else this.shown();
    const fork = button("Fork from this tick", "Start a run that continues from this tick, and compare it with the original", () => acts.fork());
    fork.id = "fork";
    this.box.append(fork);
    if (about.again) this.box.append(this.again());
  }

  private last = 0; // the run's last tick
  private saidAt = -1; // the message is valid until this tick; -1: until the next message

  /** say shows the outcome of an action. */
  say(text: string, at = -1): void { [this.said.textContent, this.saidAt] = [text, at]; }

  /** update shows the state of the run. */
  update(run: Run): void {
    this.last = run.last;
    if (this.saidAt >= 0 && run.last > this.saidAt) this.say("");
    if (run.ended) for (const e of this.box.querySelectorAll<HTMLInputElement>("input, button, textarea, select")) e.disabled = e.id !== "fork" && !e.closest("#again");
    const n = run.last.toLocaleString("en-US");
    const how = run.ended ? `ended at tick ${n}` : run.held ? `held at tick ${n}` : `goes on, tick ${n}`;
    this.state.textContent = run.error ? `${how}: ${run.error}` : how;
    document.body.dataset["run"] = run.ended ? "ended" : run.held ? "held" : "goes on";
  }

  /** parameters shows the parameters' values at the tick shown. */
  parameters(list: Numbers): void {
    this.about.parameters?.forEach((p, i) => {
      for (const input of this.values.get(p.key) ?? []) {
        if (document.activeElement !== input && list[i] !== undefined) input.value = String(list[i]);
      }
    });
  }

  /** choose offers to set the chosen cell. */
  choose(at: Chosen, coord: number[] | undefined): void {
    if (!this.about.live) return;
    const f = this.about.fields[this.acts.field()]!, there = at.cell !== undefined && !!coord && !f.static && !f.entities;
    this.here.hidden = !there;
    if (!there) return;
    const label = `set ${f.name} at [${coord!.join(", ")}] to`;
    if (this.here.dataset["label"] === label) return;
    this.here.dataset["label"] = label;
    const text = make("label", label), send = make("button", "Set");
    text.append(this.value(f.values, f.components));
    this.here.replaceChildren(text, send);
    this.here.onsubmit = (e) => {
      e.preventDefault();
      const given = this.here.querySelector<HTMLInputElement | HTMLSelectElement>("[name=value]")!.value;
      const value = f.values ? given : f.components > 1 ? given.split(/[\s,]+/).map(Number) : Number(given);
      void this.submit({ set: { field: f.name, cell: coord, value } });
    };
  }

  private value(names: string[] | undefined, components: number): HTMLElement {
    if (names) {
      const s = make("select");
      s.name = "value";
      for (const n of names) s.add(new Option(n));
      return s;
    }
    const i = make("input");
    [i.name, i.type, i.value] = ["value", components > 1 ? "text" : "number", components > 1 ? Array(components).fill(0).join(", ") : "1"];
    i.step = "any";
    return i;
  }

  private async submit(order: unknown): Promise<void> {
    try {
      await this.source.ask({ op: "submit", source: this.which, order });
      this.say("It will be applied in the next tick.", this.last);
    } catch (e) {
      this.say((e as Error).message);
    }
  }

  /** orders makes the forms for setting parameters, setting the chosen cell, and giving any other command. */
  private orders(): void {
    for (const p of this.about.parameters ?? []) {
      const { row, inputs } = slider(p.name, p.value, false, undefined, undefined, (value) => void this.submit({ param: { name: p.name, value } }));
      this.values.set(p.key, inputs);
      this.box.append(row);
    }
    this.here.hidden = true;
    this.here.className = "here";
    const details = make("details"), text = make("textarea"), send = button("Send", "Give the command in the next tick", () => {
      try {
        void this.submit(JSON.parse(text.value));
      } catch (e) {
        this.say(`This is not JSON: ${(e as Error).message}`);
      }
    });
    text.id = "order";
    text.rows = 3;
    text.setAttribute("aria-label", "A command, as in a scenario");
    text.value = `{"set": {"field": "${this.about.fields[this.acts.field()]!.name}", "cell": [0, 0], "value": 1}}`;
    details.append(make("summary", "Another command"), text, send);
    this.box.append(this.here, details);
  }

  /** shown lists the parameters of a recording, which cannot be changed. */
  private shown(): void {
    for (const p of this.about.parameters ?? []) {
      const label = make("label", p.name), input = make("input");
      [input.type, input.readOnly, input.value] = ["number", true, String(p.value)];
      label.append(input);
      this.values.set(p.key, [input]);
      this.box.append(label);
    }
  }

  /** again starts another run with other settings. */
  private again(): HTMLElement {
    const form = make("form"), details = make("details"), set = settings(form, this.about.seed ?? "", this.about.settings ?? []);
    details.append(make("summary", "Start again with other settings"), form);
    form.id = "again";
    form.append(make("button", "Start again"));
    form.onsubmit = (e) => {
      e.preventDefault();
      this.acts.begin(set.seed(), set.changed());
    };
    return details;
  }
}

/** settings adds to a form a field for the seed and a slider for each setting. */
export function settings(form: HTMLFormElement, seed: string, list: Setting[]): { seed(): string; changed(): Record<string, number> } {
  const label = make("label", "seed"), input = make("input"), changed: Record<string, number> = {};
  [input.type, input.inputMode, input.pattern, input.value, input.name] = ["text", "numeric", "[0-9]+", seed, "seed"];
  label.append(input);
  form.append(label);
  for (const s of list) form.append(slider(s.name, s.value, !!s.whole, s.min, s.max, (v) => { changed[s.path] = v; }).row);
  return { seed: () => input.value, changed: () => changed };
}

/** slider makes an input for a number: a slider, and a field for numbers outside its range. */
function slider(name: string, value: number, whole: boolean, min: number | undefined, max: number | undefined, changed: (v: number) => void):
  { row: HTMLElement; inputs: HTMLInputElement[] } {
  const row = make("div"), label = make("label", name), range = make("input"), number = make("input");
  const far = Math.max(Math.abs(value) * 3, whole ? 10 : 1), low = min ?? (value < 0 ? -far : 0);
  const high = max !== undefined && max <= far * 10 ? max : low + far;
  row.className = "slider";
  [range.type, number.type] = ["range", "number"];
  range.min = String(low);
  range.max = String(high);
  range.step = whole ? "1" : String((high - low) / 200);
  if (min !== undefined) number.min = String(min);
  if (max !== undefined) number.max = String(max);
  number.step = whole ? "1" : "any";
  for (const i of [range, number]) i.value = String(value);
  range.setAttribute("aria-label", `${name}, slider`);
  range.oninput = () => { number.value = range.value; };
  range.onchange = () => changed(Number(range.value));
  number.onchange = () => {
    if (!number.checkValidity() || number.value === "") return void number.reportValidity();
    range.value = number.value;
    changed(Number(number.value));
  };
  label.append(number);
  row.append(label, range);
  return { row, inputs: [range, number] };
}
