import { Session } from "node:inspector";

/**
 * Counts what runs between two turns of the event loop: how often functions are called and branches
 * taken, as V8 counts them for coverage. The same work always has the same count, however busy the
 * machine is. Only code that is loaded after the start is counted by its branches, and what engines
 * do by themselves, such as reading JSON, is not counted at all.
 */
export class WorkCounter {
  readonly #session = new Session();

  constructor() {
    this.#session.connect();
    this.#post("Profiler.enable");
    this.#post("Profiler.startPreciseCoverage", { callCount: true, detailed: true });
  }

  /** The most that runs in one turn while `work` is done. */
  async most(work: () => unknown): Promise<number> {
    this.#take();
    let most = 0;
    const look = () => {
      most = Math.max(most, this.#take());
    };
    let next = setImmediate(function tick() {
      look();
      next = setImmediate(tick);
    });
    try {
      await work();
      look();
    } finally {
      clearImmediate(next);
    }
    return most;
  }

  /** What has run since it was last asked. */
  #take(): number {
    let work = 0;
    const { result } = this.#post("Profiler.takePreciseCoverage") as Coverage;
    for (const { functions } of result)
      for (const { ranges } of functions) for (const { count } of ranges) work += count;
    return work;
  }

  #post(method: string, parameters: object = {}): unknown {
    let answer: unknown;
    // In the same process it is answered before the call returns.
    this.#session.post(method, parameters, (error, result) => {
      if (error) throw new Error(`${method}: ${error.message}`);
      answer = result;
    });
    return answer;
  }
}

interface Coverage {
  readonly result: readonly {
    readonly functions: readonly { readonly ranges: readonly { readonly count: number }[] }[];
  }[];
}
