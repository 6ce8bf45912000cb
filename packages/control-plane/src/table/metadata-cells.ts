import type { PodTemplateSpec } from "@windlass/kinds/builtin";
import type { Json, JsonObject } from "../json.ts";
import { textAt } from "../json-fields.ts";
import { containerCells } from "./cells.ts";
import { since } from "./duration.ts";
import { partAt } from "./fields.ts";

export const name = (of: object) => textAt(of as JsonObject, "metadata", "name");

export const age = (of: object, now: number) => since(created(of), now);

/** Of a kind whose objects make pods. */
export const templateCells = (of: { readonly spec: { readonly template?: PodTemplateSpec } }) =>
  containerCells(partAt(of, "spec", "template", "spec"));

/** The zero of Go's time. */
const beginning = "0001-01-01T00:00:00Z";

const created = (of: object) => textAt(of as JsonObject, "metadata", "creationTimestamp");

/** Name and age, for kinds that show nothing else. */
export function nameAndAge(of: JsonObject, now: number): Json[] {
  return [name(of), age(of, now)];
}

/** Name and the full time of creation: kinds the real server has no table of its own for. */
export function nameAndCreation(of: JsonObject): Json[] {
  return [name(of), created(of) || beginning];
}
