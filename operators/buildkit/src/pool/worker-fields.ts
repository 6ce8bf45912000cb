import { resourceRequirements } from "@windlass/runtime/schemas";
import { z } from "zod";
import { annotations, filled } from "../fields.ts";
import { podOverrides } from "./pod-overrides.ts";

/** How much a worker has. */
export const size = z.enum(["sm", "md", "lg", "xl"]);

/** How a worker is kept apart from its node. */
export const profile = z.enum(["rootless", "userns", "privileged"]);

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
