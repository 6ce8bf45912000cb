/** The ports of Buildbarn's programs: those of the original, and of its authors' own manifests. */
export const ports = {
  frontend: 8980,
  /** The same without TLS and tokens, for the scheduler of the set: only where others need them. */
  frontendInternal: 8979,
  storage: 8981,
  schedulerClients: 8982,
  schedulerWorkers: 8983,
  /** BuildQueueState: what waits, and for what. */
  schedulerState: 8984,
  schedulerPage: 7982,
  browser: 7984,
  /** Health, metrics and profiles of every program. */
  diagnostics: 9980,
  /** Those of bb_runner, which shares its pod with bb_worker. */
  runnerDiagnostics: 9987,
} as const;
