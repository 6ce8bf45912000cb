import type { Node, Pod, PodAffinityTerm, TopologySpreadConstraint } from "@windlass/kinds/builtin";
import { podBucket } from "../controllers/objects.ts";
import { within } from "../controllers/ownership.ts";
import { isFinished } from "../controllers/pods.ts";
import { namespaceOf } from "../json-fields.ts";
import { selectorMatcher } from "../registry/label-selector.ts";
import type { Registry } from "../registry/registry.ts";
import { type Stored, typed } from "../storage/typed.ts";
import { isWantedNode, matchesNode, type Rejection, untolerated } from "./fitting.ts";

const required = "requiredDuringSchedulingIgnoredDuringExecution";
const preferred = "preferredDuringSchedulingIgnoredDuringExecution";
const notSpread = "node(s) didn't match pod topology spread constraints";

const resolvable = (reason: string): Rejection => ({ reasons: [reason], unresolvable: false });

/** Whether a pod has required anti-affinity. */
export function hasAntiAffinity(pod: Stored<Pod>): boolean {
  return antiAffinityOf(pod).length > 0;
}

/**
 * Evaluates inter-pod affinity and topology spread against the placed pods. For one scheduling
 * attempt: it caches its counts.
 */
export class Neighbours {
  readonly #registry: Registry;
  readonly #withAntiAffinity: Iterable<Stored<Pod>>;
  /** Pods that are treated as deleted, to find out whether preempting them would help. */
  readonly #absent: ReadonlySet<Stored<Pod>>;
  readonly #counted = new Map<TopologySpreadConstraint, Map<string, number>>();

  /**
   * @param withAntiAffinity the pods with required anti-affinity: few, where a search through all
   *   would take long
   */
  constructor(
    registry: Registry,
    withAntiAffinity: Iterable<Stored<Pod>>,
    absent: ReadonlySet<Stored<Pod>> = new Set(),
  ) {
    this.#registry = registry;
    this.#withAntiAffinity = withAntiAffinity;
    this.#absent = absent;
  }

