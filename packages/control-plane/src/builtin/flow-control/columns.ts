import type { FlowSchema, PriorityLevelConfiguration } from "@windlass/kinds/builtin";
import type { Json } from "../../json.ts";
import { countAt, itemsAt, partAt, shown, textAt } from "../../table/fields.ts";
import { age, name } from "../../table/metadata-cells.ts";

/** A FlowSchema's row. */
export function flowSchemaCells(of: FlowSchema, now: number): Json[] {
  const dangling = itemsAt(of, "status", "conditions").find((each) => textAt(each, "type") === "Dangling");
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
export function priorityLevelCells(of: PriorityLevelConfiguration, now: number): Json[] {
  const limited = partAt(of, "spec", "limited");
  const queuing = partAt(limited, "limitResponse", "queuing");
  const inQueues = (field: "handSize" | "queueLengthLimit" | "queues"): Json =>
    queuing === undefined ? "<none>" : countAt(queuing, field);
  return [
    name(of),
    textAt(of, "spec", "type"),
    limited === undefined ? "<none>" : countAt(limited, "nominalConcurrencyShares"),
    inQueues("queues"),
    inQueues("handSize"),
    inQueues("queueLengthLimit"),
    age(of, now),
  ];
}
