import { cel, defineResource, duration, listMap, listSet, type ObjectOf } from "@windlass/runtime";
import { z } from "zod";
import { cronPattern, timeZonePattern } from "../triggers/patterns.ts";
import { probeResponse } from "./probe-response.ts";
import { trigger } from "./trigger-spec.ts";

const name = z
  .string()
  .min(1)
  .max(253)
  .regex(/^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$/);
const replicas = z.int32().min(1).max(10_000);
const date = z.iso.datetime({ offset: true });

const scaleTargetRef = z
  .object({
    apiVersion: z
      .string()
      .max(253)
      .regex(/^([a-z0-9.-]+\/)?v[0-9][a-z0-9]*$/),
    kind: z
      .string()
      .max(63)
      .regex(/^[A-Za-z][A-Za-z0-9]*$/)
      .describe("A kind with a scale subresource; `deployments` and `rollouts` are old names of two of them"),
    name,
  })
  .check(
    cel("!(self.kind in ['deployments', 'Deployment', 'StatefulSet']) || self.apiVersion == 'apps/v1'", {
      message: "Deployments and StatefulSets are of apiVersion apps/v1",
      fieldPath: ".apiVersion",
    }),
    cel("!(self.kind in ['rollouts', 'Rollout']) || self.apiVersion == 'argoproj.io/v1alpha1'", {
      message: "Rollouts are of apiVersion argoproj.io/v1alpha1",
      fieldPath: ".apiVersion",
    }),
  );

const enabledPeriod = z.object({
  schedule: z
    .string()
    .max(256)
    .regex(cronPattern)
    .default("0 0 * * *")
    .describe("When each period begins, as a cron expression"),
  duration: duration().default("24h").describe("How long it lasts"),
  timeZone: z.string().max(64).regex(timeZonePattern).default("UTC").describe("An IANA time zone"),
});

const hold = z.object({
  timeoutSeconds: z
    .int32()
    .min(1)
    .max(3600)
    .optional()
    .describe("How long a request may wait; by default 600"),
  queueSize: z.int32().min(1).max(1_000_000).optional().describe("How many may wait; by default 10000"),
  requestsPerPod: z.int32().min(1).max(100_000).optional().describe("How many a pod is sent at a time"),
  waitingPage: z
    .object({
      afterSeconds: z.int32().min(0).max(600).default(0),
      html: z
        .string()
        .max(65_536)
        .optional()
        .describe("By default a page that announces that the service is starting"),
    })
    .optional()
    .describe("What a waiting browser is shown"),
});

