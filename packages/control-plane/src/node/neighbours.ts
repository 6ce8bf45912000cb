import type { Pod } from "@windlass/kinds/builtin";
import { listAt, mapAt, namespaceOf, podBucket } from "../controllers/objects.ts";
import { within } from "../controllers/ownership.ts";
import { isFinished } from "../controllers/pods.ts";
import { type JsonObject, textOf } from "../json.ts";
import { selectorMatcher } from "../registry/label-selector.ts";
import type { Registry } from "../registry/registry.ts";
import { specOf } from "../storage/object-fields.ts";
import { field, type StoredObject } from "../storage/store.ts";
import { typed } from "../storage/typed.ts";
import { isWantedNode, matchesNode, type Rejection, untolerated } from "./fitting.ts";

const required = "requiredDuringSchedulingIgnoredDuringExecution";
const preferred = "preferredDuringSchedulingIgnoredDuringExecution";
const notSpread = "node(s) didn't match pod topology spread constraints";

const resolvable = (reason: string): Rejection => ({ reasons: [reason], unresolvable: false });

/** Whether a pod has required anti-affinity. */
export function isAverse(pod: StoredObject): boolean {
  return listAt(pod, "spec", "affinity", "podAntiAffinity", required).length > 0;
}

/**
 * Evaluates inter-pod affinity and topology spread against the placed pods. For one scheduling
 * attempt: it caches its counts.
 */
export class Neighbours {
  readonly #registry: Registry;
  readonly #averse: Iterable<StoredObject>;
  /** Pods that are treated as deleted, to find out whether preempting them would help. */
  readonly #absent: ReadonlySet<StoredObject>;
  readonly #counted = new Map<JsonObject, Map<string, number>>();

  /**
   * @param averse the pods with required anti-affinity: few, where a search through all would take
   *   long
   */
  constructor(
    registry: Registry,
    averse: Iterable<StoredObject>,
    absent: ReadonlySet<StoredObject> = new Set(),
  ) {
    this.#registry = registry;
    this.#averse = averse;
    this.#absent = absent;
  }

