import { randomBytes } from "node:crypto";
import { child, condition, controller, defineResource, isReady } from "@windlass/runtime";
import { Deployment, Secret, Service, StatefulSet } from "@windlass/runtime/kinds";
import { z } from "zod";

export const Shop = defineResource({
  group: "example.com",
  version: "v1",
  kind: "Shop",
  spec: z.object({ image: z.string().min(1), database: z.string().default("postgres:17") }),
  status: z.object({ ready: z.boolean().optional() }),
});

export const shop = controller(Shop, {
  owns: [Deployment, Secret, Service, StatefulSet],
  reconcile: ({ metadata: { name }, spec: { image, database: databaseImage } }, { owned }) => {
    const pods = (part: string, container: { name: string; image: string }) => {
      const labels = { shop: name, part };
      const template = { metadata: { labels }, spec: { containers: [container] } };
      return { replicas: 1, selector: { matchLabels: labels }, template };
    };
    const password = child(
      Secret,
      { metadata: { name }, stringData: { password: randomBytes(16).toString("hex") } },
      { update: "never", onRemoval: "keep" },
    );
    const database = child(
      StatefulSet,
      {
        metadata: { name: `${name}-database` },
        spec: { ...pods("database", { name: "postgres", image: databaseImage }), serviceName: name },
      },
      { after: [password] },
    );
    const web = child(
      Deployment,
      { metadata: { name }, spec: pods("web", { name: "web", image }) },
      { after: [database], onImmutable: "replace" },
    );
    const service = child(Service, {
      metadata: { name },
      spec: { selector: { shop: name, part: "web" }, ports: [{ port: 80 }] },
    });
    const running = owned(Deployment, name);
    const ready = running !== undefined && isReady(Deployment, running);
    return {
      children: [service, password, database, web],
      status: {
        ready,
        conditions: [condition("Ready", ready, running ? "WebRunning" : "WaitingForDatabase")],
      },
    };
  },
});
