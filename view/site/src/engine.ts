// The source of a page that contains the engine and a recording.

import { persist, type Answer, type Request, type Source, type Wanted } from "./source";

/** unpack decodes the content of an element: gzip in base64. */
async function unpack(id: string): Promise<ArrayBuffer> {
  const text = document.getElementById(id)!.textContent!;
  const response = await fetch(`data:application/octet-stream;base64,${text}`);
  return new Response(response.body!.pipeThrough(new DecompressionStream("gzip"))).arrayBuffer();
}

/** Engine runs the engine in a worker. */
export class Engine implements Source {
  private id = 0;
  private readonly waiting = new Map<number, { done: (bytes: ArrayBuffer) => void; fail: (e: Error) => void }>();
  private dead: Error | null = null; // why there are no more answers

  private constructor(private readonly worker: Worker) {}

  /** open starts the engine with the page's recording. */
  static async open(): Promise<Engine> {
    const code = document.getElementById("worker")!.textContent!;
    const worker = new Worker(URL.createObjectURL(new Blob([code], { type: "text/javascript" })));
    const [engine, recording] = await Promise.all([unpack("engine"), unpack("recording")]);
    const e = new Engine(worker);
    await new Promise<void>((done, fail) => {
      const end = (text: string) => {
        e.dead ??= new Error(`the engine has ended: ${text}; open the page again`);
        fail(e.dead);
        for (const w of e.waiting.values()) w.fail(e.dead);
        e.waiting.clear();
      };
      worker.onerror = (x) => end(x.message);
      worker.onmessage = (m) => {
        if (m.data.bytes) {
          e.waiting.get(m.data.id)?.done(m.data.bytes);
          e.waiting.delete(m.data.id);
        } else if (m.data.ended) end(m.data.ended);
        else if (m.data.error) fail(new Error(m.data.error));
        else done();
      };
      worker.postMessage({ engine, recording: new Uint8Array(recording), name: JSON.parse(document.getElementById("name")!.textContent!) }, [engine]);
    });
    return e;
  }

  ask<T>(q: Request, wanted?: Wanted): Promise<Answer<T>> {
    return persist<T>(() => new Promise((done, fail) => {
      if (this.dead) return fail(this.dead);
      const id = ++this.id;
      this.waiting.set(id, { done, fail });
      this.worker.postMessage({ id, request: JSON.stringify({ id, ...q }) });
    }), wanted);
  }
}