  /** Why the pods on a node, or in its topology domain, exclude a pod; undefined if they do not. */
  rejection(pod: StoredObject, node: StoredObject): Rejection | undefined {
    const own = pod.metadata.labels;
    for (const term of listAt(pod, "spec", "affinity", "podAffinity", required)) {
      const near = this.#near(pod, node, term) > 0;
      // The first pod of a group whose affinity matches itself is allowed anywhere.
      const first = !near && selectorMatcher(term.labelSelector)(own) && this.#placed(pod, term).next().done;
      if (!near && !first) return resolvable("node(s) didn't match pod affinity rules");
    }
    for (const term of listAt(pod, "spec", "affinity", "podAntiAffinity", required)) {
      if (this.#near(pod, node, term) > 0) return resolvable("node(s) didn't match pod anti-affinity rules");
    }
    if (this.#isUnwelcome(pod, node))
      return resolvable("node(s) didn't satisfy existing pods anti-affinity rules");
    return this.#spreadRejection(pod, node);
  }

  /** The score of a node by a pod's preferences: more is better. */
  score(pod: StoredObject, node: StoredObject): number {
    let score = 0;
    for (const { weight, preference } of listAt(pod, "spec", "affinity", "nodeAffinity", preferred)) {
      if (matchesNode(preference as JsonObject, node)) score += Number(weight);
    }
    for (const [part, sign] of [
      ["podAffinity", 1],
      ["podAntiAffinity", -1],
    ] as const) {
      for (const { weight, podAffinityTerm } of listAt(pod, "spec", "affinity", part, preferred)) {
        score += sign * Number(weight) * this.#near(pod, node, podAffinityTerm as JsonObject);
      }
    }
    for (const constraint of spreadsOf(pod, "ScheduleAnyway")) {
      const domain = field(node, "metadata", "labels", textOf(constraint.topologyKey));
      if (domain === undefined) score -= 100;
      else score -= 10 * (this.#counts(pod, constraint).get(textOf(domain)) ?? 0);
    }
    if (untolerated(specOf(pod), node, ["PreferNoSchedule"])) score -= 100;
    return score;
  }

  /** Whether the anti-affinity of a placed pod excludes this one. */
  #isUnwelcome(pod: StoredObject, node: StoredObject): boolean {
    const own = pod.metadata.labels;
    for (const other of this.#averse) {
      if (other.metadata.uid === pod.metadata.uid || !this.#isPlaced(other)) continue;
      for (const term of listAt(other, "spec", "affinity", "podAntiAffinity", required)) {
        const namespaces = (term.namespaces ?? [namespaceOf(other)]) as string[];
        if (!namespaces.includes(namespaceOf(pod)) || !selectorMatcher(term.labelSelector)(own)) continue;
        if (this.#sameDomain(other, node, textOf(term.topologyKey))) return true;
      }
    }
    return false;
  }

  #spreadRejection(pod: StoredObject, node: StoredObject): Rejection | undefined {
    for (const constraint of spreadsOf(pod, "DoNotSchedule")) {
      const domain = field(node, "metadata", "labels", textOf(constraint.topologyKey));
      if (domain === undefined)
        return { reasons: [`${notSpread} (missing required label)`], unresolvable: true };
      const counts = this.#counts(pod, constraint);
      const enough = counts.size >= Number(constraint.minDomains ?? 1);
      const least = enough ? Math.min(...counts.values()) : 0;
      const self = selectorMatcher(constraint.labelSelector)(pod.metadata.labels);
      const here = (counts.get(textOf(domain)) ?? 0) + (self ? 1 : 0);
      if (here - least > Number(constraint.maxSkew ?? 1)) return resolvable(notSpread);
    }
    return undefined;
  }

  /** How many pods that count are in each domain that the pod could be in. */
  #counts(pod: StoredObject, constraint: JsonObject): Map<string, number> {
    const known = this.#counted.get(constraint) ?? this.#count(pod, constraint);
    this.#counted.set(constraint, known);
    return known;
  }

  #count(pod: StoredObject, constraint: JsonObject): Map<string, number> {
    const { store } = this.#registry;
    const spec = specOf(pod);
    const key = textOf(constraint.topologyKey);
    const counts = new Map<string, number>();
    const domains = new Map<string, string>();
    for (const { object: node } of store.entries("nodes")) {
      const domain = field(node, "metadata", "labels", key);
      if (domain === undefined) continue;
      if (constraint.nodeAffinityPolicy !== "Ignore" && !isWantedNode(spec, node)) continue;
      const isTainted = untolerated(spec, node, ["NoSchedule", "NoExecute"]) !== undefined;
      if (constraint.nodeTaintsPolicy === "Honor" && isTainted) continue;
      domains.set(node.metadata.name, textOf(domain));
      counts.set(textOf(domain), counts.get(textOf(domain)) ?? 0);
    }
    const labels = mapAt(pod, "metadata", "labels");
    const keys = Array.isArray(constraint.matchLabelKeys) ? constraint.matchLabelKeys.map(textOf) : [];
    const matches = selectorMatcher(constraint.labelSelector);
    for (const other of within(this.#registry, podBucket, namespaceOf(pod))) {
      if (other === pod || !this.#isPlaced(other) || other.metadata.deletionTimestamp !== undefined) continue;
      const domain = domains.get(textOf(field(other, "spec", "nodeName")));
      if (domain === undefined || !matches(other.metadata.labels)) continue;
      if (!keys.every((one) => field(other, "metadata", "labels", one) === labels[one])) continue;
      counts.set(domain, (counts.get(domain) ?? 0) + 1);
    }
    return counts;
  }

  *#placed(pod: StoredObject, term: JsonObject): Generator<StoredObject> {
    const matches = selectorMatcher(term.labelSelector);
    for (const namespace of (term.namespaces ?? [namespaceOf(pod)]) as string[]) {
      for (const other of within(this.#registry, podBucket, namespace)) {
        if (other !== pod && this.#isPlaced(other) && matches(other.metadata.labels)) yield other;
      }
    }
  }

  #isPlaced(pod: StoredObject): boolean {
    return (
      field(pod, "spec", "nodeName") !== undefined && !isFinished(typed<Pod>(pod)) && !this.#absent.has(pod)
    );
  }

  /** How many pods that a term speaks of are in the same domain as a node. */
  #near(pod: StoredObject, node: StoredObject, term: JsonObject): number {
    const key = textOf(term.topologyKey);
    let found = 0;
    for (const other of this.#placed(pod, term)) if (this.#sameDomain(other, node, key)) found++;
    return found;
  }

  #sameDomain(other: StoredObject, node: StoredObject, key: string): boolean {
    const domain = field(node, "metadata", "labels", key);
    const there = this.#registry.store.get("nodes", textOf(field(other, "spec", "nodeName")))?.object;
    return domain !== undefined && field(there, "metadata", "labels", key) === domain;
  }
}

function spreadsOf(pod: StoredObject, when: "DoNotSchedule" | "ScheduleAnyway"): JsonObject[] {
  return listAt(pod, "spec", "topologySpreadConstraints").filter(
    ({ whenUnsatisfiable }) => whenUnsatisfiable === when,
  );
}
