import type { Pod } from "@windlass/kinds/builtin";
import { replaceCondition } from "../../controllers/conditions.ts";
import { type ControllerDependencies, type Running, startLoop } from "../../controllers/loop.ts";
import {
  builtin,
  controllerContext,
  deleteIfPresent,
  isDeleting,
  stored,
  writeStatus,
} from "../../controllers/objects.ts";
import { isFinished } from "../../controllers/pods.ts";
import { textOf } from "../../json.ts";
import { objectsAt, statusOf, valueAt } from "../../json-fields.ts";
import { timestamp } from "../../registry/metadata.ts";

/** How long a deleted node may take to come back. */
const quarantineMs = 40_000;

/**
 * Deletes orphaned pods: those of deleted nodes, and those deleted before they had a node.
 */
export function startPodGarbageCollector(deps: ControllerDependencies): Running {
  const { registry } = deps;
  const { store, clock } = registry;
  const pods = builtin<Pod>(registry, "", "v1", "pods");
  const context = controllerContext("pod-garbage-collector");
  const missing = new Map<string, number>();

  return startLoop(deps, {
    name: "pod-garbage-collector-controller",
    watches: {
      [pods.bucket]: ({ key, entry, type }) =>
        type !== "DELETED" &&
        (isDeleting(entry.object) || !hasNode(textOf(valueAt(entry.object, "spec", "nodeName"))))
          ? [key]
          : [],
      nodes: ({ key, type }) =>
        type === "MODIFIED"
          ? []
          : [...store.entries(pods.bucket)]
              .filter(({ object }) => valueAt(object, "spec", "nodeName") === key)
              .map((entry) => entry.key)
              .sort(),
    },
    reconcile: async (key) => {
      const pod = stored(registry, pods, key);
      const node = textOf(valueAt(pod, "spec", "nodeName"));
      if (!pod || hasNode(node)) {
        missing.delete(key);
        return undefined;
      }
      if (node === "") {
        if (isDeleting(pod)) await deleteIfPresent(registry, pods, pod, context, { gracePeriodSeconds: 0 });
        return undefined;
      }
      const since = missing.get(key) ?? clock.now();
      missing.set(key, since);
      const left = since + quarantineMs - clock.now();
      if (left > 0) return { requeueAfterMs: left };
      missing.delete(key);
      if (!isFinished(pod)) {
        const conditions = replaceCondition(objectsAt(pod, "status", "conditions"), {
          type: "DisruptionTarget",
          status: "True",
          lastProbeTime: null,
          lastTransitionTime: timestamp(clock),
          reason: "DeletionByPodGC",
          message: "PodGC: node no longer exists",
        });
        const status = { ...statusOf(pod), phase: "Failed", conditions };
        await writeStatus(registry, pods, pod, status, context);
      }
      await deleteIfPresent(registry, pods, pod, context, { gracePeriodSeconds: 0 });
      return undefined;
    },
  });

  function hasNode(name: string): boolean {
    return name !== "" && store.get("nodes", name) !== undefined;
  }
}
