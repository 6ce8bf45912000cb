import { defineResource } from "@windlass/runtime";
import { z } from "zod";

/** A kind in a namespace, with a status. */
export const Shop = defineResource({
  group: "example.com",
  version: "v1",
  kind: "Shop",
  spec: z.object({
    image: z.string(),
    replicas: z.int32().min(0).default(1),
    host: z.string().optional(),
    config: z.string().optional(),
    ports: z.array(z.object({ name: z.string(), port: z.int32() })).default([]),
  }),
  status: z.object({
    phase: z.enum(["Waiting", "Ready"]).optional(),
    available: z.int32().optional(),
    endpoints: z.array(z.object({ url: z.string() })).optional(),
  }),
});

/** A kind without namespaces, and without a status. */
export const Region = defineResource({
  group: "example.com",
  version: "v1",
  kind: "Region",
  scope: "Cluster",
  spec: z.object({ zones: z.array(z.string()).default([]) }),
});
