import { cel, defineResource, type ObjectOf } from "@windlass/runtime";
import { z } from "zod";
import { bound, common, container, host, percentage, replicas } from "./fields.ts";

const v1 = defineResource({
  ...common,
  version: "v1",
  spec: z.object({
    ...container,
    replicas: replicas.default(1).describe("How many pods to run; with autoscaling, how many to begin with"),
    host: host.optional().describe("Makes an Ingress for this host name"),
    autoscaling: z
      .object({ min: bound, max: bound, targetCPUUtilizationPercentage: percentage.default(80) })
      .check(cel("self.min <= self.max", "min must not exceed max"))
      .optional()
      .describe("Has a HorizontalPodAutoscaler choose the number of pods"),
  }),
  scale: { labelSelectorPath: ".status.selector" },
});

/**
 * What v1 taught: one place for how many pods there are, and room for more about the Ingress than
 * its host.
 */
const v2 = defineResource({
  ...common,
  version: "v2",
  spec: z.object({
    ...container,
    ingress: z.object({ host }).optional().describe("Makes an Ingress"),
    scaling: z
      .object({
        min: replicas.default(1).describe("How many pods to run, or at least to run"),
        max: bound.optional().describe("How many pods a HorizontalPodAutoscaler may go up to"),
        targetCPUUtilizationPercentage: percentage.exactOptional(),
      })
      .check(
        cel("!has(self.max) || (self.min >= 1 && self.min <= self.max)", "min must be from 1 to max"),
        cel("has(self.max) || !has(self.targetCPUUtilizationPercentage)", "a target needs a max"),
      )
      .default({ min: 1 }),
  }),
  scale: { specReplicasPath: ".spec.scaling.min", labelSelectorPath: ".status.selector" },
});

/** Holds what v2 has no field for: the replicas that v1 begins with while an autoscaler decides. */
const begin = "example.com/v1-replicas";

/** A web application, stored as v1, and served as v1 and v2. */
export const WebApp = v1.withVersion(v2, {
  to({ metadata, spec: { replicas, autoscaling, host, ...container } }) {
    const kept = autoscaling && autoscaling.min !== replicas && { [begin]: String(replicas) };
    return {
      metadata: { annotations: { ...metadata.annotations, ...kept } },
      spec: { ...container, ...(host && { ingress: { host } }), scaling: autoscaling ?? { min: replicas } },
    };
  },
  from({ metadata, spec: { scaling, ingress, ...container } }) {
    const { min, max, ...target } = scaling;
    const { [begin]: kept = min, ...annotations } = metadata.annotations ?? {};
    const fixed = { ...container, ...ingress, replicas: min };
    const begun = replicas.catch(min).parse(Number(kept || min));
    return {
      metadata: { annotations },
      spec: max ? { ...fixed, replicas: begun, autoscaling: { min, max, ...target } } : fixed,
    };
  },
});

/** A WebApp as it is stored. */
export type App = ObjectOf<typeof v1>;
