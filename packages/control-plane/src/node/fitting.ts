import type {
  Container,
  Node,
  NodeSelectorRequirement,
  NodeSelectorTerm,
  Pod,
  PodSpec,
  Taint,
  Toleration,
} from "@windlass/kinds/builtin";
import { parseQuantity } from "@windlass/kinds/quantity";
import type { Stored } from "../storage/typed.ts";

/** Why a pod does not fit on a node. */
export interface Rejection {
  readonly reasons: readonly string[];
  /** Preempting other pods would not help: what Kubernetes calls UnschedulableAndUnresolvable. */
  readonly unresolvable: boolean;
}

/** Whether a node is one that a pod asks for: by name, by labels, by required affinity. */
export function isWantedNode(podSpec: PodSpec, node: Stored<Node>): boolean {
  const labels = node.metadata.labels ?? {};
  const wanted = Object.entries(podSpec.nodeSelector ?? {});
  if (!wanted.every(([key, value]) => labels[key] === value)) return false;
  const required = podSpec.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution;
  if (required === undefined) return true;
  // Any of the terms will do; within a term, everything must hold. An empty term holds for no node.
  return required.nodeSelectorTerms.some((term) => matchesNode(term, node));
}

/** Whether a node is as a term of node affinity says. */
export function matchesNode(term: NodeSelectorTerm, node: Stored<Node>): boolean {
  const labels = node.metadata.labels ?? {};
  const { matchExpressions: expressions = [], matchFields: fields = [] } = term;
  return (
    expressions.length + fields.length > 0 &&
    expressions.every((expression) => holds(expression, labels[expression.key])) &&
    fields.every((expression) => expression.key === "metadata.name" && holds(expression, node.metadata.name))
  );
}

function holds({ operator, values = [] }: NodeSelectorRequirement, value: string | undefined): boolean {
  switch (operator) {
    case "In":
      return value !== undefined && values.includes(value);
    case "NotIn":
      return value === undefined || !values.includes(value);
    case "Exists":
      return value !== undefined;
    case "DoesNotExist":
      return value === undefined;
    case "Gt":
      return isNumber(value) && Number(value) > Number(values[0]);
    case "Lt":
      return isNumber(value) && Number(value) < Number(values[0]);
    default:
      return false;
  }
}

function isNumber(value: string | undefined): boolean {
  return value !== undefined && /^-?\d+$/.test(value);
}

/** The first of a node's taints with one of these effects that a pod does not tolerate. */
export function untolerated(
  { tolerations = [] }: PodSpec,
  taints: readonly Taint[],
  effects: readonly Taint["effect"][],
): Taint | undefined {
  return taints.find(
    (taint) =>
      effects.includes(taint.effect) && !tolerations.some((toleration) => tolerates(toleration, taint)),
  );
}

/** Whether a toleration is about a taint. */
export function tolerates(toleration: Toleration, taint: Taint): boolean {
  const { key, operator, value, effect } = toleration;
  if (effect && effect !== taint.effect) return false;
  if (!key) return operator === "Exists";
  if (key !== taint.key) return false;
  return operator === "Exists" || (value ?? "") === (taint.value ?? "");
}

/**
 * The ports that a pod takes of its node, as `protocol/port` and the address; all addresses are
 * `0.0.0.0`.
 */
export function hostPortsOf({ spec }: Stored<Pod>): { readonly port: string; readonly address: string }[] {
  return [...spec.containers, ...(spec.initContainers ?? []).filter(isSidecar)]
    .flatMap(({ ports = [] }) => ports)
    .filter(({ hostPort = 0 }) => hostPort > 0)
    .map(({ hostPort, protocol, hostIP }) => ({
      port: `${protocol || "TCP"}/${hostPort}`,
      address: hostIP || allAddresses,
    }));
}

/** Whether an init container goes on running beside the main containers. */
export function isSidecar({ restartPolicy }: Container): boolean {
  return restartPolicy === "Always";
}

const allAddresses = "0.0.0.0";

/** Whether two pods cannot be on one node because of the ports they take. */
export function sharesHostPort(a: Stored<Pod>, b: Stored<Pod>): boolean {
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
export function requestsOf({ spec }: Stored<Pod>): Amounts {
  const total: Amounts = new Map();
  for (const { resources } of spec.containers) addTo(total, amounts(resources?.requests));
  const sidecars: Amounts = new Map();
  for (const container of spec.initContainers ?? []) {
    const own = amounts(container.resources?.requests);
    if (isSidecar(container)) {
      addTo(sidecars, own);
      addTo(total, own);
      continue;
    }
    addTo(own, sidecars);
    for (const [name, amount] of own) if (amount > (total.get(name) ?? 0n)) total.set(name, amount);
  }
  for (const [name, amount] of amounts(spec.resources?.requests)) total.set(name, amount);
  addTo(total, amounts(spec.overhead));
  return total;
}

/** A map of quantities, as numbers that add up. */
export function amounts(quantities: Readonly<Record<string, string>> = {}): Amounts {
  return new Map(Object.entries(quantities).map(([name, quantity]) => [name, parseQuantity(quantity).nanos]));
}

export function addTo(total: Amounts, more: ReadonlyMap<string, bigint>): void {
  for (const [name, amount] of more) total.set(name, (total.get(name) ?? 0n) + amount);
}
