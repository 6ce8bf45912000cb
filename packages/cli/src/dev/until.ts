import { setTimeout as delay } from "node:timers/promises";
import { type AnyKind, type Client, ignoreNotFound, type KeyOf, type ObjectOf } from "@windlass/client";

/** How long a wait takes, and what ends it. */
export interface Patience {
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
}

/** The pauses between two looks grow. */
const firstPauseMs = 25;
const longestPauseMs = 500;

/**
 * Looks at an object until `look` makes something of it, from its present state on.
 *
 * @returns what that was; undefined if it took too long
 */
export async function until<K extends AnyKind, R>(
  client: Client,
  kind: K,
  key: KeyOf<K>,
  { timeoutMs, signal }: Patience,
  look: (object: ObjectOf<K> | undefined) => R | undefined,
): Promise<R | undefined> {
  const end = performance.now() + timeoutMs;
  for (let pauseMs: number = firstPauseMs; ; pauseMs = Math.min(pauseMs * 1.5, longestPauseMs)) {
    const found = look(await ignoreNotFound(client.get(kind, key, { signal })));
    if (found !== undefined || performance.now() > end) return found;
    await delay(pauseMs, undefined, { signal });
  }
}
