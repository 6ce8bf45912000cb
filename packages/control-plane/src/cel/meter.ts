import type { Matcher } from "../patterns/index.ts";
import { Walks } from "./walks.ts";

/** What evaluations may cost between two turns of the event loop. */
export const COST_PER_TURN = 50_000;

/**
 * What an evaluation may cost, who matches its patterns, and how far it has come. Running over is
 * an error that no expression can catch.
 */
export class Meter {
  readonly limit: number;
  readonly matcher: Matcher;
  /** Where the walks of the evaluation are, so that one that was interrupted goes on there. */
  readonly walks: Walks;
  spent = 0;

  /**
   * @param options.costPerTurn after so much the evaluation throws `MatchPending`, for others to
   *   have their turn, and is begun again then
   * @default it goes on to its end
   */
  constructor(
    limit: number,
    matcher: Matcher,
    { costPerTurn = Number.POSITIVE_INFINITY }: { readonly costPerTurn?: number } = {},
  ) {
    this.limit = limit;
    this.matcher = matcher;
    this.walks = new Walks(costPerTurn);
  }

  charge(cost: number): void {
    this.spent += cost;
    if (this.spent > this.limit) throw new CostExceeded();
  }

  /** Before the evaluation is begun, for the first time or again. */
  begin(): this {
    this.spent = 0;
    this.walks.begin();
    return this;
  }
}

export class CostExceeded extends Error {
  constructor() {
    super("operation cancelled: actual cost limit exceeded");
    this.name = "CostExceeded";
  }
}
