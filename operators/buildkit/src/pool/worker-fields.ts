import { listMap } from "@windlass/runtime";
import { resourceRequirements } from "@windlass/runtime/schemas";
import { z } from "zod";
import { annotations, filled, objectName } from "../fields.ts";
import { podOverrides } from "./pod-overrides.ts";

/** How much a worker has. */
export const size = z.enum(["sm", "md", "lg", "xl"]);

/** How a worker is kept apart from its node. */
export const profile = z.enum(["rootless", "userns", "privileged"]);

/** A platform as clients name it: system, architecture, and its variant if it has one. */
export const platform = z
  .string()
  .max(64)
  .regex(/^linux\/[a-z0-9]+(\/v[0-9]+)?$/);

/** Where workers of other platforms are. */
export const otherPlatforms = z
  .array(
    z.object({ platform, poolName: objectName.describe("A pool of the same namespace, of that platform") }),
  )
  .max(15)
  .check(listMap("platform"));

const quantities = resourceRequirements();

/** What containers ask for. */
export const resources = z.object({
  buildkit: quantities.exactOptional().describe("Of a worker, instead of those of `size`"),
  sidecar: quantities
    .exactOptional()
    .describe("Has no effect: workers have no sidecar. Accepted from manifests of the original"),
});

/** What users may change of a worker's pod. */
export const podTemplate = z.object({
  metadata: z
    .object({ labels: annotations.default({}), annotations: annotations.default({}) })
    .apply(filled)
    .describe("Labels and annotations of a worker's pod"),
  spec: podOverrides
    .apply(filled)
    .describe("Fields of a worker's pod. A container called buildkitd is merged with the worker's own"),
});
