import { child, controller, defineResource } from "@windlass/runtime";
import { Deployment, Service } from "@windlass/runtime/kinds";
import { z } from "zod";
import { defineOperator } from "../generate/operator.ts";

export const Shop = defineResource({
  group: "acme.io",
  version: "v1",
  kind: "Shop",
  spec: z.object({ replicas: z.int32().default(1), isOpen: z.boolean().default(true) }),
  status: z.object({ available: z.int32().optional() }),
});

export const shopController = controller(Shop, {
  owns: [Deployment, Service],
  reconcile: ({ metadata: { name }, spec }, { owned }) => {
    if (spec.replicas === 13) throw new Error("thirteen is an unlucky number");
    const labels = { shop: name };
    return {
      children: [
        child(Deployment, {
          metadata: { name },
          spec: {
            replicas: spec.replicas,
            selector: { matchLabels: labels },
            template: { metadata: { labels }, spec: { containers: [{ name: "web", image: "nginx:1.29" }] } },
          },
        }),
        spec.isOpen &&
          child(Service, { metadata: { name }, spec: { selector: labels, ports: [{ port: 80 }] } }),
      ],
      status: { available: owned(Deployment, name)?.status?.availableReplicas ?? 0 },
    };
  },
});

export const operator = defineOperator({
  name: "shop-operator",
  description: "Shops",
  kinds: [Shop],
  controllers: [shopController],
});
