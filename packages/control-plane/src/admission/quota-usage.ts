import { podTotals, qosClass } from "../builtin/pod/resources.ts";
import { type JsonObject, textOf } from "../json.ts";
import {
  field,
  hasAt,
  itemsAt,
  numberAt,
  objectAt,
  specOf,
  statusOf,
  textAt,
  textsAt,
} from "../json-fields.ts";
import type { Store } from "../storage/store.ts";
import { addAmounts } from "../validation/amounts.ts";

/** Amounts by what a quota calls them. */
export type Usage = { [resource: string]: string };

const claims = "resourceclaims.resource.k8s.io";
const perClass = ".deviceclass.resource.k8s.io/devices";

/** No claim may be given more devices than this. */
const mostOfClaim = 32;

/** What the objects of a kind take together of what a quota bounds. */
export function inUse(store: Store, bucket: string, quota: JsonObject, namespace: string): Usage {
  const used: Usage = {};
  for (const { object } of store.list(bucket, { prefix: `${namespace}/` }).entries) {
    if (!inScope(quota, bucket, object)) continue;
    for (const [resource, value] of Object.entries(usageOf(bucket, object))) {
      used[resource] = addAmounts(used[resource] ?? "0", value);
    }
  }
  return used;
}

/** Core kinds that quotas know by their plural alone, besides `count/`. */
const counted = new Set([
  "pods",
  "services",
  "replicationcontrollers",
  "resourcequotas",
  "secrets",
  "configmaps",
  "persistentvolumeclaims",
]);

/** Which kind's objects use up a resource that a quota bounds. */
export function bucketOf(resource: string): string {
  if (resource.startsWith("count/")) return resource.slice("count/".length);
  if (counted.has(resource)) return resource;
  if (resource.startsWith("services.")) return "services";
  if (resource.endsWith(perClass)) return claims;
  const storage = resource === "requests.storage" || resource.includes(".storageclass.storage.k8s.io/");
  return storage ? "persistentvolumeclaims" : "pods";
}

/** What an object takes of each resource that a quota may bound. */
export function usageOf(bucket: string, object: JsonObject): Usage {
  const used: Usage = { [`count/${bucket}`]: "1" };
  const spec = specOf(object);
  if (bucket === "pods") {
    const phase = textAt(statusOf(object), "phase");
    if (phase === "Succeeded" || phase === "Failed") return used;
    addPod(used, spec);
  } else if (bucket === "services") {
    const ports = itemsAt(spec, "ports").filter((port) => numberAt(port, "nodePort")).length;
    used["services.nodeports"] = String(ports);
    used["services.loadbalancers"] = textAt(spec, "type") === "LoadBalancer" ? "1" : "0";
  } else if (bucket === "persistentvolumeclaims") {
    const size = textOf(field(objectAt(objectAt(spec, "resources"), "requests"), "storage") ?? "0");
    used["requests.storage"] = size;
    const name = textAt(spec, "storageClassName");
    if (name !== "") {
      used[`${name}.storageclass.storage.k8s.io/requests.storage`] = size;
      used[`${name}.storageclass.storage.k8s.io/persistentvolumeclaims`] = "1";
    }
  } else if (bucket === claims) {
    for (const [name, devices] of devicesOf(spec)) used[`${name}${perClass}`] = String(devices);
  }
  if (counted.has(bucket)) used[bucket] = "1";
  return used;
}

function addPod(used: Usage, spec: JsonObject): void {
  for (const [resource, value] of Object.entries(podTotals(spec, "requests"))) {
    const asked = textOf(value);
    used[`requests.${resource}`] = asked;
    if (/^(cpu|memory|ephemeral-storage|hugepages-.*)$/.test(resource)) used[resource] = asked;
  }
  for (const [resource, value] of Object.entries(podTotals(spec, "limits"))) {
    used[`limits.${resource}`] = textOf(value);
  }
}

/**
 * How many devices of each class a claim may come to hold: of what will do instead of another, the
 * worst counts.
 */
