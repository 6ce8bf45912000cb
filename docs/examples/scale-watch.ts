import { condition, controller, defineResource } from "@windlass/runtime";
import { Deployment, StatefulSet } from "@windlass/runtime/kinds";
import { z } from "zod";

const kinds = { Deployment, StatefulSet };

export const ScaleWatch = defineResource({
  group: "example.com",
  version: "v1",
  kind: "ScaleWatch",
  spec: z.object({ target: z.object({ kind: z.enum(["Deployment", "StatefulSet"]), name: z.string() }) }),
  status: z.object({ replicas: z.int32().optional() }),
});

/** Reports the replicas of whatever its objects point at. What is followed asks for a reconcile when it changes. */
export const scaleWatch = controller(ScaleWatch, {
  follows: [Deployment, StatefulSet],
  reconcile: async ({ metadata: { namespace }, spec: { target } }, { follow }) => {
    const found = await follow<typeof Deployment | typeof StatefulSet>(kinds[target.kind], {
      namespace,
      name: target.name,
    });
    return {
      status: {
        replicas: found?.status?.readyReplicas ?? 0,
        conditions: [condition("Ready", found !== undefined, found ? "TargetFound" : "TargetMissing")],
      },
    };
  },
});
