import type { Terminal } from "./terminal.ts";

/** This process's own terminal. Ctrl-C and SIGTERM ask it to end. */
export function processTerminal(): Terminal {
  const stop = new AbortController();
  for (const signal of ["SIGINT", "SIGTERM"] as const)
    process.once(signal, () => stop.abort(new Error(`received ${signal}`)));
  return {
    stdout: process.stdout,
    stderr: process.stderr,
    stdin: process.stdin,
    env: process.env,
    folder: process.cwd(),
    signal: stop.signal,
  };
}
