import { child, controller, defineResource } from "@windlass/runtime";
import { Deployment } from "@windlass/runtime/kinds";
import { z } from "zod";

export const Api = defineResource({
  group: "example.com",
  version: "v1",
  kind: "Api",
  spec: z.object({
    image: z.string().min(1),
    replicas: z.int32().min(0).default(2),
    autoscaled: z.boolean().default(false).describe("Leaves the replicas to an autoscaler"),
  }),
});

/** Keeps a Deployment, whose replicas are the spec's or an autoscaler's. */
export const api = controller(Api, {
  owns: [Deployment],
  reconcile: ({ metadata: { name }, spec: { image, replicas, autoscaled } }) => {
    const labels = { app: name };
    const template = { metadata: { labels }, spec: { containers: [{ name: "api", image }] } };
    const spec = {
      replicas: autoscaled ? undefined : replicas,
      selector: { matchLabels: labels },
      template,
    };
    return {
      children: [child(Deployment, { metadata: { name }, spec }, { handOver: { spec: { replicas: true } } })],
    };
  },
});
