import type { ObjectKey } from "@windlass/client";
import type { Clock } from "@windlass/clock";
import { idOf } from "./client.ts";

/** A write of one reconcile, and the fields that made it necessary. */
export interface FlappingWrite {
  /** What was written, e.g. `Deployment default/web`. */
  readonly target: string;
  readonly paths: readonly string[];
}

/** One object is reconciled over and over because of the controller's own writes. */
export interface HotLoop {
  readonly reconciles: number;
  readonly seconds: number;
  /** What is written each time. */
  readonly target: string;
  /** The field that differs most often. */
  readonly path: string;
}

export interface HotLoopOptions {
  readonly clock: Clock;
  /** How many writing reconciles of one generation in the window are too many. @default 20 */
  readonly threshold?: number;
  /** @default 60_000 */
  readonly windowMs?: number;
}

interface Track {
  generation: number | undefined;
  readonly at: number[];
  readonly flips: Map<string, { readonly target: string; readonly path: string; count: number }>;
  warned: boolean;
}

/**
 * Notices when a controller feeds itself: the same object at the same generation is reconciled again and again, and each time something is
 * written that brings it back. Says so once, and names the field, so that one log line replaces an afternoon.
 *
 * Keeps nothing for objects whose reconciles do not write.
 */
export class HotLoopDetector {
  readonly #clock: Clock;
  readonly #threshold: number;
  readonly #windowMs: number;
  readonly #tracks = new Map<string, Track>();

  constructor(options: HotLoopOptions) {
    this.#clock = options.clock;
    this.#threshold = options.threshold ?? 20;
    this.#windowMs = options.windowMs ?? 60_000;
  }

  /** Tells of a reconcile that ended. @returns the loop, the first time it is seen. */
  observe(
    key: ObjectKey,
    generation: number | undefined,
    writes: readonly FlappingWrite[],
  ): HotLoop | undefined {
    const id = idOf(key);
    if (writes.length === 0) {
      this.#settle(id);
      return undefined;
    }
    const now = this.#clock.monotonic();
    let track = this.#tracks.get(id);
    if (!track || track.generation !== generation) {
      track = { generation, at: [], flips: new Map(), warned: false };
      this.#tracks.set(id, track);
    }
    while (track.at[0] !== undefined && track.at[0] < now - this.#windowMs) track.at.shift();
    if (track.at.length === 0) {
      track.flips.clear();
      track.warned = false;
    }
    track.at.push(now);
    for (const { target, paths } of writes) {
      for (const path of paths) {
        const flip = track.flips.get(`${target} ${path}`) ?? { target, path, count: 0 };
        flip.count += 1;
        track.flips.set(`${target} ${path}`, flip);
      }
    }
    if (track.warned || track.at.length <= this.#threshold) return undefined;
    track.warned = true;
    const worst = [...track.flips.values()].reduce<
      { target: string; path: string; count: number } | undefined
    >((most, flip) => (most && most.count >= flip.count ? most : flip), undefined);
    return {
      reconciles: track.at.length,
      seconds: Math.round((now - (track.at[0] ?? now)) / 100) / 10,
      target: worst?.target ?? writes[0]?.target ?? "",
      path: worst?.path ?? "",
    };
  }

  /** Forgets an object that is gone. */
  forget(key: ObjectKey): void {
    this.#tracks.delete(idOf(key));
  }

  /** A reconcile that wrote nothing ends a loop; forgotten once the window has passed, so that a slow loop still adds up. */
  #settle(id: string): void {
    const last = this.#tracks.get(id)?.at.at(-1);
    if (last !== undefined && last < this.#clock.monotonic() - this.#windowMs) this.#tracks.delete(id);
  }
}
