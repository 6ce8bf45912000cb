/**
 * Work that may have to wait in the middle: it yields what must be done first. Work that never has
 * to is one synchronous step, which a promise would not be.
 */
export type Steps<T> = Generator<() => Promise<void>, T, void>;

/** Runs work to its end. @returns a promise only if the work had to wait */
export function finish<T>(steps: Steps<T>): T | Promise<T> {
  const first = steps.next();
  return first.done ? first.value : finishLater(steps, first.value);
}

async function finishLater<T>(steps: Steps<T>, wait: () => Promise<void>): Promise<T> {
  await wait();
  for (let next = steps.next(); ; next = steps.next()) {
    if (next.done) return next.value;
    await next.value();
  }
}

/**
 * Runs work that has no reason to wait.
 *
 * @throws Error if it still waits, which is a defect of the caller
 */
export function finishNow<T>(steps: Steps<T>): T {
  const { done, value } = steps.next();
  if (!done) throw new Error("synchronous work had to wait");
  return value;
}

/** Waits for a promise in the middle of steps. @throws what the promise is rejected with */
export function* waitFor<T>(promise: Promise<T>): Steps<T> {
  let outcome: PromiseSettledResult<T> | undefined;
  yield async () => {
    [outcome] = await Promise.allSettled([promise]);
  };
  if (outcome?.status !== "fulfilled") throw outcome?.reason;
  return outcome.value;
}

/** Gives everything else a turn in the middle of slow steps. */
export function* turnIf(isSlow: boolean | undefined): Steps<void> {
  if (isSlow) yield nextTurn;
}

/**
 * How much is done between two turns of the event loop, in the middle of slow steps: by count and
 * not by the clock, so that the same work always takes the same turns.
 */
export class TurnBudget {
  /** The objects that were found to be large, for the counting of parts. */
  readonly wide = new WeakMap<object, number>();
  readonly #perTurn: number;
  #left: number;

  constructor(perTurn: number) {
    this.#perTurn = perTurn;
    this.#left = perTurn;
  }

  /** Counts work. @returns whether everything else should have a turn now */
  spend(work: number): boolean {
    this.#left -= work;
    if (this.#left > 0) return false;
    this.#left = this.#perTurn;
    return true;
  }
}

/** Lets everything else that is ready have its turn. */
export function nextTurn(): Promise<void> {
  return new Promise((resolve) => {
    setImmediate(resolve);
  });
}
