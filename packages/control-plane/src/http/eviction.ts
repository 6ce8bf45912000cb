import { type JsonObject, textOf } from "../json.ts";
import { selectorMatcher } from "../registry/label-selector.ts";
import type { Registry } from "../registry/registry.ts";
import { internalError, StatusError } from "../status.ts";
import { field } from "../storage/store.ts";

/** Why a pod may not be evicted now: a disruption budget that has nothing to give. Undefined if it may. */
export function blockingBudget({ store }: Registry, pod: JsonObject): StatusError | undefined {
  const metadata = pod.metadata as JsonObject;
  const budgets = [...store.entries("poddisruptionbudgets.policy")].filter(
    ({ object }) =>
      object.metadata.namespace === metadata.namespace &&
      selectorMatcher(field(object, "spec", "selector"))(metadata.labels as JsonObject | undefined),
  );
  if (budgets.length === 0) return undefined;
  if (budgets.length > 1) {
    return internalError(
      "This pod has more than one PodDisruptionBudget, which the eviction subresource does not support.",
    );
  }
  const budget = budgets[0]?.object as JsonObject;
  const phase = field(pod, "status", "phase");
  if (phase === "Succeeded" || phase === "Failed" || phase === "Pending" || metadata.deletionTimestamp)
    return undefined;
  const allowed = Number(field(budget, "status", "disruptionsAllowed") ?? 0);
  if (allowed > 0) return undefined;
  const name = textOf((budget.metadata as JsonObject).name);
  const healthy = Number(field(budget, "status", "currentHealthy") ?? 0);
  const wanted = Number(field(budget, "status", "desiredHealthy") ?? 0);
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
