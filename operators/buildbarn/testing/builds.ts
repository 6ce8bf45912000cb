import type { Client } from "@windlass/client";
import { Pod } from "@windlass/runtime/kinds";
import { CallError, RemoteCache } from "./remote-cache.ts";

/** How often a call is tried again that reached no server: as Bazel does. */
const retries = 20;
const pauseMs = 250;

/** What builds did, as clients of every frontend that runs. */
export class Builds {
  readonly #client: Client;
  readonly #namespace: string;
  #turn = 0;
  /** Builds that failed, in words. */
  readonly failures: string[] = [];
  /** New actions whose result another frontend did not see. */
  readonly repeated: string[] = [];
  done = 0;

  constructor(client: Client, namespace: string) {
    this.#client = client;
    this.#namespace = namespace;
  }

  /** Runs new actions: each written through one frontend and read through another. */
  async fill(actions: readonly string[]): Promise<void> {
    for (const action of actions) {
      await this.#through((cache) => cache.write(action));
      await this.#through((cache) => cache.readBlob(`input of ${action}`));
      if ((await this.#through((cache) => cache.read(action))) === "miss") this.repeated.push(action);
      this.done += 1;
    }
  }

  /** Those of the actions that are no hits. */
  async misses(actions: readonly string[]): Promise<readonly string[]> {
    const missed: string[] = [];
    for (const action of actions)
      if ((await this.#through((cache) => cache.read(action))) === "miss") missed.push(action);
    return missed;
  }

  /** Builds new actions and old ones until it is terminated. */
  async keepOn(known: readonly string[], signal: AbortSignal): Promise<void> {
    for (let round = 0; !signal.aborted; round++) {
      const action = `new ${this.done}`;
      try {
        await this.fill([action]);
        const old = known[round % known.length] ?? "";
        this.failures.push(...(await this.misses([old])).map((missed) => `${missed} is a miss`));
      } catch (error) {
        this.failures.push(`${action}: ${error instanceof Error ? error.message : String(error)}`);
      }
    }
  }

  /**
   * Does something through the next of the frontends. What cannot be reached is tried again
   * elsewhere.
   */
  async #through<T>(work: (cache: RemoteCache) => Promise<T>): Promise<T> {
    let last: unknown;
    for (let attempt = 0; attempt < retries; attempt++) {
      const address = await this.#next();
      using cache = address === undefined ? undefined : new RemoteCache(`${address}:8980`);
      try {
        if (cache) return await work(cache);
      } catch (error) {
        if (!(error instanceof CallError) || error.code !== 14) throw error;
        last = error;
      }
      await new Promise((resolve) => setTimeout(resolve, pauseMs));
    }
    throw last;
  }

  /** Pods that are stopping serve on until they do. */
  async #next(): Promise<string | undefined> {
    const { items } = await this.#client.list(Pod, {
      namespace: this.#namespace,
      labelSelector: "app=frontend",
    });
    const ready = items.filter(({ status }) =>
      status?.conditions?.some(({ type, status: is }) => type === "Ready" && is === "True"),
    );
    this.#turn += 1;
    return ready[this.#turn % Math.max(1, ready.length)]?.status?.podIP;
  }
}
