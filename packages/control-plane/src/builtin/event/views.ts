import type { JsonObject } from "../../json.ts";

/** What `events.k8s.io/v1` calls the fields of a core event. */
const modernNames: { readonly [core: string]: string } = {
  involvedObject: "regarding",
  message: "note",
  source: "deprecatedSource",
  firstTimestamp: "deprecatedFirstTimestamp",
  lastTimestamp: "deprecatedLastTimestamp",
  count: "deprecatedCount",
  reportingComponent: "reportingController",
};
const coreNames: { readonly [modern: string]: string } = Object.fromEntries(
  Object.entries(modernNames).map(([core, modern]) => [modern, core]),
);

/** An `events.k8s.io/v1` event as it is stored: as one of the core group. */
export function eventToStored(object: JsonObject): JsonObject {
  return { ...renamed(object, coreNames), apiVersion: "v1" };
}

/** A stored event as `events.k8s.io/v1` shows it. */
export function eventFromStored(object: JsonObject): JsonObject {
  return { ...renamed(object, modernNames), apiVersion: "events.k8s.io/v1" };
}

function renamed(object: JsonObject, names: { readonly [name: string]: string }): JsonObject {
  return Object.fromEntries(
    Object.entries(object).map(([name, value]) => [
      Object.hasOwn(names, name) ? (names[name] as string) : name,
      value,
    ]),
  );
}
