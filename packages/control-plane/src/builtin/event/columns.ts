import type { Json, JsonObject } from "../../json.ts";
import { since } from "../../table/duration.ts";
import { at, number, text } from "../../table/fields.ts";
import { name } from "../../table/metadata-cells.ts";

/** An event's row, of either API group's form. */
export function eventCells(of: JsonObject, now: number): Json[] {
  const regarding = at(of, "involvedObject") ?? at(of, "regarding");
  const firstAt = text(of, "firstTimestamp") || text(of, "deprecatedFirstTimestamp") || text(of, "eventTime");
  const lastAt = text(of, "lastTimestamp") || text(of, "deprecatedLastTimestamp") || firstAt;
  const series = at(of, "series");
  const kind = text(regarding, "kind").toLowerCase();
  const target = text(regarding, "name");
  return [
    since(series === undefined ? lastAt : text(series, "lastObservedTime"), now),
    text(of, "type"),
    text(of, "reason"),
    target === "" ? kind : `${kind}/${target}`,
    text(regarding, "fieldPath"),
    eventSource(of),
    (text(of, "message") || text(of, "note")).trim(),
    since(firstAt, now),
    series === undefined
      ? number(of, "count") || number(of, "deprecatedCount") || 1
      : number(series, "count"),
    name(of),
  ];
}

function eventSource(of: JsonObject): string {
  const source = at(of, "source") ?? at(of, "deprecatedSource");
  const component =
    text(source, "component") || text(of, "reportingComponent") || text(of, "reportingController");
  const instance = text(source, "host") || text(of, "reportingInstance");
  return instance === "" ? component : `${component}, ${instance}`;
}
