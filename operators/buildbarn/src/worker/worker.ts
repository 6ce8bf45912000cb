import { cel, defineResource, immutable, listMap, type ObjectOf } from "@windlass/runtime";
import { resourceRequirements } from "@windlass/runtime/schemas";
import { z } from "zod";
import {
  common,
  componentColumns,
  componentName,
  componentStatus,
  escapeHatches,
  filled,
  image,
  instanceNamePrefix,
  label,
  membership,
  oneHatch,
  pods,
  size,
  span,
  volumeInitImage,
} from "../fields.ts";

/** How many pods there are. */
const replicas = z.int32().min(0).max(1_000);

/** What a BuildbarnWorker, or a worker of a BuildbarnCluster, may set. */
export const workerFields = {
  ...pods,
  replicas: replicas
    .default(8)
    .describe("Pods. kubectl scale, HPA and KEDA change it. Has no effect where autoscaling is set"),
  autoscaling: z
    .object({
      minReplicas: z.int32().min(0).max(1_000).default(0),
      maxReplicas: z.int32().min(1).max(1_000),
      scaleDownDelay: span
        .default("5m")
        .describe("For how long fewer pods must do before any goes. More come at once"),
    })
    .check(
      cel("self.minReplicas <= self.maxReplicas", {
        message: "must not exceed maxReplicas",
        fieldPath: ".minReplicas",
      }),
    )
    .exactOptional()
    .describe("Has the operator set the number of pods by what waits in the scheduler's queue"),
  ...escapeHatches,
  instance: label
    .default("ubuntu22-04")
    .check(immutable("cannot be changed: make another BuildbarnWorker"))
    .describe("What distinguishes these workers from others: in the names of their configuration files"),
  runnerImage: image
    .default("ghcr.io/catthehacker/ubuntu:act-22.04")
    .describe("Where actions run: with the compilers and tools that they need"),
  runnerInstallerImage: image.exactOptional().describe("Default: that of the version"),
  volumeInitImage,
  runnerResources: resourceRequirements().exactOptional().describe("What actions together may use"),
  platform: z
    .array(z.object({ name: z.string().min(1).max(128), value: z.string().max(512) }))
    .min(1)
    .max(32)
    .check(listMap("name", "value"))
    .exactOptional()
    .describe(
      "What actions must ask for, exactly, to run here; in any order. Default: OSFamily linux, and container-image docker://<runnerImage>",
    ),
  sizeClass: z
    .int32()
    .min(0)
    .default(0)
    .describe(
      "Of several BuildbarnWorkers with one platform, how large these are: above 0 then. The largest runs what fails",
    ),
  instanceNamePrefix: instanceNamePrefix
    .default("")
    .describe("Whose actions run here, by Bazel's --remote_instance_name"),
  concurrency: z.int32().min(1).max(1_000).default(8).describe("Actions at a time in a pod"),
  inputCache: z
    .object({
      size: size.default("1Gi"),
      files: z.int32().min(1).default(10_000),
    })
    .apply(filled)
    .describe("Inputs that a pod keeps for its next actions"),
  completedActionLoggers: z
    .array(
      z.object({
        address: z
          .string()
          .max(260)
          .regex(/^[a-z0-9]([-.a-z0-9]*[a-z0-9])?:[1-9][0-9]{0,4}$/)
          .check(cel("int(self.split(':')[1]) < 65536", "must have a port below 65536"))
          .describe("host:port of a service that takes CompletedActions in, such as bb_event_service"),
        maximumSendQueueSize: z
          .int32()
          .min(1)
          .max(1_000_000)
          .default(1_000)
          .describe("How many may wait. More are dropped: no action waits for them"),
        addInstanceNamePrefix: instanceNamePrefix
          .default("")
          .describe("Put before the instance names that it receives"),
      }),
    )
    .min(1)
    .max(8)
    .check(listMap("address"))
    .exactOptional()
    .describe("Services that receive each completed action"),
  terminationGracePeriodSeconds: z
    .int32()
    .min(1)
    .max(604_800)
    .default(7_500)
    .describe("How long a pod that stops may finish its actions: more than the longest of them takes"),
};

/** What a worker of a BuildbarnCluster may set. */
export const workerFieldsOfCluster = {
  ...workerFields,
  replicas: replicas
    .exactOptional()
    .describe("Pods. Default: 8, which kubectl scale, HPA and KEDA may change on the BuildbarnWorker"),
};

/** Runs actions. */
export const BuildbarnWorker = defineResource({
  ...common,
  kind: "BuildbarnWorker",
  shortNames: ["bbw"],
  description: "Workers of a Buildbarn set, which run actions of one platform",
  spec: z
    .object({ ...membership, ...workerFields })
    .check(oneHatch)
    .apply(filled),
  status: z.object({
    ...componentStatus,
    draining: z
      .array(z.string())
      .optional()
      .describe(
        "Pods that get no new actions, because they are to go, and those whose drain is still to be removed",
      ),
    autoscaling: z
      .object({
        desiredReplicas: z.int32().min(0),
        lowerSince: z.string().optional().describe("Since when fewer pods would do"),
        mostSince: z.int32().min(0).optional().describe("The most that were needed since then"),
      })
      .optional(),
  }),
  scale: { labelSelectorPath: ".status.selector" },
  validations: [componentName],
  printerColumns: [
    ...componentColumns.slice(0, 3),
    { name: "Instance", jsonPath: ".spec.instance" },
    ...componentColumns.slice(3),
  ],
});

/**
 * How long after its pods should have stopped a resource goes without them: their node may be gone.
 */
export const lostNodeMs = 120_000;

/** How long workers that are deleted may take at most. */
export function workerStopMs(
  { terminationGracePeriodSeconds }: Pick<Worker["spec"], "terminationGracePeriodSeconds">,
  lostMs: number = lostNodeMs,
): number {
  return terminationGracePeriodSeconds * 1_000 + lostMs;
}

/** Workers, as they are read. */
export type Worker = ObjectOf<typeof BuildbarnWorker>;
