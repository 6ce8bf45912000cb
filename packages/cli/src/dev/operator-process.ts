import { type ChildProcess, spawn } from "node:child_process";
import { createInterface } from "node:readline";

/** How long an operator may take to stop: longer than the ten seconds for which webhooks drain. */
const patienceMs = 15_000;

/** What to do with an operator's life and words. */
export interface OperatorHandlers {
  /** A line of its log. */
  readonly onLine: (line: string) => void;
  /** It ended, and nobody asked it to, or it could not be started. */
  readonly onEnd: (how: string) => void;
  /** It was asked to stop, did not, and was killed. */
  readonly onKill: (afterMs: number) => void;
}

/** An operator that runs in a process of its own. */
export class OperatorProcess {
  readonly #child: ChildProcess;
  readonly #ended: Promise<void>;
  readonly #handlers: OperatorHandlers;
  #isStopping = false;

  constructor(main: string, env: NodeJS.ProcessEnv, handlers: OperatorHandlers) {
    this.#handlers = handlers;
    this.#child = spawn(process.execPath, [main], { env, stdio: ["ignore", "pipe", "pipe"] });
    for (const stream of [this.#child.stdout, this.#child.stderr])
      if (stream) createInterface({ input: stream }).on("line", handlers.onLine);
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#ended = promise;
    // Without a listener the whole command would end: there may be no process left to be had.
    this.#child.once("error", (error) => {
      if (this.#child.pid !== undefined) return;
      resolve();
      if (!this.#isStopping) handlers.onEnd(`no process: ${error.message}`);
    });
    this.#child.once("exit", (code, signal) => {
      resolve();
      if (!this.#isStopping) handlers.onEnd(signal === null ? `exit code ${code}` : `signal ${signal}`);
    });
  }

  /** Asks it to stop, as a kubelet does, and resolves when it has. */
  async stop(): Promise<void> {
    this.#isStopping = true;
    this.#child.kill("SIGTERM");
    const timer = setTimeout(() => {
      this.#handlers.onKill(patienceMs);
      this.#child.kill("SIGKILL");
    }, patienceMs);
    await this.#ended;
    clearTimeout(timer);
  }
}
