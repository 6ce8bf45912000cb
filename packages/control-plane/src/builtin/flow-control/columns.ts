import type { Json, JsonObject } from "../../json.ts";
import { countAt, listAt, textAt, valueAt } from "../../json-fields.ts";
import { shown } from "../../table/cells.ts";
import { age, name } from "../../table/metadata-cells.ts";

/** A FlowSchema's row. */
export function flowSchemaCells(of: JsonObject, now: number): Json[] {
  const dangling = listAt(of, "status", "conditions").find((each) => textAt(each, "type") === "Dangling");
  return [
    name(of),
    textAt(of, "spec", "priorityLevelConfiguration", "name"),
    countAt(of, "spec", "matchingPrecedence"),
    shown("<none>", of, "spec", "distinguisherMethod", "type"),
    age(of, now),
    dangling === undefined ? "?" : textAt(dangling, "status"),
  ];
}

/** A PriorityLevelConfiguration's row. */
export function priorityLevelCells(of: JsonObject, now: number): Json[] {
  const limited = valueAt(of, "spec", "limited");
  const queuing = valueAt(limited, "limitResponse", "queuing");
  const field = (from: Json | undefined, key: string): Json =>
    from === undefined ? "<none>" : countAt(from, key);
  return [
    name(of),
    textAt(of, "spec", "type"),
    field(limited, "nominalConcurrencyShares"),
    field(queuing, "queues"),
    field(queuing, "handSize"),
    field(queuing, "queueLengthLimit"),
    age(of, now),
  ];
}
