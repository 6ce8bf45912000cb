import { Worker } from "node:worker_threads";
import { timedOut } from "../status.ts";
import { PatternError } from "./pattern-error.ts";
import type { MatchResult, Question } from "./re2.ts";
import type { Reply } from "./worker.ts";
import { patternWorkerUrl } from "./worker-url.ts";

/** A question, and the caller that waits for its answer. */
interface Waiting {
  readonly question: Question;
  readonly resolve: (answer: MatchResult | PatternError) => void;
  readonly reject: (error: unknown) => void;
}

type State =
  | { readonly is: "stopped" }
  | { readonly is: "starting" | "idle"; readonly worker: Worker }
  | { readonly is: "asked"; readonly worker: Worker; readonly timer: NodeJS.Timeout };

/**
 * A thread of its own for patterns that take long. Started with the first question; one that is not
 * answered in time costs the thread, and the next question starts another.
 */
export class WorkerThread {
  readonly #patienceMs: number;
  readonly #waiting: Waiting[] = [];
  #state: State = { is: "stopped" };

  /**
   * @param options.patienceMs how long an answer is waited for
   * @default half a minute, as long as clients wait
   */
  constructor({ patienceMs = 30_000 }: { readonly patienceMs?: number } = {}) {
    this.#patienceMs = patienceMs;
  }

  ask(question: Question): Promise<MatchResult | PatternError> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ question, resolve, reject });
      this.#next();
    });
  }

  async close(): Promise<void> {
    const stopped = this.#stop();
    for (const { reject } of this.#waiting.splice(0)) reject(new Error("the control plane is closed"));
    await stopped;
  }

  #next(): void {
    const [first] = this.#waiting;
    if (first === undefined) return;
    if (this.#state.is === "stopped") this.#state = { is: "starting", worker: this.#start() };
    if (this.#state.is !== "idle") return;
    const { worker } = this.#state;
    // The thread keeps the process alive only while a caller waits.
    worker.ref();
    worker.postMessage(first.question);
    this.#state = { is: "asked", worker, timer: setTimeout(() => this.#fail(timedOut()), this.#patienceMs) };
  }

  #start(): Worker {
    const worker = new Worker(patternWorkerUrl());
    worker.on("message", (reply: Reply) => this.#receive(worker, reply));
    worker.on("error", (error) => {
      if (this.#state.is !== "stopped" && this.#state.worker === worker) this.#fail(error);
    });
    return worker;
  }

  #receive(worker: Worker, reply: Reply): void {
    if (this.#state.is === "stopped" || this.#state.worker !== worker) return;
    if (this.#state.is === "asked") clearTimeout(this.#state.timer);
    this.#state = { is: "idle", worker };
    worker.unref();
    if (reply !== "ready") {
      this.#waiting.shift()?.resolve("answer" in reply ? reply.answer : new PatternError(reply.fault));
    }
    this.#next();
  }

  #fail(error: unknown): void {
    void this.#stop();
    this.#waiting.shift()?.reject(error);
    this.#next();
  }

  async #stop(): Promise<void> {
    const state = this.#state;
    this.#state = { is: "stopped" };
    if (state.is === "asked") clearTimeout(state.timer);
    if (state.is !== "stopped") await state.worker.terminate();
  }
}
