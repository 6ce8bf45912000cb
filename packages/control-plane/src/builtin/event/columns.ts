import type { Event, EventV1 } from "@windlass/kinds/builtin";
import type { Json } from "../../json.ts";
import { since } from "../../table/duration.ts";
import { countAt, partAt, textAt } from "../../table/fields.ts";
import { name } from "../../table/metadata-cells.ts";

/** An event of either API group: each has some of the fields. */
type AnyEvent = Event & EventV1;

/** An event's row, of either API group's form. */
export function eventCells(of: AnyEvent, now: number): Json[] {
  const regarding = partAt(of, "involvedObject") ?? partAt(of, "regarding");
  const firstAt =
    textAt(of, "firstTimestamp") || textAt(of, "deprecatedFirstTimestamp") || textAt(of, "eventTime");
  const lastAt = textAt(of, "lastTimestamp") || textAt(of, "deprecatedLastTimestamp") || firstAt;
  const series = partAt(of, "series");
  const kind = textAt(regarding, "kind").toLowerCase();
  const target = textAt(regarding, "name");
  return [
    since(series === undefined ? lastAt : textAt(series, "lastObservedTime"), now),
    textAt(of, "type"),
    textAt(of, "reason"),
    target === "" ? kind : `${kind}/${target}`,
    textAt(regarding, "fieldPath"),
    eventSource(of),
    (textAt(of, "message") || textAt(of, "note")).trim(),
    since(firstAt, now),
    series === undefined
      ? countAt(of, "count") || countAt(of, "deprecatedCount") || 1
      : countAt(series, "count"),
    name(of),
  ];
}

function eventSource(of: AnyEvent): string {
  const source = partAt(of, "source") ?? partAt(of, "deprecatedSource");
  const component =
    textAt(source, "component") || textAt(of, "reportingComponent") || textAt(of, "reportingController");
  const instance = textAt(source, "host") || textAt(of, "reportingInstance");
  return instance === "" ? component : `${component}, ${instance}`;
}
