import { cel, listMap } from "@windlass/runtime";
import {
  localObjectReference,
  podSecurityContext,
  resourceRequirements,
  toleration,
} from "@windlass/runtime/schemas";
import { z } from "zod";

export { filled } from "@windlass/runtime";

import { defaultVersion, versions } from "./configuration/versions.ts";

/** The group of all kinds, the original's. */
export const group = "buildbarn.io";

/** What all kinds have in common. */
export const common = { group, version: "v1alpha1", categories: ["buildbarn"] } as const;

const dnsLabel = "[a-z0-9]([-a-z0-9]*[a-z0-9])?";

/** The name of an object in the same namespace. */
export const objectName = z
  .string()
  .min(1)
  .max(253)
  .regex(new RegExp(`^${dnsLabel}([.]${dnsLabel})*$`));

/** One label of a DNS name: letters, digits and `-`. */
export const label = z
  .string()
  .min(1)
  .max(63)
  .regex(new RegExp(`^${dnsLabel}$`));

/** A DNS name without a port. */
export const hostName = objectName;

/** A container image. The host of its registry may be an IPv6 address in brackets. */
export const image = z
  .string()
  .min(1)
  .max(512)
  .regex(/^[A-Za-z0-9[][-A-Za-z0-9._/:@[\]]*$/);

/** A span of time above zero as Go writes it, such as `90s` or `1h30m`. */
export const span = z
  .string()
  .max(32)
  .regex(/^([0-9]+([.][0-9]+)?(ms|s|m|h))+$/)
  .check(cel("duration(self) > duration('0s')", "must be above 0"));

/** An amount of bytes, such as `33Gi`. */
export const size = z
  .string()
  .max(32)
  .regex(/^[0-9]+([KMGTP]i?)?$/)
  .check(cel("quantity(self).isGreaterThan(quantity('0'))", "must be above 0"))
  .check(cel("quantity(self).isLessThan(quantity('8Ei'))", "must be below 8Ei"));

/**
 * The prefix of Bazel's `--remote_instance_name`; empty for all. Words that resource names are made
 * of cannot be a part of it.
 */
export const instanceNamePrefix = z
  .string()
  .max(253)
  .regex(/^([A-Za-z0-9._-]+(\/[A-Za-z0-9._-]+)*)?$/)
  .check(
    cel(
      "!self.matches('(^|/)(blobs|uploads|actions|actionResults|operations|capabilities|compressed-blobs)(/|$)')",
      "must have none of blobs, uploads, actions, actionResults, operations, capabilities and compressed-blobs between its slashes: no program starts with them",
    ),
  );

/** How a Service is reached. */
export const serviceType = z.enum(["ClusterIP", "NodePort", "LoadBalancer"]);

/** Annotations to put on an object. */
export const annotations = z.record(z.string(), z.string().max(4_096));

/** Which set of components a resource belongs to. */
export const membership = {
  cluster: label
    .default("buildbarn")
    .describe("The components of a namespace that belong together have the same: they find each other by it"),
  version: z
    .enum(versions)
    .default(defaultVersion)
    .describe("The release of Buildbarn: which images run, and how their configuration is written"),
};

/** What is particular about a component's pods. */
export const pods = {
  image: image.exactOptional().describe("Default: that of the version"),
  imagePullSecrets: z.array(localObjectReference()).max(16).check(listMap("name")).exactOptional(),
  resources: resourceRequirements().exactOptional().describe("What the main container asks for and may use"),
  nodeSelector: z.record(z.string(), z.string()).exactOptional(),
  tolerations: z.array(toleration()).max(64).exactOptional(),
  priorityClassName: objectName.exactOptional(),
  minReadySeconds: z
    .int32()
    .min(0)
    .max(600)
    .default(10)
    .describe(
      "For how long a pod of a new image or configuration must be ready without a break before it counts as well, and the next one is replaced",
    ),
  securityContext: podSecurityContext()
    .exactOptional()
    .describe(
      "Who the pods run as, in place of user 65532 under the restricted Pod Security Standard. For volumes without support of fsGroup, such as host paths",
    ),
};

/** What prepares directories in volumes: Buildbarn's own images have no shell. */
export const volumeInitImage = image
  .default("busybox:1.31.1-uclibc")
  .describe("Image with a shell that makes the directories of a new volume");

/** Ways around the generated configuration. */
export const escapeHatches = {
  configMapName: objectName
    .exactOptional()
    .describe(
      "A ConfigMap of your own with the whole configuration, mounted at /config. It is evaluated and checked before it is used",
    ),
  configOverrides: z
    .string()
    .max(65_536)
    .exactOptional()
    .describe("Jsonnet that is added to the generated configuration: an object whose fields take its place"),
};

/** Goes on every spec that has {@link escapeHatches}. */
export const oneHatch = cel("!has(self.configMapName) || !has(self.configOverrides)", {
  message: "has no effect on a ConfigMap of your own: write it there",
  fieldPath: ".configOverrides",
});

/** The details of an Ingress. */
export const ingress = z.object({
  className: objectName.exactOptional(),
  annotations: annotations.default({}),
  tlsSecretName: objectName.exactOptional().describe("A Secret with the certificate of the host"),
});

/** What is known of a component: the original's fields. Conditions have the rest. */
export const componentStatus = {
  state: z.enum(["Ready", "NotReady", "NotFound"]).optional().describe("In one word, as the original has it"),
  replicas: z.int32().min(0).optional(),
  readyReplicas: z.int32().min(0).optional(),
  selector: z.string().optional().describe("Selects the pods, for kubectl scale and autoscalers"),
};

/** What `kubectl get` shows of a component. */
export const componentColumns = [
  { name: "State", jsonPath: ".status.state" },
  { name: "Replicas", jsonPath: ".status.replicas", type: "integer" },
  { name: "Ready", jsonPath: ".status.readyReplicas", type: "integer" },
  { name: "Version", jsonPath: ".spec.version", priority: 1 },
  { name: "Config", jsonPath: '.status.conditions[?(@.type=="ConfigValid")].status', priority: 1 },
  { name: "Why", jsonPath: '.status.conditions[?(@.type=="Ready")].message', priority: 1 },
  { name: "Age", jsonPath: ".metadata.creationTimestamp", type: "date" },
] as const;

/** Names of components are names of Services, with room for what is added to them. */
export const componentName = {
  rule: "self.metadata.name.matches('^[a-z]([-a-z0-9]{0,43}[a-z0-9])?$')",
  message: "metadata.name must begin with a letter and have at most 45 letters, digits and '-'",
};
