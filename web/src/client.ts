// The page's side of the worker: every call is a promise.
import type { Calls } from "./worker";
import EngineWorker from "./worker?worker&inline";

type Answer<T> = T extends (...args: infer A) => infer R ? (...args: A) => Promise<Awaited<R>> : never;
export type Client = { [K in keyof Calls]: Answer<Calls[K]> } & { stop(): void };

export function client(): Client {
  const worker = new EngineWorker();
  const waiting = new Map<number, { resolve(value: unknown): void; reject(reason: Error): void }>();
  let last = 0;
  worker.onmessage = ({ data: { id, result, error } }: MessageEvent) => {
    const call = waiting.get(id);
    waiting.delete(id);
    if (error !== undefined) call?.reject(new Error(error));
    else call?.resolve(result);
  };
  return new Proxy({} as Client, {
    // An object with a function `then` would be taken for a promise.
    get: (_, name) => (name === "then" ? undefined : name === "stop" ? () => worker.terminate() : (...args: unknown[]) => new Promise((resolve, reject) => {
      waiting.set(++last, { resolve, reject });
      worker.postMessage({ id: last, name, args });
    })),
  });
}

// The module: inlined in the single-file variant, beside the page otherwise.
export async function moduleBytes(): Promise<ArrayBuffer> {
  const inlined = document.getElementById("conclave-module")?.textContent;
  if (!inlined) {
    const response = await fetch(new URL("conclave.wasm", document.baseURI));
    if (!response.ok) throw new Error(`the engine could not be loaded (status ${response.status})`);
    return response.arrayBuffer();
  }
  const packed = Uint8Array.from(atob(inlined.trim()), (letter) => letter.charCodeAt(0));
  return new Response(new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"))).arrayBuffer();
}