  /** Why the pods on a node, or in its topology domain, exclude a pod; undefined if they do not. */
  rejection(pod: Stored<Pod>, node: Stored<Node>): Rejection | undefined {
    const own = pod.metadata.labels;
    for (const term of pod.spec.affinity?.podAffinity?.[required] ?? []) {
      const near = this.#near(pod, node, term) > 0;
      // The first pod of a group whose affinity matches itself is allowed anywhere.
      const first = !near && selectorMatcher(term.labelSelector)(own) && this.#placed(pod, term).next().done;
      if (!near && !first) return resolvable("node(s) didn't match pod affinity rules");
    }
    for (const term of antiAffinityOf(pod)) {
      if (this.#near(pod, node, term) > 0) return resolvable("node(s) didn't match pod anti-affinity rules");
    }
    if (this.#isExcludedByPlaced(pod, node))
      return resolvable("node(s) didn't satisfy existing pods anti-affinity rules");
    return this.#spreadRejection(pod, node);
  }

  /** The score of a node by a pod's preferences: more is better. */
  score(pod: Stored<Pod>, node: Stored<Node>): number {
    let score = 0;
    const { nodeAffinity, podAffinity, podAntiAffinity } = pod.spec.affinity ?? {};
    for (const { weight, preference } of nodeAffinity?.[preferred] ?? []) {
      if (matchesNode(preference, node)) score += weight;
    }
    for (const { weight, podAffinityTerm } of podAffinity?.[preferred] ?? []) {
      score += weight * this.#near(pod, node, podAffinityTerm);
    }
    for (const { weight, podAffinityTerm } of podAntiAffinity?.[preferred] ?? []) {
      score -= weight * this.#near(pod, node, podAffinityTerm);
    }
    for (const constraint of spreadsOf(pod, "ScheduleAnyway")) {
      const domain = node.metadata.labels?.[constraint.topologyKey];
      if (domain === undefined) score -= 100;
      else score -= 10 * (this.#counts(pod, constraint).get(domain) ?? 0);
    }
    if (untolerated(pod.spec, node.spec?.taints ?? [], ["PreferNoSchedule"])) score -= 100;
    return score;
  }

  /** Whether the anti-affinity of a placed pod excludes this one. */
  #isExcludedByPlaced(pod: Stored<Pod>, node: Stored<Node>): boolean {
    const own = pod.metadata.labels;
    for (const other of this.#withAntiAffinity) {
      if (other.metadata.uid === pod.metadata.uid || !this.#isPlaced(other)) continue;
      for (const term of antiAffinityOf(other)) {
        const { namespaces = [namespaceOf(other)] } = term;
        if (!namespaces.includes(namespaceOf(pod)) || !selectorMatcher(term.labelSelector)(own)) continue;
        if (this.#sameDomain(other, node, term.topologyKey)) return true;
      }
    }
    return false;
  }

  #spreadRejection(pod: Stored<Pod>, node: Stored<Node>): Rejection | undefined {
    for (const constraint of spreadsOf(pod, "DoNotSchedule")) {
      const domain = node.metadata.labels?.[constraint.topologyKey];
      if (domain === undefined)
        return { reasons: [`${notSpread} (missing required label)`], unresolvable: true };
      const counts = this.#counts(pod, constraint);
      const enough = counts.size >= (constraint.minDomains ?? 1);
      const least = enough ? Math.min(...counts.values()) : 0;
      const self = selectorMatcher(constraint.labelSelector)(pod.metadata.labels);
      const here = (counts.get(domain) ?? 0) + (self ? 1 : 0);
      if (here - least > constraint.maxSkew) return resolvable(notSpread);
    }
    return undefined;
  }

  /** How many pods that count are in each domain that the pod could be in. */
  #counts(pod: Stored<Pod>, constraint: TopologySpreadConstraint): Map<string, number> {
    const known = this.#counted.get(constraint) ?? this.#count(pod, constraint);
    this.#counted.set(constraint, known);
    return known;
  }

  #count(pod: Stored<Pod>, constraint: TopologySpreadConstraint): Map<string, number> {
    const { store } = this.#registry;
    const { spec } = pod;
    const key = constraint.topologyKey;
    const counts = new Map<string, number>();
    const domains = new Map<string, string>();
    for (const { object } of store.entries("nodes")) {
      const node = typed<Node>(object);
      const domain = node.metadata.labels?.[key];
      if (domain === undefined) continue;
      if (constraint.nodeAffinityPolicy !== "Ignore" && !isWantedNode(spec, node)) continue;
      const isTainted = untolerated(spec, node.spec?.taints ?? [], ["NoSchedule", "NoExecute"]) !== undefined;
      if (constraint.nodeTaintsPolicy === "Honor" && isTainted) continue;
      domains.set(node.metadata.name, domain);
      counts.set(domain, counts.get(domain) ?? 0);
    }
    const labels = pod.metadata.labels ?? {};
    const { matchLabelKeys: keys = [] } = constraint;
    const matches = selectorMatcher(constraint.labelSelector);
    for (const other of within(this.#registry, podBucket, namespaceOf(pod))) {
      if (other === pod || !this.#isPlaced(other) || other.metadata.deletionTimestamp !== undefined) continue;
      const domain = domains.get(other.spec.nodeName ?? "");
      if (domain === undefined || !matches(other.metadata.labels)) continue;
      if (!keys.every((one) => other.metadata.labels?.[one] === labels[one])) continue;
      counts.set(domain, (counts.get(domain) ?? 0) + 1);
    }
    return counts;
  }

  *#placed(pod: Stored<Pod>, term: PodAffinityTerm): Generator<Stored<Pod>> {
    const matches = selectorMatcher(term.labelSelector);
    for (const namespace of term.namespaces ?? [namespaceOf(pod)]) {
      for (const other of within(this.#registry, podBucket, namespace)) {
        if (other !== pod && this.#isPlaced(other) && matches(other.metadata.labels)) yield other;
      }
    }
  }

  #isPlaced(pod: Stored<Pod>): boolean {
    return pod.spec.nodeName !== undefined && !isFinished(pod) && !this.#absent.has(pod);
  }

  /** How many pods that a term speaks of are in the same domain as a node. */
  #near(pod: Stored<Pod>, node: Stored<Node>, term: PodAffinityTerm): number {
    const key = term.topologyKey;
    let found = 0;
    for (const other of this.#placed(pod, term)) if (this.#sameDomain(other, node, key)) found++;
    return found;
  }

  #sameDomain(other: Stored<Pod>, node: Stored<Node>, key: string): boolean {
    const domain = node.metadata.labels?.[key];
    const there = this.#registry.store.get("nodes", other.spec.nodeName ?? "")?.object;
    return domain !== undefined && there?.metadata.labels?.[key] === domain;
  }
}

function antiAffinityOf(pod: Stored<Pod>): readonly PodAffinityTerm[] {
  return pod.spec.affinity?.podAntiAffinity?.[required] ?? [];
}

function spreadsOf(
  pod: Stored<Pod>,
  when: TopologySpreadConstraint["whenUnsatisfiable"],
): TopologySpreadConstraint[] {
  return (pod.spec.topologySpreadConstraints ?? []).filter(
    ({ whenUnsatisfiable }) => whenUnsatisfiable === when,
  );
}
