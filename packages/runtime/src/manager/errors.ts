/**
 * A port that the manager should listen on is taken, or may not be had. The message names the
 * option to change.
 */
export class PortError extends Error {
  override readonly name = "PortError";
  readonly code = "PORT_UNAVAILABLE";
}

/**
 * Something that was added to the manager could not start, and nothing works without it. `cause` is
 * what it threw.
 */
export class RunnableError extends Error {
  override readonly name = "RunnableError";
  readonly code = "RUNNABLE_FAILED";
}
