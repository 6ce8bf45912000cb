import { type Client, ignoreNotFound, isAlreadyExists, isConflict } from "@windlass/client";
import { type Clock, sleep } from "@windlass/clock";
import type { Logger } from "@windlass/runtime";
import { ConfigMap } from "@windlass/runtime/kinds";
import { managedByLabel } from "../credentials.ts";
import { apiTrustName } from "../names.ts";

/** Where the bundle is published. */
export interface PublishedTrustOptions {
  readonly client: Pick<Client, "get" | "create" | "update">;
  /** The operator's. */
  readonly namespace: string;
  readonly clock: Clock;
  readonly log: Logger;
  readonly signal: AbortSignal;
}

const RETRY_MS = 5_000;

/**
 * Publishes, in a ConfigMap that anybody may be allowed to read, whose certificates clients of the
 * API are to trust. The Secret with the authorities has their keys as well, and is not for clients
 * business.
 */
export class PublishedTrust {
  readonly #options: PublishedTrustOptions;
  #wanted = "";
  #writing: Promise<void> = Promise.resolve();

  constructor(options: PublishedTrustOptions) {
    this.#options = options;
  }

  /** Publishes a PEM bundle, in the background, until it is done or another one takes its place. */
  publish(bundle: string): void {
    this.#wanted = bundle;
    this.#writing = this.#writing.then(() => this.#write(bundle));
  }

  /** Resolves once nothing is under way. */
  async settled(): Promise<void> {
    await this.#writing;
  }

  async #write(bundle: string): Promise<void> {
    const { clock, log, signal } = this.#options;
    while (bundle === this.#wanted && !signal.aborted) {
      try {
        await this.#writeOnce(bundle);
        return;
      } catch (error) {
        // Another replica was faster: what it wrote is looked at.
        if (isConflict(error) || isAlreadyExists(error)) continue;
        const fault = `ConfigMap ${apiTrustName} could not be written; trying again in a moment`;
        log.warn({ error: String(error) }, fault);
      }
      await sleep(clock, RETRY_MS, signal).catch(() => undefined);
    }
  }

  async #writeOnce(bundle: string): Promise<void> {
    const { client, namespace } = this.#options;
    const key = { namespace, name: apiTrustName };
    const found = await ignoreNotFound(client.get(ConfigMap, key));
    const data = { "ca.crt": bundle };
    if (!found) await client.create(ConfigMap, { metadata: { ...key, labels: managedByLabel }, data });
    else if (found.data?.["ca.crt"] !== bundle) await client.update(ConfigMap, { ...found, data });
  }
}
