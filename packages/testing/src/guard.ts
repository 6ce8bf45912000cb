import { type ChildProcess, spawn } from "node:child_process";

/**
 * Ends a program when this process ends without having done so, killed by its test runner for
 * example. The input of the guard ends with this process, however that goes. Goes with the program.
 */
export function guard(program: ChildProcess): ChildProcess {
  const script = 'while read -r _; do :; done; kill -9 "$1" 2>/dev/null';
  const guarding = spawn("/bin/sh", ["-c", script, "windlass-guard", String(program.pid)], {
    detached: true,
    stdio: ["pipe", "ignore", "ignore"],
  });
  guarding.unref();
  // By then the number may be another program's.
  program.once("exit", () => guarding.kill("SIGKILL"));
  return guarding;
}
