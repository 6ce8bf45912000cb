import { equal, type JsonObject } from "../../json.ts";
import { field, hasAt, metadataOf, numberAt, objectAt, textAt } from "../../json-fields.ts";
import type { Strategy } from "../../registry/strategy.ts";
import { invalid } from "../../status.ts";
import { Faults, immutable } from "../../validation/faults.ts";
import { qualifiedName } from "../../validation/names.ts";
import { eventFromStored, eventToStored } from "./views.ts";

// In bytes, though the messages speak of characters.
const longest = 128;
const longestNote = 1024;

/** Events as the core group has always had them: little is asked of them. */
export const event: Strategy = {
  createOnUpdate: true,
  selectableFields: [
    "involvedObject.kind",
    "involvedObject.namespace",
    "involvedObject.name",
    "involvedObject.uid",
    "involvedObject.apiVersion",
    "involvedObject.resourceVersion",
    "involvedObject.fieldPath",
    "reason",
    "reportingComponent",
    "source",
    "type",
  ],
  validate: (object) => legacyFaults(object, "reportingComponent").causes,
  validateUpdate: (next) => legacyFaults(next, "reportingComponent").causes,
};

/** Events of `events.k8s.io`, another view of the same objects, with rules of its own. */
export const modernEvent: Strategy = {
  createOnUpdate: true,
  selectableFields: [
    "regarding.kind",
    "regarding.namespace",
    "regarding.name",
    "regarding.uid",
    "regarding.apiVersion",
    "regarding.resourceVersion",
    "regarding.fieldPath",
    "reason",
    "reportingController",
    "type",
  ],
  validate: (object) => {
    const stored = eventToStored(object);
    const faults = legacyFaults(stored, "reportingController");
    checkModern(faults, stored);
    refuse(faults, stored);
    return [];
  },
  validateUpdate: (next, live) => {
    const [now, before] = [eventToStored(next), eventToStored(live)];
    const faults = legacyFaults(now, "reportingController");
    for (const part of frozen) {
      if (!equal(field(now, part) ?? null, field(before, part) ?? null)) {
        faults.invalid(part, field(now, part) ?? "", immutable);
      }
    }
    refuse(faults, now);
    return [];
  },
};

export { eventFromStored, eventToStored };

const frozen = [
  "involvedObject",
  "reason",
  "message",
  "source",
  "firstTimestamp",
  "lastTimestamp",
  "count",
  "type",
  "eventTime",
  "action",
  "related",
  "reportingComponent",
  "reportingInstance",
];

/** The real server calls them by the core group's name, whichever way they came. */
function refuse(faults: Faults, object: JsonObject): void {
  if (faults.none) return;
  throw invalid({ group: "", kind: "Event" }, textAt(metadataOf(object), "name"), faults.causes);
}

function legacyFaults(object: JsonObject, controllerField: string): Faults {
  const faults = new Faults();
  const namespace = textAt(metadataOf(object), "namespace");
  const about = textAt(objectAt(object, "involvedObject"), "namespace");
  const matches = about === "" ? namespace === "" || namespace === "default" : about === namespace;
  if (!matches) faults.invalid("involvedObject.namespace", about, "does not match event.namespace");
  if (!hasAt(object, "eventTime")) return faults;
  const controller = textAt(object, "reportingComponent");
  if (controller === "") faults.required(controllerField);
  faults.each(controllerField, controller, qualifiedName(controller));
  for (const part of ["reportingInstance", "action", "reason"]) {
    const value = textAt(object, part);
    if (value === "") faults.required(part);
    else if (Buffer.byteLength(value) > longest)
      faults.invalid(part, "", `can have at most ${longest} characters`);
  }
  if (Buffer.byteLength(textAt(object, "message")) > longestNote) {
    faults.invalid("message", "", `can have at most ${longestNote} characters`);
  }
  return faults;
}

function checkModern(faults: Faults, object: JsonObject): void {
  if (!hasAt(object, "eventTime")) faults.required("eventTime");
  const type = textAt(object, "type");
  if (type !== "Normal" && type !== "Warning") faults.invalid("type", "", `has invalid value: ${type}`);
  for (const part of ["firstTimestamp", "lastTimestamp"]) {
    if (hasAt(object, part)) faults.invalid(part, "", "needs to be unset");
  }
  if (numberAt(object, "count")) faults.invalid("count", "", "needs to be unset");
  const source = objectAt(object, "source");
  if (textAt(source, "component") !== "" || textAt(source, "host") !== "") {
    faults.invalid("source", "", "needs to be unset");
  }
  if (!hasAt(object, "series")) return;
  const series = objectAt(object, "series");
  if ((numberAt(series, "count") ?? 0) < 2) faults.invalid("series.count", "", "should be at least 2");
  if (!hasAt(series, "lastObservedTime")) faults.required("series.lastObservedTime");
}
