import { defineResource } from "@windlass/runtime";
import { z } from "zod";

/**
 * What users write, and what they read back. The types, the CRD and its validation come from here.
 */
export const Gadget = defineResource({
  group: "example.com",
  version: "v1",
  kind: "Gadget",
  spec: z.object({
    image: z.string().min(1).describe("Container image to run"),
    replicas: z.int32().min(0).max(100).default(1).describe("How many pods to run"),
  }),
  status: z.object({
    availableReplicas: z.int32().optional().describe("How many pods are available"),
  }),
  printerColumns: [
    { name: "Available", jsonPath: ".status.availableReplicas", type: "integer" },
    { name: "Image", jsonPath: ".spec.image", type: "string" },
  ],
});
