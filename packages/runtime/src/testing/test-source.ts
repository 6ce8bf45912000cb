import type { AnyKind, ObjectKey } from "@windlass/client";
import { type Clock, ManualClock, type Random, seededRandom } from "@windlass/clock";
import type { CacheReader } from "../cache/contract.ts";
import type { Controller } from "../controller/controller.ts";
import { settings } from "../controller/settings.ts";
import type { Source } from "../controller/source.ts";
import { runSource } from "../controller/source-run.ts";
import { ObjectsInMemory } from "./objects-in-memory.ts";
import { type LoggedLine, recordingLogger } from "./recording-logger.ts";
import type { Existing } from "./test-reconcile.ts";

/** What there is while a source runs. */
export interface SourceGiven {
  /** The objects that it finds in the cache, asked for with each read. @default none */
  readonly cache?: () => readonly Existing[];
  /** The controller whose indexes it may look into. @default it has none */
  readonly controller?: Controller<AnyKind, AnyKind>;
  /** @default one that stands still at 2026-01-01T00:00:00Z */
  readonly clock?: Clock;
  /** @default the same numbers in each run */
  readonly random?: Random;
}

/** A source that runs. Disposing of it stops it, as the end of its controller does. */
export interface SourceTried extends Disposable {
  /** What it has asked for so far, in order: keys, and `all` for every object. */
  readonly asked: readonly (ObjectKey | "all")[];
  readonly logs: readonly LoggedLine[];
  /** Resolves when it has ended: by itself, or because it was stopped. */
  readonly ended: Promise<void>;
}

/**
 * Runs a source with nothing else started, and tells what it asks for. One that fails is started
 * again after a second by the clock, as under a manager.
 *
 * @example
 * const clock = new ManualClock();
 * using tried = testSource(every("1m"), { clock });
 * await clock.advance("2m");
 * expect(tried.asked).toEqual(["all", "all"]);
 */
export function testSource(source: Source, given: SourceGiven = {}): SourceTried {
  const asked: (ObjectKey | "all")[] = [];
  const logs: LoggedLine[] = [];
  const stop = new AbortController();
  const indexes = given.controller?.[settings].indexes ?? [];
  const objects = () => new ObjectsInMemory(given.cache?.() ?? [], "default", indexes);
  const cache: CacheReader = {
    get: (kind, key) => objects().get(kind, key),
    list: (kind, options) => objects().list(kind, options),
    byIndex: (kind, index, value) => objects().byIndex(kind, index, value),
    ownedBy: (kind, uid) => objects().ownedBy(kind, uid),
  };
  const ended = runSource(source, {
    enqueue: (key) => void asked.push(key),
    enqueueAll: () => void asked.push("all"),
    signal: stop.signal,
    cache,
    clock: given.clock ?? new ManualClock(Date.UTC(2026, 0, 1)),
    random: given.random ?? seededRandom(1),
    log: recordingLogger(logs),
  });
  return { asked, logs, ended, [Symbol.dispose]: () => stop.abort(new Error("the test is over")) };
}
