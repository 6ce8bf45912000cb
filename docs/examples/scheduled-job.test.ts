import { type AnyKind, manager } from "@windlass/runtime";
import { CustomResourceDefinition, Job } from "@windlass/runtime/kinds";
import { Simulation } from "@windlass/testing";
import { expect, test } from "vitest";
import { ScheduledJob, scheduledJob } from "./scheduled-job.ts";

const key = { namespace: "default", name: "backup" };
const hourly = {
  metadata: key,
  spec: {
    everyMinutes: 60,
    jobTemplate: {
      metadata: { labels: { app: "backup" } },
      spec: {
        backoffLimit: 2,
        template: {
          spec: {
            restartPolicy: "Never" as const,
            containers: [
              { name: "dump", image: "dump:1", resources: { limits: { cpu: 1, memory: "128Mi" } } },
            ],
          },
        },
      },
    },
    sidecars: [{ name: "proxy", image: "proxy:1", ports: [{ containerPort: 5432 }] }],
  },
};

async function startWorld(): Promise<Simulation> {
  const world = await Simulation.start({ seed: 1 });
  await world.client.create(CustomResourceDefinition, ScheduledJob.crd());
  await world.settle();
  await world.run("scheduled-job", (options) => manager(options).add(scheduledJob));
  return world;
}

test("the template becomes a Job, and another one each hour", async () => {
  await using world = await startWorld();
  await world.client.create(ScheduledJob, hourly);
  await world.settle();
  const [first, ...more] = (await world.client.list(Job, { namespace: "default" })).items;
  expect(more).toEqual([]);
  expect(first?.metadata.labels).toMatchObject({ app: "backup" });
  expect(first?.spec).toMatchObject({
    backoffLimit: 2,
    template: {
      spec: {
        containers: [{ name: "dump", resources: { limits: { cpu: "1", memory: "128Mi" } } }],
        initContainers: [
          { name: "proxy", restartPolicy: "Always", ports: [{ containerPort: 5432, protocol: "TCP" }] },
        ],
      },
    },
  });
  await world.advance(3_600_000);
  const next = (await world.client.list(Job, { namespace: "default" })).items;
  expect(next.map(({ metadata }) => metadata.name)).not.toContain(first?.metadata.name);
});

test("an invalid template is refused when it is written, and the fields are named", async () => {
  await using world = await startWorld();
  const { spec } = hourly;
  const job = { ...spec.jobTemplate.spec, template: { spec: { restartPolicy: "Rarely", containers: [{}] } } };
  const wrong = { ...hourly, spec: { ...spec, jobTemplate: { spec: job } } };
  const refused = world.client.create<AnyKind>(ScheduledJob, wrong);
  await expect(refused).rejects.toThrow(
    "spec.jobTemplate.spec.template.spec.containers[0].name: Required value",
  );
  await expect(refused).rejects.toThrow('restartPolicy: Unsupported value: "Rarely"');
});
