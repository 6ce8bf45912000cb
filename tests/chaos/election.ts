/** Shorter than the defaults in the same proportions, so that a takeover takes seconds. */
export const election = {
  name: "chaos",
  leaseDurationMs: 6_000,
  renewDeadlineMs: 4_000,
  retryPeriodMs: 1_000,
} as const;
