import type { Json, JsonObject } from "../../json.ts";
import { at, list, number, shown, text } from "../../table/fields.ts";
import { age, name } from "../../table/metadata-cells.ts";

/** A FlowSchema's row. */
export function flowSchemaCells(of: JsonObject, now: number): Json[] {
  const dangling = list(of, "status", "conditions").find((each) => text(each, "type") === "Dangling");
  return [
    name(of),
    text(of, "spec", "priorityLevelConfiguration", "name"),
    number(of, "spec", "matchingPrecedence"),
    shown("<none>", of, "spec", "distinguisherMethod", "type"),
    age(of, now),
    dangling === undefined ? "?" : text(dangling, "status"),
  ];
}

/** A PriorityLevelConfiguration's row. */
export function priorityLevelCells(of: JsonObject, now: number): Json[] {
  const limited = at(of, "spec", "limited");
  const queuing = at(limited, "limitResponse", "queuing");
  const field = (from: Json | undefined, key: string): Json =>
    from === undefined ? "<none>" : number(from, key);
  return [
    name(of),
    text(of, "spec", "type"),
    field(limited, "nominalConcurrencyShares"),
    field(queuing, "queues"),
    field(queuing, "handSize"),
    field(queuing, "queueLengthLimit"),
    age(of, now),
  ];
}
