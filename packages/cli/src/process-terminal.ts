import { exitCodes } from "./errors.ts";
import { explainSystemError } from "./system-error.ts";
import type { Terminal } from "./terminal.ts";

/**
 * This process's own terminal. Ctrl-C and SIGTERM ask it to end, and so does a reader of its output
 * that goes away.
 */
export function processTerminal(): Terminal {
  const stop = new AbortController();
  for (const signal of ["SIGINT", "SIGTERM"] as const)
    process.once(signal, () => stop.abort(new Error(`received ${signal}`)));
  for (const [name, output] of [
    ["standard output", process.stdout],
    ["standard error", process.stderr],
  ] as const)
    output.on("error", (error: NodeJS.ErrnoException) => {
      // `windlass top | head` has read enough. That is no fault, but nobody is left to write for.
      if (error.code === "EPIPE") return stop.abort(error);
      process.stderr.write(`error: ${name} could not be written: ${explainSystemError(error)}\n`);
      process.exit(exitCodes.failed);
    });
  return {
    stdout: process.stdout,
    stderr: process.stderr,
    stdin: process.stdin,
    env: process.env,
    folder: process.cwd(),
    signal: stop.signal,
  };
}
