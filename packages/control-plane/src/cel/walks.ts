import { MatchPending } from "../patterns/index.ts";
import { nextTurn } from "../steps.ts";
import { shownText } from "./library/strings.ts";
import type { Walk } from "./syntax.ts";
import { CelError, CelMap, compare, NoSuchOverload, type Value } from "./values.ts";

/** What an evaluation has spent, and where its walks are. */
interface Spending {
  spent: number;
  readonly walks: Walks;
}

/**
 * The walks of one evaluation, which take all of the time that it may take. One that is interrupted
 * is begun again from the start, as expressions are not made to stop in the middle. What its walks
 * have found so far is kept: so it comes quickly to where it was.
 */
export class Walks {
  readonly #costPerTurn: number;
  readonly #outermost = new Frame();
  #frame: Frame = this.#outermost;
  #spentAtTurn = 0;

  constructor(costPerTurn: number) {
    this.#costPerTurn = costPerTurn;
  }

  begin(): void {
    this.#frame = this.#outermost;
    this.#outermost.next = 0;
  }

  /** Whether others should have their turn now. */
  isTurnOver(spent: number): boolean {
    if (spent - this.#spentAtTurn < this.#costPerTurn) return false;
    this.#spentAtTurn = spent;
    return true;
  }

  /** Enters the item of a walk: walks within it have a frame of their own. */
  enter(frame: Frame): void {
    this.#frame = frame;
    frame.next = 0;
  }

  /**
   * Runs a walk, goes on with one that was interrupted, or gives what it has found before.
   *
   * @throws MatchPending
   */
  run(meter: Spending, start: () => WalkProgress, goOn: (progress: WalkProgress) => Value): Value {
    const frame = this.#frame;
    const known = frame.ended[frame.next++];
    if (known !== undefined) {
      meter.spent = known.spent;
      if ("failure" in known) throw known.failure;
      return known.value;
    }
    try {
      if (frame.open === undefined) frame.open = start();
      else meter.spent = frame.open.spent;
      const value = goOn(frame.open);
      frame.ended.push({ value, spent: meter.spent });
      frame.open = undefined;
      return value;
    } catch (error) {
      if (error instanceof CelError) {
        frame.ended.push({ failure: error, spent: meter.spent });
        frame.open = undefined;
      }
      throw error;
    } finally {
      this.#frame = frame;
    }
  }
}

/** What a walk has found, and what was spent when it had. */
type EndedWalk = { readonly spent: number } & ({ readonly value: Value } | { readonly failure: CelError });

/** The walks next to one another in an expression, or in what is done with an item of a walk. */
class Frame {
  readonly ended: EndedWalk[] = [];
  /** The one that was interrupted. */
  open: WalkProgress | undefined;
  /** Which of them comes next. */
  next = 0;

  clear(): void {
    if (this.ended.length > 0) this.ended.length = 0;
    this.open = undefined;
  }
}

/** How far a walk has come, and what it has found. */
export class WalkProgress {
  readonly pairs: readonly (readonly [Value, Value])[];
  readonly isMap: boolean;
  readonly list: Value[] = [];
  readonly map = new CelMap();
  readonly keyed: { readonly item: Value; readonly key: Value }[] = [];
  readonly #within = new Frame();
  index = 0;
  count = 0;
  /** What was spent when its item began. */
  spent = 0;
  failure: CelError | undefined;

  /** @throws NoSuchOverload for what cannot be walked */
  constructor(container: Value) {
    this.isMap = container instanceof CelMap;
    if (container instanceof CelMap) this.pairs = container.pairs();
    else if (Array.isArray(container))
      this.pairs = container.map((item, index) => [BigInt(index), item] as const);
    else throw new NoSuchOverload();
  }

  /** @throws MatchPending where others should have their turn first */
  beginItem(meter: Spending): void {
    this.spent = meter.spent;
    if (meter.walks.isTurnOver(meter.spent)) throw new MatchPending(nextTurn);
    meter.walks.enter(this.#within);
  }

  endItem(): void {
    this.#within.clear();
  }
}

/** An item of a walk. */
interface Visited {
  readonly key: Value;
  readonly item: Value;
  /** What the expression says of it. */
  readonly body: () => Value;
}

/** Takes an item into account. @returns the result of the walk, if it settles that */
export function visit(walk: Walk, progress: WalkProgress, { key, item, body }: Visited): Value | undefined {
  switch (walk) {
    case "all":
    case "exists":
      try {
        return truth(body()) === (walk === "exists") ? walk === "exists" : undefined;
      } catch (error) {
        if (!(error instanceof CelError)) throw error;
        // An error counts only when no item settles the matter.
        progress.failure ??= error;
        return undefined;
      }
    case "exists_one":
      if (truth(body())) progress.count++;
      return undefined;
    case "sortBy":
      progress.keyed.push({ item, key: body() });
      return undefined;
    case "filter":
      progress.list.push(item);
      return undefined;
    case "map":
    case "transformList":
      progress.list.push(body());
      return undefined;
    case "transformMap":
      progress.map.set(key, body());
      return undefined;
    case "transformMapEntry":
      addAll(progress.map, body());
      return undefined;
  }
}

function addAll(map: CelMap, added: Value): void {
  if (!(added instanceof CelMap)) return;
  for (const [name, entry] of added.pairs()) {
    if (map.has(name)) throw new CelError(`insert failed: key ${shownText(name)} already exists`);
    map.set(name, entry);
  }
}

/** What a walk that came to its end has found. */
export function resultOf(walk: Walk, { failure, count, keyed, list, map }: WalkProgress): Value {
  switch (walk) {
    case "all":
    case "exists":
      if (failure !== undefined) throw failure;
      return walk === "all";
    case "exists_one":
      return count === 1;
    case "sortBy":
      return keyed.sort((a, b) => compare(a.key, b.key) ?? 0).map(({ item }) => item);
    case "filter":
    case "map":
    case "transformList":
      return list;
    case "transformMap":
    case "transformMapEntry":
      return map;
  }
}

/** @throws NoSuchOverload where it is no truth value */
export function truth(value: Value): boolean {
  if (typeof value !== "boolean") throw new NoSuchOverload();
  return value;
}
