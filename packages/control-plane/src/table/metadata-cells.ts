import type { Json, JsonObject } from "../json.ts";
import { textAt, valueAt } from "../json-fields.ts";
import { containerCells } from "./cells.ts";
import { since } from "./duration.ts";

export const name = (of: JsonObject) => textAt(of, "metadata", "name");

export const age = (of: JsonObject, now: number) => since(textAt(of, "metadata", "creationTimestamp"), now);

export const templateCells = (of: JsonObject) => containerCells(valueAt(of, "spec", "template", "spec"));

/** The zero of Go's time. */
const beginning = "0001-01-01T00:00:00Z";

const created = (of: JsonObject) => textAt(of, "metadata", "creationTimestamp");

/** Name and age, for kinds that show nothing else. */
export function nameAndAge(of: JsonObject, now: number): Json[] {
  return [name(of), age(of, now)];
}

/** Name and the full time of creation: kinds the real server has no table of its own for. */
export function nameAndCreation(of: JsonObject): Json[] {
  return [name(of), created(of) || beginning];
}
