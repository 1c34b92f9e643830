// The gallery: scenarios to start, each with a film of its first ticks.

import { element, make } from "./dom";
import { settings } from "./run";
import type { Setting, Source } from "./source";

interface Item { name: string; about?: string; space: string; seed: string; ticks: number; settings?: Setting[] }

type Begin = (scenario: string, seed: string, set: Record<string, number>) => Promise<void>;

/** gallery shows the scenarios. Begin starts one. */
export async function gallery(source: Source, begin: Begin): Promise<void> {
  const { items } = (await source.ask<{ items: Item[] }>({ op: "gallery" })).head;
  const box = element("gallery"), title = make("h2", "Scenarios that come with murksim"), list = make("ul");
  title.id = "gallery-title";
  const refused = make("p"); // says why a scenario cannot be started
  refused.id = "refused";
  refused.setAttribute("role", "alert");
  const tried: Begin = async (...what) => {
    refused.textContent = "";
    await begin(...what).catch((e: Error) => { refused.textContent = `${what[0]} cannot be run: ${e.message}`; });
  };
  list.append(...items.map((item) => card(item, tried)));
  box.replaceChildren(refused, title, make("p", "Choose one to see it run, or change its settings first."), films(list), list);
  document.body.classList.add("choosing");
  element("title").textContent = "murksim";
  element("subtitle").textContent = "";
  document.title = "murksim";
  document.body.dataset["gallery"] = String(items.length);
}

/** films makes a button that stops the films of a list and starts them again. If the reader prefers little motion, they start still. */
function films(list: HTMLElement): HTMLElement {
  const b = make("button");
  let still = matchMedia("(prefers-reduced-motion: reduce)").matches;
  const hold = (image: HTMLImageElement) => {
    const first = image.nextElementSibling as HTMLCanvasElement; // its first frame
    if (still && image.naturalWidth) {
      [first.width, first.height] = [image.naturalWidth, image.naturalHeight];
      first.getContext("2d")!.drawImage(image, 0, 0);
    }
    [image.hidden, first.hidden] = [still && image.complete, !still || !image.complete];
  };
  const all = () => {
    b.textContent = still ? "Play the films" : "Stop the films";
    list.querySelectorAll("img").forEach(hold);
  };
  list.addEventListener("load", (e) => hold(e.target as HTMLImageElement), true);
  b.type = "button";
  b.id = "films";
  b.onclick = () => {
    still = !still;
    all();
  };
  all();
  return b;
}

function card(item: Item, begin: Begin): HTMLElement {
  const li = make("li"), open = make("button"), image = make("img"), first = make("canvas"), text = make("span");
  open.type = "button";
  open.className = "card";
  image.src = `film/${encodeURIComponent(item.name)}`;
  image.loading = "lazy";
  image.alt = "";
  [image.width, image.height] = [224, 224];
  text.className = "words";
  text.append(make("strong", item.name), make("span", item.about ?? ""), make("small", `${item.space}, ${item.ticks.toLocaleString("en-US")} ticks`));
  first.hidden = true;
  first.setAttribute("aria-hidden", "true");
  const coming = make("span", "The film is being made …"), film = make("span");
  [film.className, coming.className] = ["film", "coming"];
  coming.setAttribute("aria-hidden", "true"); // like the film
  image.onload = () => coming.remove();
  image.onerror = () => { coming.textContent = "There is no film"; };
  film.append(image, first, coming);
  open.append(film, text);
  open.onclick = () => void begin(item.name, "", {});
  const details = make("details"), form = make("form");
  details.append(make("summary", "Settings"), form);
  details.ontoggle = () => { // made on demand: there are many, in many cards
    if (!details.open || form.childElementCount) return;
    const set = settings(form, item.seed, item.settings ?? []);
    form.append(make("button", "Run"));
    form.onsubmit = (e) => {
      e.preventDefault();
      void begin(item.name, set.seed(), set.changed());
    };
  };
  li.append(open, details);
  return li;
}
