import { groupOf } from "@windlass/kinds";
import { replaceCondition } from "../../controllers/conditions.ts";
import { eventRecorder } from "../../controllers/events.ts";
import { type ControllerDependencies, ownKey, type Running, startLoop } from "../../controllers/loop.ts";
import {
  builtin,
  controllerContext,
  edit,
  isDeleting,
  kindNamed,
  writeStatus,
} from "../../controllers/objects.ts";
import { type JsonObject, textOf } from "../../json.ts";
import { countAt, namespaceOf, numberAt, objectAt, objectsAt, statusOf, valueAt } from "../../json-fields.ts";
import { timestamp } from "../../registry/metadata.ts";
import type { Resource } from "../../registry/resource.ts";
import { StatusError } from "../../status.ts";
import type { StoredObject } from "../../storage/store.ts";
import { type MetricFault, metricFault, usualMetric } from "./metric-faults.ts";

/**
 * How often an autoscaler looks at what it targets. The first time is so long after its creation.
 */
const periodMs = 15_000;

/**
 * Keeps what an autoscaler targets between its bounds. There are no metrics here, so within the
 * bounds it does what the real one does without them: nothing, and reports it.
 */
export function startHorizontalPodAutoscalers(deps: ControllerDependencies): Running {
  const { registry } = deps;
  const { store, clock } = registry;
  const context = controllerContext("horizontal-pod-autoscaler");
  const record = eventRecorder(registry, { component: "horizontal-pod-autoscaler", context });
  const scalers = builtin(registry, "autoscaling", "v2", "horizontalpodautoscalers");
  /** When each autoscaler is due next. Changes in between do not trigger it. */
  const due = new Map<string, number>();

  return startLoop(deps, {
    name: "horizontal-pod-autoscaler-controller",
    watches: { [scalers.bucket]: ownKey },
    reconcile: async (key) => {
      const scaler = store.get(scalers.bucket, key)?.object;
      if (!scaler) {
        due.delete(key);
        return undefined;
      }
      const now = clock.monotonic();
      const at = due.get(key) ?? now + periodMs;
      if (now < at) {
        due.set(key, at);
        return { requeueAfterMs: at - now };
      }
      due.set(key, now + periodMs);
      if (!isDeleting(scaler)) await bound(scaler);
      return { requeueAfterMs: periodMs };
    },
  });

  async function bound(scaler: StoredObject): Promise<void> {
    let conditions: readonly JsonObject[] = objectsAt(scaler, "status", "conditions");
    const set = (type: string, status: string, reason: string, message: string) => {
      const lastTransitionTime = timestamp(clock);
      conditions = replaceCondition(conditions, { type, status, lastTransitionTime, reason, message });
    };
    const write = async (more: JsonObject) => {
      const status = { ...statusOf(scaler), ...more, conditions: [...conditions] };
      await writeStatus(registry, scalers, scaler, status, context);
    };
    let target: { resource: Resource; object: StoredObject; replicas: number };
    try {
      target = await targetOf(scaler);
    } catch (error) {
      if (!(error instanceof StatusError)) throw error;
      await record(scaler, { type: "Warning", reason: "FailedGetScale", message: error.message });
      set(
        "AbleToScale",
        "False",
        "FailedGetScale",
        `the HPA controller was unable to get the target's current scale: ${error.message}`,
      );
      await write({ desiredReplicas: countAt(scaler, "status", "desiredReplicas") });
      return;
    }
    set(
      "AbleToScale",
      "True",
      "SucceededGetScale",
      "the HPA controller was able to get the target's current scale",
    );
    const { replicas } = target;
    const least = numberAt(scaler, "spec", "minReplicas") ?? 1;
    const most = numberAt(scaler, "spec", "maxReplicas") ?? Number.POSITIVE_INFINITY;
    if (replicas === 0 && least !== 0) {
      set(
        "ScalingActive",
        "False",
        "ScalingDisabled",
        "scaling is disabled since the replica count of the target is zero",
      );
      await write({ currentReplicas: replicas, desiredReplicas: 0 });
      return;
    }
    const desired = Math.min(most, Math.max(least, replicas));
    if (desired === replicas) {
      await tellMetrics(scaler, set);
      await write({
        currentReplicas: replicas,
        desiredReplicas: countAt(scaler, "status", "desiredReplicas"),
        ...(objectsAt(scaler, "spec", "metrics").length > 0
          ? { currentMetrics: objectsAt(scaler, "spec", "metrics").map(() => ({ type: "" })) }
          : {}),
      });
      return;
    }
    await edit(registry, target.resource, target.object, context, (next) => {
      target.resource.scale?.set(next, { spec: { replicas: desired } });
    });
    const why = replicas > most ? "above Spec.MaxReplicas" : "below Spec.MinReplicas";
    await record(scaler, {
      type: "Normal",
      reason: "SuccessfulRescale",
      message: `New size: ${desired}; reason: Current number of replicas ${why}`,
    });
    set(
      "AbleToScale",
      "True",
      "SucceededRescale",
      `the HPA controller was able to update the target scale to ${desired}`,
    );
    await write({ currentReplicas: replicas, desiredReplicas: desired, lastScaleTime: timestamp(clock) });
  }

  /** Reports that there are no metrics, with the names of those that were asked for. */
  async function tellMetrics(
    scaler: StoredObject,
    set: (type: string, status: string, reason: string, message: string) => void,
  ): Promise<void> {
    const wanted = objectsAt(scaler, "spec", "metrics");
    const faults = (wanted.length > 0 ? wanted : [usualMetric]).map((metric) =>
      metricFault(metric, namespaceOf(scaler)),
    );
    const [first] = faults as [MetricFault, ...MetricFault[]];
    set(
      "ScalingActive",
      "False",
      first.reason,
      `the HPA was unable to compute the replica count: ${first.message}`,
    );
    for (const { reason, message } of faults) await record(scaler, { type: "Warning", reason, message });
    await record(scaler, {
      type: "Warning",
      reason: "FailedComputeMetricsReplicas",
      message: `invalid metrics (${faults.length} invalid out of ${faults.length}), first error is: ${first.value}: ${first.message}`,
    });
  }

  /** What an autoscaler scales, of whatever kind it is. @throws StatusError */
  async function targetOf(
    scaler: StoredObject,
  ): Promise<{ resource: Resource; object: StoredObject; replicas: number }> {
    const reference = objectAt(scaler, "spec", "scaleTargetRef");
    const [group, version] = [
      groupOf(textOf(reference.apiVersion)),
      textOf(reference.apiVersion).split("/").at(-1) ?? "",
    ];
    const info = kindNamed(registry, { group, kind: textOf(reference.kind), version });
    if (!info) {
      throw new StatusError({
        code: 404,
        message: `no matches for kind "${textOf(reference.kind)}" in group "${group}"`,
      });
    }
    const resource = registry.resourceFor(info);
    const target = { resource, namespace: namespaceOf(scaler), name: textOf(reference.name) };
    const { scale } = resource;
    const object = (await registry.get(target)) as StoredObject;
    const shown = scale?.get(object);
    if (!shown)
      throw new StatusError({ code: 404, message: "the server could not find the requested resource" });
    return { resource, object, replicas: Number(valueAt(shown, "spec", "replicas") ?? 0) };
  }
}
