import type { Json, JsonObject } from "../json.ts";
import { since } from "./duration.ts";
import { at, conditionStatus, list, number, object, orNone, quantity, text } from "./fields.ts";

const name = (of: JsonObject) => text(of, "metadata", "name");
/** The zero of Go's time. */
const beginning = "0001-01-01T00:00:00Z";
const created = (of: JsonObject) => text(of, "metadata", "creationTimestamp");
const age = (of: JsonObject, now: number) => since(created(of), now);

/** Name and age: kinds with nothing to say for themselves. */
export function nameAndAge(of: JsonObject, now: number): Json[] {
  return [name(of), age(of, now)];
}

/** Name and the full time of creation: kinds the real server has no table of its own for. */
export function nameAndCreation(of: JsonObject): Json[] {
  return [name(of), created(of) || beginning];
}

export function configMapCells(of: JsonObject, now: number): Json[] {
  return [
    name(of),
    Object.keys(object(of, "data")).length + Object.keys(object(of, "binaryData")).length,
    age(of, now),
  ];
}

export function secretCells(of: JsonObject, now: number): Json[] {
  return [name(of), text(of, "type"), Object.keys(object(of, "data")).length, age(of, now)];
}

export function leaseCells(of: JsonObject, now: number): Json[] {
  return [name(of), text(of, "spec", "holderIdentity"), age(of, now)];
}

export function nodeCells(of: JsonObject, now: number): Json[] {
  const ready = conditionStatus(list(of, "status", "conditions"), "Ready");
  const status = ready === undefined ? "Unknown" : ready === "True" ? "Ready" : "NotReady";
  const info = (field: string) => text(of, "status", "nodeInfo", field);
  const address = (type: string) =>
    text(
      list(of, "status", "addresses").find((each) => text(each, "type") === type),
      "address",
    );
  return [
    name(of),
    at(of, "spec", "unschedulable") === true ? `${status},SchedulingDisabled` : status,
    orNone(nodeRoles(of).join(",")),
    age(of, now),
    info("kubeletVersion"),
    orNone(address("InternalIP")),
    orNone(address("ExternalIP")),
    info("osImage") || "<unknown>",
    info("kernelVersion") || "<unknown>",
    info("containerRuntimeVersion") || "<unknown>",
  ];
}

const roleLabel = "node-role.kubernetes.io/";

function nodeRoles(of: JsonObject): string[] {
  const labels = object(of, "metadata", "labels");
  const roles = Object.keys(labels)
    .filter((label) => label.startsWith(roleLabel))
    .map((label) => label.slice(roleLabel.length));
  roles.push(text(labels, "kubernetes.io/role"));
  return [...new Set(roles.filter((role) => role !== ""))].sort();
}

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

export function resourceQuotaCells(of: JsonObject, now: number): Json[] {
  const hard = object(of, "status", "hard");
  const entry = (resource: string) => {
    const amount = (field: string) => quantity("0", of, "status", field, resource);
    return `${resource}: ${amount("used")}/${amount("hard")}`;
  };
  const resources = Object.keys(hard).sort();
  const isLimit = (resource: string) => resource.startsWith("limits.");
  return [
    name(of),
    resources
      .filter((resource) => !isLimit(resource))
      .map(entry)
      .join(", "),
    resources.filter(isLimit).map(entry).join(", "),
    age(of, now),
  ];
}

export function componentStatusCells(of: JsonObject): Json[] {
  const healthy = list(of, "conditions").find((condition) => text(condition, "type") === "Healthy");
  if (healthy === undefined) return [name(of), "Unknown", "", ""];
  const status = text(healthy, "status") === "True" ? "Healthy" : "Unhealthy";
  return [name(of), status, text(healthy, "message"), text(healthy, "error")];
}

export function priorityClassCells(of: JsonObject, now: number): Json[] {
  return [
    name(of),
    number(of, "value"),
    at(of, "globalDefault") === true,
    age(of, now),
    text(of, "preemptionPolicy"),
  ];
}

export function runtimeClassCells(of: JsonObject, now: number): Json[] {
  return [name(of), text(of, "handler"), age(of, now)];
}

export function apiServiceCells(of: JsonObject, now: number): Json[] {
  const service = at(of, "spec", "service");
  const available = list(of, "status", "conditions").find((each) => text(each, "type") === "Available");
  const status = available === undefined ? "Unknown" : text(available, "status");
  const reason = text(available, "reason");
  return [
    name(of),
    service === undefined ? "Local" : `${text(service, "namespace")}/${text(service, "name")}`,
    status === "True" || available === undefined ? status : `${status} (${reason})`,
    age(of, now),
  ];
}

export function resourceClaimCells(of: JsonObject, now: number): Json[] {
  const deleted = at(of, "metadata", "deletionTimestamp") !== undefined;
  const states: string[] = deleted ? ["deleted"] : [];
  if (at(of, "status", "allocation") !== undefined) {
    states.push("allocated");
    if (list(of, "status", "reservedFor").length > 0) states.push("reserved");
  } else if (!deleted) {
    states.push("pending");
  }
  return [name(of), states.join(","), age(of, now)];
}

export function resourceSliceCells(of: JsonObject, now: number): Json[] {
  return [
    name(of),
    text(of, "spec", "nodeName"),
    text(of, "spec", "driver"),
    text(of, "spec", "pool", "name"),
    age(of, now),
  ];
}

/** The row of a Scale, the body of the subresource of that name. */
export function scaleCells(of: JsonObject, now: number): Json[] {
  return [name(of), number(of, "spec", "replicas"), number(of, "status", "replicas"), age(of, now)];
}
