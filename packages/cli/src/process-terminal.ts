import type { Terminal } from "./terminal.ts";

/**
 * This process's own terminal. Ctrl-C and SIGTERM ask it to end, and so does a reader of its output
 * that goes away.
 */
export function processTerminal(): Terminal {
  const stop = new AbortController();
  for (const signal of ["SIGINT", "SIGTERM"] as const)
    process.once(signal, () => stop.abort(new Error(`received ${signal}`)));
  // `windlass top | head` has read enough. That is no fault, but nobody is left to write for.
  for (const output of [process.stdout, process.stderr])
    output.on("error", (error: NodeJS.ErrnoException) => {
      if (error.code !== "EPIPE") throw error;
      stop.abort(error);
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
