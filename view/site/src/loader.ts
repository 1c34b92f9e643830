// The start of a single-file page: checks every part of the file, then runs them.

export {};

/** A Part is a piece of the page, held as the text of a script. */
interface Part { id: string; sum: number; size: number } // CRC-32, and size in bytes

const parts = JSON.parse(document.currentScript!.dataset["parts"]!) as Part[];
const whole = parts.reduce((n, p) => n + p.size, 0);
const said = document.querySelector("#loading p")!, bar = document.querySelector<HTMLProgressElement>("#loading progress")!;
const part = (id: string): string | null => document.getElementById(id)?.textContent ?? null;

const table = Uint32Array.from({ length: 256 }, (_, n) => {
  for (let k = 0; k < 8; k++) n = n & 1 ? 0xedb88320 ^ (n >>> 1) : n >>> 1;
  return n;
});

/** sum returns the CRC-32 of a text in UTF-8, as in Go's package crc32. */
function sum(text: string): number {
  let c = 0xffffffff;
  for (const b of new TextEncoder().encode(text)) c = table[(c ^ b) & 255]! ^ (c >>> 8);
  return (c ^ 0xffffffff) >>> 0;
}

const timer = setInterval(() => { bar.value = parts.reduce((n, p) => n + (part(p.id)?.length ?? 0), 0) / whole; }, 100);

document.addEventListener("DOMContentLoaded", () => {
  clearInterval(timer);
  const damaged = parts.find((p) => sum(part(p.id) ?? "") !== p.sum);
  if (damaged) {
    said.textContent = `This file is damaged: its ${damaged.id} is not what was written. Get another copy, or export it again.`;
    bar.remove();
    return;
  }
  said.textContent = "Starting the engine …";
  bar.removeAttribute("value");
  const style = document.createElement("style"), app = document.createElement("script");
  style.textContent = part("style");
  app.type = "module";
  app.textContent = part("program");
  document.head.append(style);
  document.body.insertAdjacentHTML("afterbegin", part("markup")!);
  document.body.append(app);
});
