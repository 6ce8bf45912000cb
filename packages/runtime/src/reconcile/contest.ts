/** What is remembered of a child that another program applies too. */
export type Contest =
  /** It was lost to another, and taken back, at these times. */
  | { readonly is: "taken back"; readonly lostAt: readonly number[] }
  /** It was lost again and again: left to the other until then. */
  | { readonly is: "left"; readonly until: number; readonly pauseMs: number }
  /** It was taken back after such a pause. */
  | { readonly is: "tried"; readonly at: number; readonly pauseMs: number };

/** So many losses within the window are a contest: fewer are a restart, a rollout, a developer. */
export const mostLosses = 3;

const windowMs = 10 * 60_000;
const firstPauseMs = 60_000;
const longestPauseMs = 3_600_000;

/**
 * Decides what to do about a child that another program has applied since this one did. Pure.
 *
 * Two programs that want one object would undo each other as fast as their watches tell them. Each
 * takes it back a few times; then it leaves it to the other, and tries again after longer and
 * longer pauses, so that it has the object again some time after the other no longer wants it.
 *
 * @param before undefined if it was not lost before
 * @param now of a monotonic clock
 */
export function afterLoss(
  before: Contest | undefined,
  now: number,
): { readonly contest: Contest; readonly isTaken: boolean } {
  switch (before?.is) {
    case "left":
      return now < before.until
        ? { contest: before, isTaken: false }
        : { contest: { is: "tried", at: now, pauseMs: before.pauseMs }, isTaken: true };
    case "tried":
      // It was kept for longer than the last pause: that was not the same contest.
      if (now - before.at > Math.max(before.pauseMs, windowMs)) return afterLoss(undefined, now);
      return { contest: left(now, Math.min(2 * before.pauseMs, longestPauseMs)), isTaken: false };
    default: {
      const lostAt = [...(before?.lostAt ?? []).filter((at) => now - at <= windowMs), now];
      if (lostAt.length >= mostLosses) return { contest: left(now, firstPauseMs), isTaken: false };
      return { contest: { is: "taken back", lostAt }, isTaken: true };
    }
  }
}

function left(now: number, pauseMs: number): Contest {
  return { is: "left", until: now + pauseMs, pauseMs };
}
