import { type ChildProcess, spawn } from "node:child_process";
import { guard } from "./guard.ts";

/**
 * One program, whose output goes to a log file. It runs at once, ends with this process, and may be
 * started again.
 */
export class Program {
  readonly #command: readonly string[];
  #process: ChildProcess;

  constructor(program: string, log: string, flags: readonly string[]) {
    this.#command = [log, program, ...flags];
    this.#process = this.#launch();
  }

  get hasEnded(): boolean {
    return this.#process.exitCode !== null || this.#process.signalCode !== null;
  }

  start(): void {
    this.#process = this.#launch();
  }

  async end(): Promise<void> {
    if (this.hasEnded) return;
    const gone = new Promise<void>((resolve) => {
      this.#process.once("exit", () => resolve());
    });
    this.#process.kill("SIGKILL");
    await gone;
  }

  #launch(): ChildProcess {
    // The shell only joins output and log file; exec makes the program itself the child.
    const script = 'log="$1"; shift; exec "$@" >>"$log" 2>&1';
    const launched = spawn("/bin/sh", ["-c", script, "sh", ...this.#command], { stdio: "ignore" });
    if (launched.pid !== undefined) guard(launched);
    return launched;
  }
}
