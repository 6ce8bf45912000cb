import { cel, defineResource, type ObjectOf } from "@windlass/runtime";
import { z } from "zod";
import { common, filled } from "../fields.ts";
import { auth } from "./auth-fields.ts";
import { cache, registries } from "./cache-fields.ts";
import { gateway, networking, observability, tls } from "./gateway-fields.ts";
import { queue, scaling } from "./scaling-fields.ts";
import { poolStatus } from "./status-fields.ts";
import { otherPlatforms, platform, podTemplate, profile, resources, size } from "./worker-fields.ts";

const image = z
  .string()
  .min(1)
  .max(512)
  .regex(/^[^\s]+$/);

/** A pool of BuildKit workers behind one gateway. Every field has a default. */
export const BuildKitPool = defineResource({
  ...common,
  kind: "BuildKitPool",
  shortNames: ["bkp"],
  description: "A pool of BuildKit workers, made on demand, behind one gateway",
  spec: z
    .object({
      scaling: scaling.apply(filled).describe("How many workers there are"),
      queue: queue.apply(filled).describe("How requests wait that no worker can serve yet"),
      size: size.default("md").describe("What a worker asks for and may use"),
      resources: resources.apply(filled).describe("The same in detail"),
      profile: profile
        .default("rootless")
        .describe("How workers are kept apart from their nodes: rootless, user namespace or privileged"),
      platform: platform
        .optional()
        .describe(
          "What workers build for, such as linux/arm64: they run on nodes of its architecture. Default: any",
        ),
      otherPlatforms: otherPlatforms
        .default([])
        .describe("Where one allocation gets its workers of other platforms"),
      buildkitImage: image.optional().describe("Default: a release of moby/buildkit that fits the profile"),
      gatewayImage: image.optional().describe("Default: the operator's own image"),
      buildkitConfig: z
        .string()
        .max(65_536)
        .optional()
        .describe("buildkitd.toml: its values take the place of generated ones, table by table"),
      maxParallelism: z
        .int32()
        .min(1)
        .max(1_024)
        .optional()
        .describe("Build steps at a time. Default: the CPUs"),
      registries: registries.default([]).describe("Mirrors and certificates of registries"),
      podTemplate: podTemplate.apply(filled).describe("What is particular about workers' pods"),
      cache: cache.apply(filled),
      tls: tls.apply(filled),
      auth: auth.apply(filled),
      networking: networking.apply(filled),
      gateway: gateway.apply(filled),
      observability: observability.apply(filled),
    })
    .check(
      cel("self.otherPlatforms.size() == 0 || has(self.platform)", {
        message: "must be set if otherPlatforms are",
        fieldPath: ".platform",
      }),
      cel("!has(self.platform) || self.otherPlatforms.all(p, p.platform != self.platform)", {
        message: "must be of other platforms than the pool's own",
        fieldPath: ".otherPlatforms",
      }),
      cel(
        "!has(self.gateway.nodePort) || (has(self.gateway.serviceType) ? self.gateway.serviceType : self.networking.serviceType) != 'ClusterIP'",
        { message: "needs a serviceType of NodePort or LoadBalancer", fieldPath: ".gateway.nodePort" },
      ),
      cel(
        "!has(self.gateway.loadBalancerClass) || (has(self.gateway.serviceType) ? self.gateway.serviceType : self.networking.serviceType) == 'LoadBalancer'",
        { message: "needs a serviceType of LoadBalancer", fieldPath: ".gateway.loadBalancerClass" },
      ),
    )
    .apply(filled),
  status: poolStatus,
  scale: {
    specReplicasPath: ".spec.scaling.min",
    statusReplicasPath: ".status.workers.total",
    labelSelectorPath: ".status.selector",
  },
  validations: [
    {
      // Names of Services begin with a letter; those of workers and their Secrets add up to 18
      // characters, of 63.
      rule: "self.metadata.name.matches('^[a-z]([-a-z0-9]{0,43}[a-z0-9])?$')",
      message: "metadata.name must begin with a letter and have at most 45 letters, digits and '-'",
    },
  ],
  printerColumns: [
    { name: "Phase", jsonPath: ".status.phase" },
    { name: "Gateway", jsonPath: ".status.gateway.ready", type: "boolean", priority: 1 },
    { name: "Workers", jsonPath: ".status.workers.total", type: "integer" },
    { name: "Ready", jsonPath: ".status.workers.ready", type: "integer" },
    { name: "Desired", jsonPath: ".status.workers.desired", type: "integer", priority: 1 },
    { name: "Needed", jsonPath: ".status.workers.needed", type: "integer", priority: 1 },
    { name: "Idle", jsonPath: ".status.workers.idle", type: "integer", priority: 1 },
    { name: "Allocated", jsonPath: ".status.workers.allocated", type: "integer" },
    { name: "Waiting", jsonPath: ".status.queue.length", type: "integer", priority: 1 },
    { name: "Connections", jsonPath: ".status.connections.active", type: "integer" },
    { name: "Endpoint", jsonPath: ".status.endpoint", priority: 1 },
    { name: "External", jsonPath: ".status.externalEndpoint", priority: 1 },
    { name: "Why", jsonPath: '.status.conditions[?(@.type=="Ready")].message', priority: 1 },
    { name: "Age", jsonPath: ".metadata.creationTimestamp", type: "date" },
  ],
});

/** A pool as it is read. */
export type Pool = ObjectOf<typeof BuildKitPool>;
