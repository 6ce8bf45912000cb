/** What the program ends with, besides what every program of this house does. */
export const buildkitExitCodes = {
  /** Who you are is not known, or you may not. */
  refused: 3,
  /** The API, or a worker, cannot be had at present. */
  unavailable: 4,
} as const;
