import { listAt, mapAt } from "../controllers/objects.ts";
import { type Json, type JsonObject, textOf } from "../json.ts";
import { parseQuantity } from "../kinds/index.ts";
import { specOf } from "../storage/object-fields.ts";
import { field, type StoredObject } from "../storage/store.ts";

/** Why a pod does not fit on a node. */
export interface Rejection {
  readonly reasons: readonly string[];
  /** Preempting other pods would not help: what Kubernetes calls UnschedulableAndUnresolvable. */
  readonly unresolvable: boolean;
}

/** Whether a node is one that a pod asks for: by name, by labels, by required affinity. */
export function isWantedNode(podSpec: JsonObject, node: StoredObject): boolean {
  const labels = mapAt(node, "metadata", "labels");
  const wanted = mapAt(podSpec, "nodeSelector");
  if (!Object.entries(wanted).every(([key, value]) => labels[key] === value)) return false;
  const required = field(
    podSpec,
    "affinity",
    "nodeAffinity",
    "requiredDuringSchedulingIgnoredDuringExecution",
  );
  if (required === undefined) return true;
  // Any of the terms will do; within a term, everything must hold. An empty term holds for no node.
  return listAt(required, "nodeSelectorTerms").some((term) => matchesNode(term, node));
}

/** Whether a node is as a term of node affinity says. */
export function matchesNode(term: JsonObject, node: StoredObject): boolean {
  const labels = mapAt(node, "metadata", "labels");
  const expressions = listAt(term, "matchExpressions");
  const fields = listAt(term, "matchFields");
  return (
    expressions.length + fields.length > 0 &&
    expressions.every((expression) => holds(expression, labels[textOf(expression.key)])) &&
    fields.every((expression) => expression.key === "metadata.name" && holds(expression, node.metadata.name))
  );
}

function holds({ operator, values }: JsonObject, value: Json | undefined): boolean {
  const list = (Array.isArray(values) ? values : []).map(textOf);
  const text = textOf(value);
  switch (operator) {
    case "In":
      return value !== undefined && list.includes(text);
    case "NotIn":
      return value === undefined || !list.includes(text);
    case "Exists":
      return value !== undefined;
    case "DoesNotExist":
      return value === undefined;
    case "Gt":
      return /^-?\d+$/.test(text) && Number(text) > Number(list[0]);
    case "Lt":
      return /^-?\d+$/.test(text) && Number(text) < Number(list[0]);
    default:
      return false;
  }
}

/** The first taint with one of these effects that a pod does not tolerate. */
export function untolerated(
  podSpec: JsonObject,
  node: StoredObject,
  effects: readonly string[],
): JsonObject | undefined {
  const tolerations = listAt(podSpec, "tolerations");
  return listAt(node, "spec", "taints").find(
    (taint) =>
      effects.includes(textOf(taint.effect)) &&
      !tolerations.some((toleration) => tolerates(toleration, taint)),
  );
}

/** Whether a toleration is about a taint. */
export function tolerates(toleration: JsonObject, taint: JsonObject): boolean {
  const { key, operator, value, effect } = toleration;
  if (effect && effect !== taint.effect) return false;
  if (!key) return operator === "Exists";
  if (key !== taint.key) return false;
  return operator === "Exists" || textOf(value) === textOf(taint.value);
}

/**
 * The ports that a pod takes of its node, as `protocol/port` and the address; all addresses are
 * `0.0.0.0`.
 */
export function hostPortsOf(pod: JsonObject): { readonly port: string; readonly address: string }[] {
  const sidecars = listAt(pod, "spec", "initContainers").filter(
    ({ restartPolicy }) => restartPolicy === "Always",
  );
  return [...listAt(pod, "spec", "containers"), ...sidecars]
    .flatMap((container) => listAt(container, "ports"))
    .filter(({ hostPort }) => Number(hostPort ?? 0) > 0)
    .map(({ hostPort, protocol, hostIP }) => ({
      port: `${textOf(protocol) || "TCP"}/${textOf(hostPort)}`,
      address: textOf(hostIP) || allAddresses,
    }));
}

const allAddresses = "0.0.0.0";

/** Whether two pods cannot be on one node because of the ports they take. */
export function sharesHostPort(a: JsonObject, b: JsonObject): boolean {
  const others = hostPortsOf(b);
  return hostPortsOf(a).some(({ port, address }) =>
    others.some(
      (other) =>
        other.port === port &&
        (other.address === address || other.address === allAddresses || address === allAddresses),
    ),
  );
}

/** Amounts by resource name, in billionths of its unit. */
export type Amounts = Map<string, bigint>;

/**
 * What a pod asks to have to itself: its containers together or its greediest init container, and
 * its overhead.
 */
export function requestsOf(pod: JsonObject): Amounts {
  const spec = specOf(pod);
  const total: Amounts = new Map();
  for (const container of listAt(spec, "containers"))
    addTo(total, amounts(field(container, "resources", "requests")));
  const sidecars: Amounts = new Map();
  for (const container of listAt(spec, "initContainers")) {
    const own = amounts(field(container, "resources", "requests"));
    if (container.restartPolicy === "Always") {
      addTo(sidecars, own);
      addTo(total, own);
      continue;
    }
    addTo(own, sidecars);
    for (const [name, amount] of own) if (amount > (total.get(name) ?? 0n)) total.set(name, amount);
  }
  for (const [name, amount] of amounts(field(spec, "resources", "requests"))) total.set(name, amount);
  addTo(total, amounts(spec.overhead));
  return total;
}

/** A map of quantities, as numbers that add up. */
export function amounts(value: Json | undefined): Amounts {
  const found: Amounts = new Map();
  for (const [name, quantity] of Object.entries(mapAt({ value: value ?? {} }, "value"))) {
    found.set(name, parseQuantity(textOf(quantity)).nanos);
  }
  return found;
}

export function addTo(total: Amounts, more: ReadonlyMap<string, bigint>): void {
  for (const [name, amount] of more) total.set(name, (total.get(name) ?? 0n) + amount);
}
