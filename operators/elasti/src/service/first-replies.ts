import type { Clock } from "@windlass/clock";

/**
 * Waits for answers that come one by one, and for no longer than a moment after the first of them:
 * one that does not answer must not hold up a decision that needs no answer from all.
 *
 * @returns the answers in their order, `missing` for each that has not come.
 */
export async function firstReplies<T>(
  asked: readonly Promise<T>[],
  missing: (index: number) => T,
  { clock, graceMs }: { readonly clock: Clock; readonly graceMs: number },
): Promise<readonly T[]> {
  const replies = asked.map((_, index) => missing(index));
  const over = Promise.withResolvers<void>();
  let left = asked.length;
  let cancel: (() => void) | undefined;
  if (left === 0) return replies;
  for (const [index, reply] of asked.entries())
    void reply.then(
      (value) => {
        replies[index] = value;
        left -= 1;
        if (left === 0) over.resolve();
        else cancel ??= clock.schedule(graceMs, () => over.resolve());
      },
      (error: unknown) => over.reject(error),
    );
  try {
    await over.promise;
  } finally {
    cancel?.();
  }
  return [...replies];
}
