import type { Json, JsonObject } from "../json.ts";

/**
 * Makes the cells of an object's row, wide columns included. `now` is in milliseconds since the
 * epoch.
 */
export type Cells = (object: JsonObject, now: number) => Json[];

/** How a kind fills the columns of its table. */
export interface KindColumns {
  /** `plural.group`. */
  readonly resource: string;
  readonly cells: Cells;
}