function devicesOf(spec: JsonObject): Map<string, number> {
  const devices = new Map<string, number>();
  for (const request of itemsAt(objectAt(spec, "devices"), "requests")) {
    const either = itemsAt(request, "firstAvailable");
    const worst = new Map<string, number>();
    for (const one of either.length > 0 ? either : [objectAt(request, "exactly")]) {
      const name = textAt(one, "deviceClassName");
      worst.set(name, Math.max(worst.get(name) ?? 0, mostDevices(one)));
    }
    for (const [name, most] of worst) devices.set(name, (devices.get(name) ?? 0) + most);
  }
  return devices;
}

function mostDevices(request: JsonObject): number {
  switch (textAt(request, "allocationMode")) {
    case "ExactCount":
      return numberAt(request, "count") ?? 0;
    case "All":
      return mostOfClaim;
    default:
      return 0;
  }
}

/** Whether a quota is about an object at all. */
export function inScope(quota: JsonObject, bucket: string, object: JsonObject): boolean {
  const spec = specOf(quota);
  const scopes = textsAt(spec, "scopes").map((scopeName): JsonObject => ({ scopeName, operator: "Exists" }));
  const expressions = [...scopes, ...itemsAt(objectAt(spec, "scopeSelector"), "matchExpressions")];
  if (expressions.length === 0) return true;
  switch (bucket) {
    case "pods":
      return expressions.every((expression) => matchesScope(expression, object));
    case "persistentvolumeclaims":
      return expressions.every(
        (expression) =>
          textAt(expression, "scopeName") === "VolumeAttributesClass" &&
          matchesNames(expression, attributeClassesOf(object)),
      );
    default:
      return false;
  }
}

function matchesScope(expression: JsonObject, pod: JsonObject): boolean {
  const spec = specOf(pod);
  const terminating = (numberAt(spec, "activeDeadlineSeconds") ?? -1) >= 0;
  switch (textAt(expression, "scopeName")) {
    case "Terminating":
      return terminating;
    case "NotTerminating":
      return !terminating;
    case "BestEffort":
      return qosClass(pod) === "BestEffort";
    case "NotBestEffort":
      return qosClass(pod) !== "BestEffort";
    case "PriorityClass":
      return matchesNames(expression, [textAt(spec, "priorityClassName")]);
    case "CrossNamespacePodAffinity":
      return looksAcrossNamespaces(objectAt(spec, "affinity"));
    default:
      return false;
  }
}

/** Whether one of the names is as asked for. Empty ones are none. */
function matchesNames(expression: JsonObject, names: readonly string[]): boolean {
  const present = names.filter((name) => name !== "");
  const values = textsAt(expression, "values");
  switch (textAt(expression, "operator")) {
    case "In":
      return present.some((name) => values.includes(name));
    case "NotIn":
      return present.length === 0 || present.some((name) => !values.includes(name));
    case "DoesNotExist":
      return present.length === 0;
    default:
      return present.length > 0;
  }
}

function attributeClassesOf(claim: JsonObject): string[] {
  const status = statusOf(claim);
  return [
    textAt(specOf(claim), "volumeAttributesClassName"),
    textAt(status, "currentVolumeAttributesClassName"),
    textAt(objectAt(status, "modifyVolumeStatus"), "targetVolumeAttributesClassName"),
  ];
}

/** Whether a pod wants to be near, or far from, pods of other namespaces. */
function looksAcrossNamespaces(affinity: JsonObject): boolean {
  return ["podAffinity", "podAntiAffinity"].some((kind) => {
    const rules = objectAt(affinity, kind);
    const required = itemsAt(rules, "requiredDuringSchedulingIgnoredDuringExecution");
    const preferred = itemsAt(rules, "preferredDuringSchedulingIgnoredDuringExecution");
    return [...required, ...preferred.map((one) => objectAt(one, "podAffinityTerm"))].some(
      (term) => textsAt(term, "namespaces").length > 0 || hasAt(term, "namespaceSelector"),
    );
  });
}
