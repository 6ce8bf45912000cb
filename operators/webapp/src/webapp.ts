import { defineResource } from "@windlass/runtime";
import { z } from "zod";

/** A web application: one image, so many replicas, behind one Service. */
export const WebApp = defineResource({
  group: "example.com",
  version: "v1",
  kind: "WebApp",
  shortNames: ["wa"],
  categories: ["all"],
  spec: z.object({
    image: z.string().min(1).describe("Container image to run"),
    replicas: z.int32().min(0).max(100).default(1).describe("How many pods to run"),
    port: z.int32().min(1).max(65535).default(80).describe("The port the container listens on"),
  }),
  status: z.object({
    replicas: z.int32().optional().describe("How many pods there are"),
    availableReplicas: z.int32().optional().describe("How many pods serve"),
    selector: z.string().optional().describe("Selects the pods, for autoscalers"),
  }),
  scale: {
    specReplicasPath: ".spec.replicas",
    statusReplicasPath: ".status.replicas",
    labelSelectorPath: ".status.selector",
  },
  printerColumns: [
    { name: "Image", jsonPath: ".spec.image", type: "string" },
    { name: "Replicas", jsonPath: ".spec.replicas", type: "integer" },
    { name: "Available", jsonPath: ".status.availableReplicas", type: "integer" },
    { name: "Ready", jsonPath: '.status.conditions[?(@.type=="Ready")].status', type: "string" },
    { name: "Age", jsonPath: ".metadata.creationTimestamp", type: "date" },
  ],
});
