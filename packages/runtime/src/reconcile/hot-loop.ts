import type { ObjectKey } from "@windlass/client";
import type { Clock } from "@windlass/clock";
import { keyId } from "./client.ts";

/** A write of one reconcile, and the fields that made it necessary. */
export interface FlappingWrite {
  /** What was written, e.g. `Deployment default/web`. */
  readonly target: string;
  /** Asked for only once a loop is suspected: most writes need no explanation. */
  readonly paths: () => readonly string[];
}

/** One object is reconciled over and over, and each reconcile writes. */
export interface HotLoop {
  /**
   * `own`: nothing but the controller's own writes came in between. `shared`: others changed
   * something too.
   */
  readonly cause: "own" | "shared";
  readonly reconciles: number;
  readonly seconds: number;
  /** What is written each time. */
  readonly target: string;
  /** The field that differs most often in the later half of these reconciles. */
  readonly path: string;
}

/** What detecting a reconcile that triggers itself needs. */
export interface HotLoopOptions {
  readonly clock: Clock;
  /**
   * How many writing reconciles of one generation in the window are too many, if nothing but the
   * controller's own writes came in between. Ten times as many are too many in any case.
   *
   * @default 20
   */
  readonly threshold?: number;
  /** @default 60_000 */
  readonly windowMs?: number;
}

interface Track {
  generation: number | undefined;
  readonly at: number[];
  /** How many of these, up to the last one, had nothing but own writes before them. */
  alone: number;
  /**
   * The versions of which watches told since the last writing reconcile; undefined for what has no
   * version.
   */
  readonly heard: Set<string | undefined>;
  /** The versions that this controller wrote last. */
  readonly written: Set<string>;
  readonly flips: Map<string, { readonly target: string; readonly path: string; count: number }>;
  warned: boolean;
}

/**
 * How many of its own versions are remembered of an object's reconciles: watches are not that late.
 */
const MOST_WRITTEN = 100;

/**
 * So many times the threshold are too many even when others write: another program may undo each
 * write.
 */
const SHARED_FACTOR = 10;

/**
 * Notices when a controller feeds itself: the same object at the same generation is reconciled
 * again and again, and each time something is written that brings it back. Reports it once, with
 * the field. A rollout is no loop: others' changes come between the writes.
 *
 * Keeps nothing for objects whose reconciles do not write, nor for long of those that wrote.
 */
export class HotLoopDetector {
  readonly #clock: Clock;
  readonly #threshold: number;
  readonly #windowMs: number;
  /** The object that was written last is last. */
  readonly #tracks = new Map<string, Track>();

  constructor(options: HotLoopOptions) {
    this.#clock = options.clock;
    this.#threshold = options.threshold ?? 20;
    this.#windowMs = options.windowMs ?? 60_000;
  }

  /**
   * A watch reported something that has this object reconciled.
   *
   * @param version the resourceVersion of the change; undefined if it is none of a watch
   */
  heard(key: ObjectKey, version: string | undefined): void {
    if (this.#tracks.size > 0) this.#tracks.get(keyId(key))?.heard.add(version);
  }

  /**
   * Records a reconcile that ended.
   *
   * @param written the resourceVersions that its writes led to
   * @returns the loop, the first time it is seen
   */
  observe(
    key: ObjectKey,
    generation: number | undefined,
    writes: readonly FlappingWrite[],
    written: readonly string[] = [],
  ): HotLoop | undefined {
    if (this.#tracks.size > 0) this.#forgetOld();
    if (writes.length === 0) return undefined;
    const now = this.#clock.monotonic();
    const id = keyId(key);
    let track = this.#tracks.get(id);
    this.#tracks.delete(id);
    if (!track || track.generation !== generation)
      track = {
        generation,
        at: [],
        alone: 0,
        heard: new Set(),
        written: new Set(),
        flips: new Map(),
        warned: false,
      };
    this.#tracks.set(id, track);
    while (track.at[0] !== undefined && track.at[0] < now - this.#windowMs) track.at.shift();
    track.at.push(now);
    const { alone } = this.#count(track, written);
    if (this.#isSuspicious(track)) countFlips(track, writes);
    const isShared = track.at.length > SHARED_FACTOR * this.#threshold;
    if (track.warned || (alone <= this.#threshold && !isShared)) return undefined;
    track.warned = true;
    const reconciles = alone > this.#threshold ? alone : track.at.length;
    const first = track.at.at(-reconciles) ?? now;
    const worst = [...track.flips.values()].reduce<
      { target: string; path: string; count: number } | undefined
    >((most, flip) => (most && most.count >= flip.count ? most : flip), undefined);
    return {
      cause: alone > this.#threshold ? "own" : "shared",
      reconciles,
      seconds: Math.round((now - first) / 100) / 10,
      target: worst?.target ?? writes[0]?.target ?? "",
      path: worst?.path ?? "",
    };
  }

  /** Whether the object is half way to a loop: from then on it is counted which fields differ. */
  #isSuspicious({ alone, at }: Track): boolean {
    return 2 * alone > this.#threshold || 2 * at.length > SHARED_FACTOR * this.#threshold;
  }

  /** Counts a writing reconcile: from the start again if anything but own writes came before it. */
  #count(track: Track, written: readonly string[]): Track {
    for (const version of written) track.written.add(version);
    const isAlone = [...track.heard].every((version) => version !== undefined && track.written.has(version));
    track.heard.clear();
    track.alone = isAlone ? Math.min(track.alone + 1, track.at.length) : 1;
    for (const version of track.written) {
      if (track.written.size <= MOST_WRITTEN) break;
      track.written.delete(version);
    }
    return track;
  }

  /** Forgets a deleted object. */
  forget(key: ObjectKey): void {
    this.#tracks.delete(keyId(key));
  }

  /**
   * Forgets the objects whose last write is out of the window. Writes of a slow loop are not, and
   * add up.
   */
  #forgetOld(): void {
    const since = this.#clock.monotonic() - this.#windowMs;
    for (const [id, { at }] of this.#tracks) {
      if ((at.at(-1) ?? since) >= since) return;
      this.#tracks.delete(id);
    }
  }
}

function countFlips(track: Track, writes: readonly FlappingWrite[]): void {
  for (const { target, paths } of writes) {
    for (const path of paths()) {
      const flip = track.flips.get(`${target} ${path}`) ?? { target, path, count: 0 };
      flip.count += 1;
      track.flips.set(`${target} ${path}`, flip);
    }
  }
}
