import type { Walk } from "./syntax.ts";

/**
 * What a macro costs beyond what it evaluates: once, and for each item. Estimates and evaluation
 * share these.
 */
export interface WalkCost {
  readonly once: number;
  readonly each: number;
}

export const WALK_COSTS: { readonly [walk in Walk]: WalkCost } = {
  all: { once: 1, each: 3 },
  exists: { once: 1, each: 4 },
  exists_one: { once: 2, each: 2 },
  map: { once: 11, each: 12 },
  filter: { once: 11, each: 13 },
  sortBy: { once: 11, each: 24 },
  transformList: { once: 11, each: 12 },
  transformMap: { once: 31, each: 2 },
  transformMapEntry: { once: 31, each: 2 },
};

export const LIST_COST = 10;
export const MAP_COST = 30;

/** The most one evaluation of one rule may cost. */
export const CALL_LIMIT = 1_000_000;
/** The most all rules of one object may cost. */
export const OBJECT_LIMIT = 10_000_000;
/** The most a rule may be estimated to cost, over all places its schema allows it to run at. */
export const ESTIMATE_LIMIT = 10_000_000;
/** The most all rules of one schema may be estimated to cost. */
export const SCHEMA_ESTIMATE_LIMIT = 100_000_000;