/** A Service whose target is scaled to zero while no client uses it. */
export const ElastiService = defineResource({
  group: "elasti.truefoundry.com",
  version: "v1alpha1",
  kind: "ElastiService",
  shortNames: ["es"],
  description: "Scales the target of a Service to zero while it is idle, and back when a request comes",
  spec: z
    .object({
      scaleTargetRef: scaleTargetRef.describe("What is scaled, in the same namespace"),
      service: name.max(63).describe("The Service whose requests wake the target, in the same namespace"),
      minTargetReplicas: replicas.default(1).describe("How many replicas it wakes up with, at least"),
      maxTargetReplicas: replicas.optional().describe("How many it wakes up with, at most"),
      requestsPerReplica: z
        .int32()
        .min(1)
        .max(100_000)
        .optional()
        .describe("Wakes with a replica for each so many waiting requests; by default with the least"),
      cooldownPeriod: z
        .int32()
        .min(0)
        .max(604_800)
        .default(900)
        .describe("For how many seconds it must be idle before it sleeps"),
      triggers: z
        .array(trigger)
        .min(1)
        .max(16)
        .optional()
        .describe(
          "Decide whether it is idle: it is if all report idle. Without any it sleeps when scaled to zero by others",
        ),
      autoscaler: z
        .object({ type: z.enum(["hpa", "keda"]), name })
        .optional()
        .describe(
          "What scales the target while it is awake: a HorizontalPodAutoscaler or a KEDA ScaledObject",
        ),
      enabledPeriod: enabledPeriod.optional().describe("When it may sleep. Outside it is kept awake"),
      probeResponse: z
        .array(probeResponse)
        .max(32)
        .optional()
        .describe("Requests that are answered while it sleeps, without waking it"),
      dependsOn: z
        .array(name)
        .max(16)
        .check(listSet())
        .optional()
        .describe("ElastiServices that must be awake before it, and for as long as it is"),
      onDelete: z
        .enum(["Restore", "Keep"])
        .default("Restore")
        .describe("What happens to a sleeping target when this object is deleted: it is woken, or sleeps on"),
      hold: hold.optional().describe("How requests wait"),
      wakeAhead: z
        .object({
          lead: duration().default("2m").describe("How long before its expected need it is woken"),
          timeZone: z.string().max(64).regex(timeZonePattern).default("UTC").describe("An IANA time zone"),
        })
        .optional()
        .describe(
          "Wakes it before the time at which it was needed on most of the last days; by default it is not",
        ),
    })
    .check(
      cel("!has(self.maxTargetReplicas) || self.minTargetReplicas <= self.maxTargetReplicas", {
        message: "must not be less than minTargetReplicas",
        fieldPath: ".maxTargetReplicas",
      }),
    ),
  status: z.object({
    mode: z.enum(["proxy", "serve"]).optional().describe("Whether requests go through the resolver"),
    phase: z.string().optional().describe("Where it is between awake and asleep"),
    step: z
      .int()
      .optional()
      .describe("Counts the changes of phase. The resolver reports which one it follows"),
    phaseSince: date.optional(),
    wakingFor: z.enum(["requests", "readiness"]).optional(),
    retiredPods: z.array(z.string()).optional().describe("UIDs of pods that get no more requests"),
    sleptTarget: z
      .object({
        apiVersion: z.string(),
        kind: z.string(),
        name: z.string(),
        scaledObject: z.string().optional(),
      })
      .optional()
      .describe("What was scaled to zero, and the ScaledObject that was paused for it, until they are back"),
    restsInPath: z
      .boolean()
      .optional()
      .describe("Whether requests go through the resolver while it is awake"),
    ports: z
      .array(
        z.object({
          name: z.string(),
          port: z.int32(),
          listenPort: z.int32(),
          protocol: z.enum(["http"]).optional().describe("What is spoken, if the Service declares it"),
        }),
      )
      .check(listMap("port"))
      .optional()
      .describe("Where the resolver listens for each port of the Service"),
    targetReplicas: z.int32().optional().describe("What the target is scaled to"),
    readyReplicas: z.int32().optional().describe("How many of its pods are ready"),
    lastReconciledTime: date.optional().describe("When it last changed its phase"),
    lastScaledUpTime: date.optional().describe("When it was last wanted awake"),
    neededTimes: z
      .array(date)
      .optional()
      .describe("When it was needed after having slept, in the last days; what wakeAhead learns from"),
  }),
  validations: [
    {
      rule: "!has(self.spec.dependsOn) || !(self.metadata.name in self.spec.dependsOn)",
      message: "spec.dependsOn: must not name the ElastiService itself",
    },
  ],
  printerColumns: [
    { name: "Phase", jsonPath: ".status.phase" },
    { name: "Mode", jsonPath: ".status.mode" },
    { name: "Ready", jsonPath: '.status.conditions[?(@.type=="Ready")].status' },
    { name: "Replicas", jsonPath: ".status.readyReplicas", type: "integer" },
    { name: "Service", jsonPath: ".spec.service" },
    { name: "Target", jsonPath: ".spec.scaleTargetRef.name", priority: 1 },
    { name: "Why", jsonPath: '.status.conditions[?(@.type=="Ready")].message', priority: 1 },
    { name: "Age", jsonPath: ".metadata.creationTimestamp", type: "date" },
  ],
});

/** An ElastiService as the server has it. */
export type ElastiServiceObject = ObjectOf<typeof ElastiService>;

/** The finalizer of the original, kept so that either can take over from the other. */
export const finalizer = "elasti.truefoundry.com/finalizer";
