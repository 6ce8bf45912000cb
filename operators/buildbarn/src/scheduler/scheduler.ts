import { cel, defineResource, type ObjectOf } from "@windlass/runtime";
import { z } from "zod";
import {
  common,
  componentColumns,
  componentName,
  componentStatus,
  escapeHatches,
  filled,
  hostName,
  ingress,
  instanceNamePrefix,
  membership,
  oneHatch,
  pods,
  serviceType,
  span,
} from "../fields.ts";

/** What a BuildbarnScheduler, or the scheduler of a BuildbarnCluster, may set. */
export const schedulerFields = {
  ...pods,
  replicas: z
    .int32()
    .min(0)
    .max(1)
    .default(1)
    .describe(
      "At most one: the queue is in its memory. For more, have schedulers for instance name prefixes",
    ),
  ...escapeHatches,
  serviceType: serviceType.default("ClusterIP"),
  instanceNamePrefix: instanceNamePrefix
    .default("")
    .describe("Which actions it schedules, by Bazel's --remote_instance_name"),
  ingressHost: z
    .union([hostName, z.literal("")])
    .exactOptional()
    .describe("Host of the Ingress to its page. Default: bb-scheduler.<namespace>; empty: none"),
  ingress: ingress.apply(filled),
  executionTimeout: z
    .object({
      default: span.default("30m").describe("For actions that name none"),
      maximum: span.default("2h").describe("The most that an action may ask for"),
    })
    .apply(filled)
    .check(
      cel("duration(self.default) <= duration(self.maximum)", {
        message: "must not exceed maximum",
        fieldPath: ".default",
      }),
    ),
  drainTimeout: span
    .default("10m")
    .describe(
      "For how long running actions are waited for before a change restarts it. New ones wait in the meantime",
    ),
  noWorkersTimeout: span
    .default("15m")
    .describe("How long a queue stays whose last worker has gone, if no BuildbarnWorker has its platform"),
};

/** Gives actions to workers. */
export const BuildbarnScheduler = defineResource({
  ...common,
  kind: "BuildbarnScheduler",
  shortNames: ["bbsc"],
  description: "The scheduler of a Buildbarn set, which gives actions to workers",
  spec: z
    .object({ ...membership, ...schedulerFields })
    .check(oneHatch)
    .apply(filled),
  status: z.object({
    ...componentStatus,
    restart: z
      .object({
        serving: z.string().describe("The revision of the pod that is to be replaced"),
        since: z.string().describe("Since when workers get no new actions"),
        silentSince: z.string().optional().describe("Since when the scheduler does not answer"),
      })
      .optional()
      .describe("A restart that waits for running actions. The operator continues from it"),
    frontend: z
      .string()
      .optional()
      .describe(
        "The BuildbarnFrontend through which it reads actions. It stays the same while that is there",
      ),
  }),
  validations: [componentName],
  printerColumns: componentColumns,
});

/** A scheduler, as it is read. */
export type Scheduler = ObjectOf<typeof BuildbarnScheduler>;
