import { controllerOf, groupOf } from "@windlass/kinds";
import type { Pod, PodDisruptionBudget } from "@windlass/kinds/builtin";
import { replaceCondition } from "../../controllers/conditions.ts";
import { eventRecorder } from "../../controllers/events.ts";
import { type ControllerDependencies, ownKey, type Running, startLoop } from "../../controllers/loop.ts";
import {
  builtin,
  controllerContext,
  isDeleting,
  kindNamed,
  stored,
  writeStatus,
} from "../../controllers/objects.ts";
import { selected, selectorKeys, within } from "../../controllers/ownership.ts";
import { isActive, isReady } from "../../controllers/pods.ts";
import { type JsonObject, textOf } from "../../json.ts";
import { namespaceOf, valueAt } from "../../json-fields.ts";
import { type LabelMatcher, selectorMatcher } from "../../registry/label-selector.ts";
import { timestamp } from "../../registry/metadata.ts";
import type { LogRecord, StoredObject } from "../../storage/store.ts";
import type { Stored } from "../../storage/typed.ts";
import { goString } from "../../table/go-string.ts";
import { resolvePercent } from "../deployment/rollout.ts";

/** A granted eviction counts for this long, or until its pod is being deleted. */
const disruptionMs = 120_000;

/** An empty selector selects every pod, unlike a workload's. */
function matcherOf(budget: Stored<PodDisruptionBudget>): LabelMatcher {
  return selectorMatcher(budget.spec.selector);
}

