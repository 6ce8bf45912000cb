/** What a process ends with. The same for every command, and said in its help. */
export const exitCodes = { done: 0, failed: 1, usage: 2, interrupted: 130 } as const;

/** The command line is invalid. The message says what is wrong with it. */
export class UsageError extends Error {
  override readonly name = "UsageError";
}

/**
 * What was asked for could not be done, for a reason that is no fault of the program: the message
 * says which, and what to do.
 */
export class CommandError extends Error {
  override readonly name = "CommandError";
  readonly exitCode: number;

  /** @param options.exitCode What the process should end with. @default 1 */
  constructor(message: string, options: ErrorOptions & { readonly exitCode?: number } = {}) {
    super(message, options);
    this.exitCode = options.exitCode ?? exitCodes.failed;
  }
}
