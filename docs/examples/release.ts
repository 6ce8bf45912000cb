import { child, condition, controller, defineResource } from "@windlass/runtime";
import { Deployment, Job } from "@windlass/runtime/kinds";
import { z } from "zod";

export const Release = defineResource({
  group: "example.com",
  version: "v1",
  kind: "Release",
  spec: z.object({ image: z.string().min(1) }),
  status: z.object({ image: z.string().optional() }),
});

/** Migrates the database before the servers of a new image start. */
export const release = controller(Release, {
  owns: [Job, Deployment],
  reconcile: ({ metadata: { name }, spec: { image } }, { owned }) => {
    const labels = { release: name };
    const containers = [{ name: "app", image }];
    const migration = child(
      Job,
      {
        metadata: { name: `${name}-migration` },
        spec: {
          backoffLimit: 2,
          template: {
            spec: {
              restartPolicy: "Never",
              containers: [{ name: "app", image, command: ["app", "migrate"] }],
            },
          },
        },
      },
      // A Job's template cannot be changed: another image is another Job.
      { onImmutable: "replace", readyWhen: ({ status }) => (status?.succeeded ?? 0) > 0 },
    );
    const servers = child(
      Deployment,
      {
        metadata: { name },
        spec: { selector: { matchLabels: labels }, template: { metadata: { labels }, spec: { containers } } },
      },
      { after: [migration] },
    );
    const running = owned(Deployment, name)?.spec.template.spec?.containers[0]?.image;
    return {
      children: [migration, servers],
      status: {
        image: running,
        conditions: [condition("Ready", running === image, running === image ? "Released" : "Migrating")],
      },
    };
  },
});
