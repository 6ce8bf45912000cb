import { type FSWatcher, watch } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type { Clock } from "@windlass/clock";
import { keyringDataKey, readKeyring } from "../tokens/index.ts";
import type { GatewayCredentials } from "./credentials.ts";

/** Where a gateway's Secrets are mounted. */
export interface CredentialFolders {
  /** Of `<pool>-tls`: tls.crt, tls.key, ca.crt. @default "/etc/gateway/tls" */
  readonly clients?: string;
  /**
   * Of `<pool>-client-certs`: client.crt, client.key, ca.crt.
   *
   * @default "/etc/gateway/worker-tls"
   */
  readonly workers?: string;
  /** Of `<pool>-token-keys`: keys.json. @default "/etc/gateway/token-keys" */
  readonly keys?: string;
}

/** How often the files are looked at where nothing says that they have changed. */
const POLL_MS = 10_000;

/** The Secrets of a gateway as files, which the kubelet replaces when they change. */
export class CredentialFiles {
  readonly #folders: Required<CredentialFolders>;
  readonly #clock: Clock;

  constructor(folders: CredentialFolders, clock: Clock) {
    this.#folders = {
      clients: "/etc/gateway/tls",
      workers: "/etc/gateway/worker-tls",
      keys: "/etc/gateway/token-keys",
      ...folders,
    };
    this.#clock = clock;
  }

  /** @throws Error that names the file that cannot be read; KeyringError. */
  async read(): Promise<GatewayCredentials> {
    const { clients, workers, keys } = this.#folders;
    const read = (folder: string, name: string) => readFile(join(folder, name), "utf8");
    return {
      clients: {
        pair: { certificate: await read(clients, "tls.crt"), key: await read(clients, "tls.key") },
        trust: await read(clients, "ca.crt"),
      },
      workers: {
        pair: { certificate: await read(workers, "client.crt"), key: await read(workers, "client.key") },
        trust: await read(workers, "ca.crt"),
      },
      keys: readKeyring(await read(keys, keyringDataKey)),
    };
  }

  /**
   * Yields whenever the files may have changed: as soon as the system says so, and every ten
   * seconds.
   */
  async *changes(signal: AbortSignal): AsyncGenerator<void> {
    let wake = Promise.withResolvers<void>();
    const onChange = () => wake.resolve();
    // A mounted Secret changes by swapping a link in its folder, so it is the folder that is
    // watched.
    const watchers = Object.values(this.#folders).flatMap((folder) => this.#watch(folder, onChange));
    signal.addEventListener("abort", onChange);
    try {
      while (!signal.aborted) {
        const cancel = this.#clock.schedule(POLL_MS, onChange);
        await wake.promise;
        cancel();
        // A change that comes while the caller is busy with this one counts for the next turn.
        wake = Promise.withResolvers();
        if (!signal.aborted) yield;
      }
    } finally {
      signal.removeEventListener("abort", onChange);
      for (const watcher of watchers) watcher.close();
    }
  }

  #watch(folder: string, onChange: () => void): FSWatcher[] {
    try {
      const watcher = watch(folder, { persistent: false }, onChange);
      watcher.on("error", () => watcher.close());
      return [watcher];
    } catch {
      // Where folders cannot be watched, the poll has to do.
      return [];
    }
  }
}
