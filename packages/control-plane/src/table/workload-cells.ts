import type { JsonObject } from "../json.ts";
import { since } from "./duration.ts";
import { at, containerCells, text } from "./fields.ts";

export const name = (of: JsonObject) => text(of, "metadata", "name");
export const age = (of: JsonObject, now: number) => since(text(of, "metadata", "creationTimestamp"), now);
export const templateCells = (of: JsonObject) => containerCells(at(of, "spec", "template", "spec"));
