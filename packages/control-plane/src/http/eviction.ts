import { replaceCondition } from "../controllers/conditions.ts";
import { clone, type JsonObject, textOf } from "../json.ts";
import { countAt, objectsAt, valueAt } from "../json-fields.ts";
import { selectorMatcher } from "../registry/label-selector.ts";
import { timestamp } from "../registry/metadata.ts";
import type { Registry, RequestContext } from "../registry/registry.ts";
import { StatusError } from "../status.ts";
import type { StoredObject } from "../storage/store.ts";

/**
 * Takes a pod's eviction out of its disruption budget, in one step with the check that there is
 * something left: of two evictions at once only as many succeed as the budget has. A pod that is
 * not running does not count against the budget.
 *
 * @throws StatusError 429 if the budget has nothing to give, 500 if the pod has more than one.
 */
export async function spendBudget(
  registry: Registry,
  pod: StoredObject,
  context: RequestContext,
): Promise<void> {
  const { metadata } = pod;
  const phase = valueAt(pod, "status", "phase");
  if (phase === "Succeeded" || phase === "Failed" || phase === "Pending" || metadata.deletionTimestamp)
    return;
  const budgets = Array.from(registry.store.entries("poddisruptionbudgets.policy")).filter(
    ({ object }) =>
      object.metadata.namespace === metadata.namespace &&
      selectorMatcher(valueAt(object, "spec", "selector"))(metadata.labels),
  );
  const [budget] = budgets;
  const resource = registry.resource("policy", "v1", "poddisruptionbudgets");
  if (!budget || !resource) return;
  if (budgets.length > 1) {
    throw new StatusError({
      code: 500,
      message:
        "This pod has more than one PodDisruptionBudget, which the eviction subresource does not support.",
    });
  }
  if (!isReady(pod) && sparesUnready(budget.object)) return;
  const target = {
    resource,
    namespace: textOf(metadata.namespace),
    name: budget.object.metadata.name,
    subresource: "status",
  };
  await registry.update(
    target,
    context,
    (live) => {
      const allowed = Number(valueAt(live, "status", "disruptionsAllowed") ?? 0);
      if (allowed <= 0) throw nothingLeft(live);
      const next = clone(live);
      const status = next.status as JsonObject;
      status.disruptionsAllowed = allowed - 1;
      if (allowed === 1) status.conditions = spentConditions(live, timestamp(registry.clock));
      status.disruptedPods = {
        ...(status.disruptedPods as JsonObject | undefined),
        [metadata.name]: timestamp(registry.clock),
      };
      return next;
    },
    { kind: "PatchOptions" },
  );
}

function isReady(pod: StoredObject): boolean {
  return objectsAt(pod, "status", "conditions").some(
    ({ type, status }) => type === "Ready" && status === "True",
  );
}

/**
 * Whether evicting pods that are not ready is free: always, or while the budget's desired number is
 * healthy.
 */
function sparesUnready(budget: StoredObject): boolean {
  if (valueAt(budget, "spec", "unhealthyPodEvictionPolicy") === "AlwaysAllow") return true;
  const wanted = countAt(budget, "status", "desiredHealthy");
  return wanted > 0 && countAt(budget, "status", "currentHealthy") >= wanted;
}

function spentConditions(budget: JsonObject, now: string): JsonObject[] {
  return replaceCondition(objectsAt(budget, "status", "conditions"), {
    type: "DisruptionAllowed",
    status: "False",
    observedGeneration: countAt(budget, "status", "observedGeneration"),
    lastTransitionTime: now,
    reason: "InsufficientPods",
    message: "",
  });
}

function nothingLeft(budget: JsonObject): StatusError {
  const name = textOf(valueAt(budget, "metadata", "name"));
  const healthy = Number(valueAt(budget, "status", "currentHealthy") ?? 0);
  const wanted = Number(valueAt(budget, "status", "desiredHealthy") ?? 0);
  return new StatusError({
    code: 429,
    reason: "TooManyRequests",
    message: "Cannot evict pod as it would violate the pod's disruption budget.",
    details: {
      causes: [
        {
          reason: "DisruptionBudget",
          message: `The disruption budget ${name} needs ${wanted} healthy pods and has ${healthy} currently`,
        },
      ],
    },
  });
}
