import type { AnyKind } from "@windlass/client";
import type { InformerScope } from "./contract.ts";

/** Which informer a figure is about. */
export interface InformerLabels {
  readonly kind: AnyKind;
  readonly scope: InformerScope;
}

/**
 * Hears what the cache does. Levels, such as the number of objects, are read from `stats()`
 * instead.
 */
export interface CacheObserver {
  /** The current objects have been received in full, again or for the first time. */
  listed?(labels: InformerLabels, seconds: number, how: "stream" | "pages"): void;
  /** A watch was opened after an earlier one had ended. */
  watchRestarted?(labels: InformerLabels): void;
  /** A request failed; it is tried again. */
  failed?(labels: InformerLabels, message: string): void;
  /** An object was added, updated or deleted in the store. */
  changed?(labels: InformerLabels, type: "added" | "updated" | "deleted"): void;
}

/** How an informer stands. */
export interface InformerStats extends InformerLabels {
  readonly items: number;
  /** Bytes of JSON held. */
  readonly bytes: number;
  /** Own writes that the watch has not brought yet. */
  readonly pendingWrites: number;
  /** Seconds since the server last gave a sign of life. */
  readonly staleSeconds: number;
  readonly resourceVersion: string | undefined;
  readonly status: InformerStatus;
}

/** What an informer is doing, and what is wrong if something is. */
export interface InformerStatus {
  readonly at: "starting" | "listing" | "watching" | "waiting" | "missing" | "stopped";
  /** One line for people. */
  readonly message: string;
}
