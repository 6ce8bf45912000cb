import type { Json, JsonObject } from "../json.ts";
import { since } from "./duration.ts";
import { at, containerCells, list, number, object, shown, text } from "./fields.ts";
import { formatLabels, formatSelector, selectorText } from "./selectors.ts";
import { age, name, templateCells } from "./workload-cells.ts";

export function deploymentCells(of: JsonObject, now: number): Json[] {
  return [
    name(of),
    `${number(of, "status", "readyReplicas")}/${number(of, "spec", "replicas")}`,
    number(of, "status", "updatedReplicas"),
    number(of, "status", "availableReplicas"),
    age(of, now),
    ...templateCells(of),
    selectorText(at(of, "spec", "selector")),
  ];
}

export function replicaSetCells(of: JsonObject, now: number): Json[] {
  return [...replicas(of), age(of, now), ...templateCells(of), formatSelector(at(of, "spec", "selector"))];
}

export function replicationControllerCells(of: JsonObject, now: number): Json[] {
  return [...replicas(of), age(of, now), ...templateCells(of), formatLabels(at(of, "spec", "selector"))];
}

function replicas(of: JsonObject): Json[] {
  return [
    name(of),
    number(of, "spec", "replicas"),
    number(of, "status", "replicas"),
    number(of, "status", "readyReplicas"),
  ];
}

export function statefulSetCells(of: JsonObject, now: number): Json[] {
  const ready = `${number(of, "status", "readyReplicas")}/${number(of, "spec", "replicas")}`;
  return [name(of), ready, age(of, now), ...templateCells(of)];
}

export function daemonSetCells(of: JsonObject, now: number): Json[] {
  return [
    name(of),
    number(of, "status", "desiredNumberScheduled"),
    number(of, "status", "currentNumberScheduled"),
    number(of, "status", "numberReady"),
    number(of, "status", "updatedNumberScheduled"),
    number(of, "status", "numberAvailable"),
    formatLabels(at(of, "spec", "template", "spec", "nodeSelector")),
    age(of, now),
    ...templateCells(of),
    formatSelector(at(of, "spec", "selector")),
  ];
}

export function cronJobCells(of: JsonObject, now: number): Json[] {
  const last = text(of, "status", "lastScheduleTime");
  const suspend = at(of, "spec", "suspend");
  const job = at(of, "spec", "jobTemplate", "spec");
  return [
    name(of),
    text(of, "spec", "schedule"),
    shown("<none>", of, "spec", "timeZone"),
    typeof suspend === "boolean" ? (suspend ? "True" : "False") : "<unset>",
    list(of, "status", "active").length,
    last === "" ? "<none>" : since(last, now),
    age(of, now),
    ...containerCells(at(job, "template", "spec")),
    formatSelector(at(job, "selector")),
  ];
}

export function podTemplateCells(of: JsonObject): Json[] {
  return [
    name(of),
    ...containerCells(at(of, "template", "spec")),
    formatLabels(at(of, "template", "metadata", "labels")),
  ];
}

export function controllerRevisionCells(of: JsonObject, now: number): Json[] {
  const owner = list(of, "metadata", "ownerReferences").find((each) => at(each, "controller") === true);
  return [
    name(of),
    owner === undefined ? "<none>" : ownerName(object(owner)),
    number(of, "revision"),
    age(of, now),
  ];
}

function ownerName(owner: JsonObject): string {
  const [group = "", version] = text(owner, "apiVersion").split("/");
  const kind = text(owner, "kind");
  const qualified = version === undefined ? kind : `${kind}.${group}`;
  return `${qualified.toLowerCase()}/${text(owner, "name")}`;
}

export function podDisruptionBudgetCells(of: JsonObject, now: number): Json[] {
  return [
    name(of),
    shown("N/A", of, "spec", "minAvailable"),
    shown("N/A", of, "spec", "maxUnavailable"),
    number(of, "status", "disruptionsAllowed"),
    age(of, now),
  ];
}
