import type { Reader, Writer } from "@windlass/client";
import type { Clock, Random } from "@windlass/clock";
import type { Cache } from "../cache/contract.ts";
import type { Logger } from "../logging/logger.ts";
import type { Registry } from "../metrics/registry.ts";
import type { HealthCheck } from "./health.ts";

/**
 * When a runnable starts and stops, in the order of starting; stopping is the other way round.
 * - `webhook`: before the caches, because listing may need a conversion webhook to answer.
 * - `everywhere`: once the caches are full, on every replica.
 * - `leader`: while this replica leads.
 */
export type Stage = "webhook" | "everywhere" | "leader";

/** What a runnable is handed. */
export interface RunnableContext {
  /**
   * Reads from the cache what the manager caches, and writes. In the `webhook` stage, before there
   * is a cache, it reads from the server; in the `leader` stage its writes are fenced.
   */
  readonly client: Reader & Writer;
  /** All of it, in all namespaces. */
  readonly cache: Cache;
  /**
   * An informer within the manager's namespaces; `cache.informer` knows nothing of them. To be
   * released by the caller.
   */
  readonly informer: Cache["informer"];
  readonly log: Logger;
  readonly metrics: Registry;
  readonly clock: Clock;
  readonly random: Random;
  /** Aborted when the runnable should stop. */
  readonly signal: AbortSignal;
  /** Whether this replica leads at this moment. */
  readonly isLeading: () => boolean;
  /** Adds a named check to `/readyz`. It goes when the runnable stops. */
  readonly addReadyCheck: (name: string, check: HealthCheck) => void;
}

/** Anything that lives with the manager: an HTTP server, a gateway, a cleaner. */
export interface Runnable {
  readonly name: string;
  /** @default "leader" */
  readonly stage?: Stage;
  /**
   * Starts it. Resolves once it serves; what it resolves to is called to stop it. Work that never
   * ends belongs into a promise of its own, ended by `context.signal`.
   */
  start(context: RunnableContext): Stop | void | Promise<Stop> | Promise<void>;
  /**
   * For a server: goes on serving for as long as clients are still sent here. Called as soon as the
   * manager is asked to stop, if `/readyz` has ever passed, for otherwise no client was sent here.
   * Until it resolves, nothing that was started before the controllers is stopped, so that requests
   * find what they need. Not called in the `leader` stage. @default stopped at once
   */
  drain?(): Promise<void>;
}

/** The way to stop a runnable, if it needs more than its signal. */
export type Stop = undefined | (() => void | Promise<void>);