/** Counts how many of a budget's pods may be disrupted now. */
export function startDisruption(deps: ControllerDependencies): Running {
  const { registry } = deps;
  const { store } = registry;
  const budgets = builtin<PodDisruptionBudget>(registry, "policy", "v1", "poddisruptionbudgets");
  const pods = builtin<Pod>(registry, "", "v1", "pods");
  const context = controllerContext("disruption-controller");
  const record = eventRecorder(registry, { component: "controllermanager", context });
  const scaled = ["replicasets", "deployments", "statefulsets"].map((plural) =>
    builtin(registry, "apps", "v1", plural),
  );
  const controllers = builtin(registry, "", "v1", "replicationcontrollers");

  /** Budgets whose pods this workload may own: all of its namespace, there are few. */
  const neighbours = ({ entry }: LogRecord): string[] => {
    const namespace = namespaceOf(entry.object);
    return [...within(registry, budgets, namespace)].map(({ metadata }) => `${namespace}/${metadata.name}`);
  };

  return startLoop(deps, {
    name: "disruption-controller",
    watches: {
      [budgets.bucket]: ownKey,
      [pods.bucket]: selectorKeys(registry, budgets, matcherOf),
      ...Object.fromEntries([...scaled, controllers].map(({ bucket }) => [bucket, neighbours])),
    },
    reconcile: async (key) => {
      const budget = stored(registry, budgets, key);
      if (!budget || isDeleting(budget)) return undefined;
      const all = selected(registry, pods, budget, matcherOf(budget));
      if (all.length === 0) {
        await record(budget, { type: "Normal", reason: "NoPods", message: "No matching pods found" });
      }
      const unmanaged = all.some((pod) => !controllerOf(pod));
      if (unmanaged && typeof budget.spec.minAvailable !== "number") {
        await record(budget, { type: "Warning", reason: "UnmanagedPods", message: unmanagedMessage(budget) });
      }
      const { expected, desired } = wanted(budget, all);
      const disrupted = stillDisrupted(budget, all);
      const leaving = (pod: Stored<Pod>) => Object.hasOwn(disrupted, pod.metadata.name);
      const healthy = all.filter((pod) => isActive(pod) && isReady(pod) && !leaving(pod)).length;
      const spare = healthy - desired;
      const allowed = expected <= 0 || spare <= 0 ? 0 : spare;
      const generation = Number(budget.metadata.generation ?? 0);
      const conditions = replaceCondition(budget.status?.conditions ?? [], {
        type: "DisruptionAllowed",
        status: allowed > 0 ? "True" : "False",
        observedGeneration: generation,
        lastTransitionTime: timestamp(registry.clock),
        reason: allowed > 0 ? "SufficientPods" : "InsufficientPods",
        message: "",
      });
      await writeStatus(
        registry,
        budgets,
        budget,
        {
          observedGeneration: generation,
          ...(Object.keys(disrupted).length > 0 ? { disruptedPods: disrupted } : {}),
          disruptionsAllowed: allowed,
          currentHealthy: healthy,
          desiredHealthy: desired,
          expectedPods: expected,
          conditions,
        },
        context,
      );
      return Object.keys(disrupted).length > 0 ? { requeueAfterMs: disruptionMs } : undefined;
    },
  });

  /**
   * Pods whose eviction was granted, and which are not seen to be leaving yet. They are waited for
   * only so long.
   */
  function stillDisrupted(budget: Stored<PodDisruptionBudget>, all: readonly Stored<Pod>[]): JsonObject {
    const since = registry.clock.now() - disruptionMs;
    return Object.fromEntries(
      Object.entries(budget.status?.disruptedPods ?? {}).filter(([name, time]) => {
        const pod = all.find(({ metadata }) => metadata.name === name);
        return pod !== undefined && !isDeleting(pod) && Date.parse(textOf(time)) > since;
      }),
    );
  }

  /** How many pods there should be, and how many of them must stay. */
  function wanted(
    budget: Stored<PodDisruptionBudget>,
    all: readonly Stored<Pod>[],
  ): { expected: number; desired: number } {
    const most = budget.spec.maxUnavailable;
    const least = budget.spec.minAvailable;
    if (most !== undefined) {
      const expected = expectedScale(all);
      return { expected, desired: Math.max(0, expected - resolvePercent(most, expected, Math.ceil)) };
    }
    if (typeof least === "string") {
      const expected = expectedScale(all);
      return { expected, desired: resolvePercent(least, expected, Math.ceil) };
    }
    return { expected: all.length, desired: typeof least === "number" ? least : 0 };
  }

  /** What the pods' controllers want in sum. A pod without a controller counts as itself. */
  function expectedScale(all: readonly Stored<Pod>[]): number {
    const scales = new Map<string, number>();
    for (const pod of all) {
      const top = scaleOf(pod);
      if (top) scales.set(top.uid, top.replicas);
    }
    return [...scales.values()].reduce((sum, replicas) => sum + replicas, 0);
  }

  /**
   * The scale of the topmost controller that has one: the Deployment rather than its ReplicaSet.
   */
  function scaleOf(object: StoredObject): { uid: string; replicas: number } | undefined {
    const owner = controllerOf(object);
    if (!owner) return undefined;
    const info = kindNamed(registry, { group: groupOf(textOf(owner.apiVersion)), kind: textOf(owner.kind) });
    const resource = info && registry.resourceFor(info);
    const stored =
      resource && store.get(resource.bucket, `${namespaceOf(object)}/${textOf(owner.name)}`)?.object;
    if (!resource?.scale || !stored || stored.metadata.uid !== owner.uid) return undefined;
    const above = scaleOf(stored);
    if (above) return above;
    const scale = resource.scale.get(stored);
    return scale && { uid: stored.metadata.uid, replicas: Number(valueAt(scale, "spec", "replicas") ?? 0) };
  }
}

function unmanagedMessage(budget: Stored<PodDisruptionBudget>): string {
  const selector = goString(budget.spec.selector ?? {});
  return `Pods selected by this PodDisruptionBudget (selector: ${selector}) were found to be unmanaged. As a result, the status of the PDB cannot be calculated correctly, which may result in undefined behavior. To account for these pods please set ".spec.minAvailable" field of the PDB to an integer value.`;
}
