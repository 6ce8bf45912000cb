import { equal, type JsonObject, textOf } from "../json.ts";
import { canonicalQuantity, formatQuantity, parseQuantity } from "../kinds/index.ts";
import { type Amounts, addTo, amounts, requestsOf } from "../node/fitting.ts";
import type { Registry } from "../registry/registry.ts";
import { field, type StoredObject } from "../storage/store.ts";
import { type ControllerWorld, type Running, startLoop } from "./loop.ts";
import {
  builtin,
  controllerContext,
  isDeleting,
  listAt,
  mapAt,
  namespaceOf,
  writeStatus,
} from "./objects.ts";
import { within } from "./ownership.ts";
import { isFinished } from "./pods.ts";

const one = 1_000_000_000n;

/** Kinds whose number a quota limits by their bare name. */
const counted: { readonly [name: string]: string } = {
  configmaps: "configmaps",
  persistentvolumeclaims: "persistentvolumeclaims",
  replicationcontrollers: "replicationcontrollers",
  resourcequotas: "resourcequotas",
  secrets: "secrets",
  services: "services",
};

/** Keeps count of what a namespace uses of its quotas. */
export function startResourceQuotas(world: ControllerWorld): Running {
  const { registry } = world;
  const quotas = builtin(registry, "", "v1", "resourcequotas");
  const context = controllerContext("resourcequota-controller");
  return startLoop(world, {
    name: "resourcequota-controller",
    watchAll: ({ entry }) => {
      const namespace = namespaceOf(entry.object);
      if (namespace === "") return [];
      return [...within(registry, quotas.bucket, namespace)].map(
        ({ metadata }) => `${namespace}/${metadata.name}`,
      );
    },
    reconcile: async (key) => {
      const quota = registry.store.get(quotas.bucket, key)?.object;
      if (!quota || isDeleting(quota)) return undefined;
      const hard = (field(quota, "spec", "hard") ?? {}) as JsonObject;
      const used = usedOf(registry, quota);
      const status = { hard, used };
      if (!equal(quota.status, status)) await writeStatus(registry, quotas, quota, status, context);
      return undefined;
    },
  });
}

/** What a namespace uses of each resource that a quota limits. */
export function usedOf(registry: Registry, quota: StoredObject): JsonObject {
  const namespace = namespaceOf(quota);
  const hard = mapAt(quota, "spec", "hard");
  const pods = [...within(registry, "pods", namespace)].filter(
    (pod) => !isFinished(pod) && isInScope(quota, pod),
  );
  const compute: Amounts = new Map([["pods", BigInt(pods.length) * one]]);
  for (const pod of pods) {
    for (const [name, amount] of requestsOf(pod)) {
      addTo(
        compute,
        new Map([
          [`requests.${name}`, amount],
          [name, amount],
        ]),
      );
    }
    for (const container of listAt(pod, "spec", "containers")) {
      for (const [name, amount] of amounts(field(container, "resources", "limits"))) {
        addTo(compute, new Map([[`limits.${name}`, amount]]));
      }
    }
  }
  const used: JsonObject = {};
  for (const [name, limit] of Object.entries(hard)) {
    const number = countOf(registry, namespace, name);
    const total =
      number === undefined
        ? (compute.get(name) ?? storageOf(registry, namespace, name))
        : BigInt(number) * one;
    const { format } = parseQuantity(textOf(limit));
    used[name] = canonicalQuantity(formatQuantity({ nanos: total, format }));
  }
  return used;
}

function countOf(registry: Registry, namespace: string, name: string): number | undefined {
  const bucket = name.startsWith("count/") ? name.slice("count/".length) : counted[name];
  if (bucket !== undefined) return [...within(registry, bucket, namespace)].length;
  const services = (matches: (service: StoredObject) => number) =>
    [...within(registry, "services", namespace)].reduce((sum, service) => sum + matches(service), 0);
  if (name === "services.loadbalancers")
    return services((service) => Number(field(service, "spec", "type") === "LoadBalancer"));
  if (name === "services.nodeports") {
    return services(
      (service) => listAt(service, "spec", "ports").filter(({ nodePort }) => nodePort !== undefined).length,
    );
  }
  return undefined;
}

function storageOf(registry: Registry, namespace: string, name: string): bigint {
  const ofClass = /^(.+)\.storageclass\.storage\.k8s\.io\/(requests\.storage|persistentvolumeclaims)$/.exec(
    name,
  );
  const what = ofClass ? ofClass[2] : name;
  let total = 0n;
  for (const claim of within(registry, "persistentvolumeclaims", namespace)) {
    if (ofClass && field(claim, "spec", "storageClassName") !== ofClass[1]) continue;
    if (what === "persistentvolumeclaims") total += one;
    if (what === "requests.storage")
      total += amounts(field(claim, "spec", "resources", "requests")).get("storage") ?? 0n;
  }
  return total;
}

function isInScope(quota: StoredObject, pod: StoredObject): boolean {
  const plain = (field(quota, "spec", "scopes") ?? []) as string[];
  return (
    plain.every((scope) => isOf(scope, pod)) &&
    listAt(quota, "spec", "scopeSelector", "matchExpressions").every(({ scopeName, operator, values }) =>
      scopeName === "PriorityClass"
        ? hasPriorityClass(pod, textOf(operator), (values ?? []) as string[])
        : isOf(textOf(scopeName), pod),
    )
  );
}

function isOf(scope: string, pod: StoredObject): boolean {
  switch (scope) {
    case "BestEffort":
      return field(pod, "status", "qosClass") === "BestEffort";
    case "NotBestEffort":
      return field(pod, "status", "qosClass") !== "BestEffort";
    case "Terminating":
      return field(pod, "spec", "activeDeadlineSeconds") !== undefined;
    case "NotTerminating":
      return field(pod, "spec", "activeDeadlineSeconds") === undefined;
    case "CrossNamespacePodAffinity":
      return looksAcrossNamespaces(pod);
    case "PriorityClass":
      return hasPriorityClass(pod, "Exists", []);
    default:
      return true;
  }
}

function hasPriorityClass(pod: StoredObject, operator: string, values: readonly string[]): boolean {
  const name = textOf(field(pod, "spec", "priorityClassName"));
  switch (operator) {
    case "In":
      return values.includes(name);
    case "NotIn":
      return !values.includes(name);
    case "DoesNotExist":
      return name === "";
    default:
      return name !== "";
  }
}

/** Whether a pod wants to be near, or far from, pods of other namespaces. */
function looksAcrossNamespaces(pod: StoredObject): boolean {
  return ["podAffinity", "podAntiAffinity"].some((kind) => {
    const required = listAt(pod, "spec", "affinity", kind, "requiredDuringSchedulingIgnoredDuringExecution");
    const preferred = listAt(
      pod,
      "spec",
      "affinity",
      kind,
      "preferredDuringSchedulingIgnoredDuringExecution",
    );
    return [...required, ...preferred.map(({ podAffinityTerm }) => podAffinityTerm as JsonObject)].some(
      ({ namespaces, namespaceSelector }) =>
        ((namespaces ?? []) as string[]).length > 0 || namespaceSelector !== undefined,
    );
  });
}
