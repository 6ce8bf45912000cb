import { type ChildProcess, spawn } from "node:child_process";
import { createInterface } from "node:readline";

/** How long an operator may take to stop. */
const patienceMs = 10_000;

/** What to do with an operator's life and words. */
export interface OperatorHandlers {
  /** A line of its log. */
  readonly onLine: (line: string) => void;
  /** It ended, and nobody asked it to. */
  readonly onEnd: (how: string) => void;
}

/** An operator that runs in a process of its own. */
export class OperatorProcess {
  readonly #child: ChildProcess;
  readonly #ended: Promise<void>;
  #isStopping = false;

  constructor(main: string, env: NodeJS.ProcessEnv, handlers: OperatorHandlers) {
    this.#child = spawn(process.execPath, [main], { env, stdio: ["ignore", "pipe", "pipe"] });
    for (const stream of [this.#child.stdout, this.#child.stderr])
      if (stream) createInterface({ input: stream }).on("line", handlers.onLine);
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#ended = promise;
    this.#child.once("exit", (code, signal) => {
      resolve();
      if (!this.#isStopping) handlers.onEnd(signal === null ? `exit code ${code}` : `signal ${signal}`);
    });
  }

  /** Asks it to stop, as a kubelet does, and resolves when it has. */
  async stop(): Promise<void> {
    this.#isStopping = true;
    this.#child.kill("SIGTERM");
    const timer = setTimeout(() => this.#child.kill("SIGKILL"), patienceMs);
    await this.#ended;
    clearTimeout(timer);
  }
}
