import type { Terminal } from "@windlass/cli";
import { sleep, systemClock } from "@windlass/clock";
import {
  type AllocationAnswer,
  type AllocationFolder,
  allocationSchema,
  TemporaryFolder,
} from "./allocation-files.ts";
import { type ApiClient, RefusedCallError } from "./api-client.ts";

/** A worker that a build has until it is given back: its key in a folder, and renewed in time. */
export class HeldWorker {
  readonly #api: ApiClient;
  readonly #allocation: AllocationAnswer;
  readonly #terminal: Terminal;
  readonly #done = new AbortController();
  #temporary: TemporaryFolder | undefined;
  #renewing: Promise<void> | undefined;

  constructor(api: ApiClient, allocation: AllocationAnswer, terminal: Terminal) {
    this.#api = api;
    this.#allocation = allocation;
    this.#terminal = terminal;
  }

  /** Writes what is needed to reach it, and has it last. @returns the folder. */
  async keep(address: string): Promise<AllocationFolder> {
    this.#temporary = await TemporaryFolder.make(this.#terminal.env);
    const { folder } = this.#temporary;
    await folder.write(this.#allocation, address);
    const signal = AbortSignal.any([this.#done.signal, this.#terminal.signal]);
    this.#renewing = keepRenewing(this.#api, folder, this.#allocation.expiresAt, signal, this.#terminal);
    return folder;
  }

  /** Gives it back, and removes the folder. Never throws for a worker that cannot be given back. */
  async giveBack(): Promise<void> {
    this.#done.abort();
    await this.#renewing;
    const kept = await this.#temporary?.folder.read().catch(() => undefined);
    await release(this.#api, (kept ?? this.#allocation).token, this.#terminal);
    await this.#temporary?.[Symbol.asyncDispose]();
  }
}

/**
 * Gives a worker back. A worker that cannot be given back ends with its lifetime: that is no reason
 * to fail a build.
 */
export async function release(api: ApiClient, token: string, { stderr }: Terminal): Promise<void> {
  try {
    await api.detached().call("POST", "/api/v1/workers/release", { token });
  } catch (error) {
    stderr.write(
      `the worker could not be released: ${error instanceof Error ? error.message : String(error)}\n`,
    );
  }
}

/**
 * Renews an allocation each time that half of what is left is over. A failure is reported, and
 * tried again.
 */
async function keepRenewing(
  api: ApiClient,
  folder: AllocationFolder,
  expiresAt: string,
  signal: AbortSignal,
  { stderr }: Terminal,
): Promise<void> {
  let end = Date.parse(expiresAt);
  while (!signal.aborted) {
    try {
      await sleep(systemClock, Math.max(1_000, (end - Date.now()) / 2), signal);
      const { token, address } = await folder.read();
      const { body } = await api.call("POST", "/api/v1/workers/renew", { token });
      const renewed = allocationSchema.parse(body);
      await folder.write(renewed, address);
      end = Date.parse(renewed.expiresAt);
    } catch (error) {
      if (signal.aborted) return;
      stderr.write(
        `the allocation could not be renewed: ${error instanceof Error ? error.message : String(error)}\n`,
      );
      // It has lasted as long as it may, or its worker is lost: that does not change.
      if (error instanceof RefusedCallError && ["LifetimeExceeded", "WorkerLost"].includes(error.code))
        return;
    }
  }
}
