/** Shorter than the defaults in the same proportions, so that a takeover takes seconds. */
export const election = {
  name: "chaos",
  leaseDuration: 6_000,
  renewDeadline: 4_000,
  retryPeriod: 1_000,
} as const;
