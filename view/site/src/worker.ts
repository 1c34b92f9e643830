// The worker of a page that contains the engine.

export {};

declare class Go {
  importObject: WebAssembly.Imports;
  run(i: WebAssembly.Instance): Promise<void>;
}

declare function murksimOpen(name: string, recording: Uint8Array): string | null;
declare function murksimAnswer(request: string): Uint8Array | undefined; // none: it has ended

const scope = self as unknown as { postMessage(m: unknown, transfer?: Transferable[]): void; onmessage: unknown; murksimReady: unknown };

async function begin(engine: ArrayBuffer, name: string, recording: Uint8Array): Promise<void> {
  const go = new Go();
  const ready = new Promise<void>((done) => { scope.murksimReady = done; });
  const { instance } = await WebAssembly.instantiate(engine, go.importObject);
  void go.run(instance).then(() => scope.postMessage({ ended: "it has stopped" }));
  await ready;
  scope.postMessage({ opened: true, error: murksimOpen(name, recording) });
}

scope.onmessage = (e: MessageEvent) => {
  if (e.data.engine) {
    begin(e.data.engine, e.data.name, e.data.recording).catch((x: Error) => scope.postMessage({ opened: true, error: x.message }));
    return;
  }
  const answer = murksimAnswer(e.data.request);
  if (!answer) return;
  const bytes = answer.buffer as ArrayBuffer;
  scope.postMessage({ id: e.data.id, bytes }, [bytes]);
};
