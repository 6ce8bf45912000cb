import type { ObjectOf } from "@windlass/client";
import { child, controller, defineResource, manager } from "@windlass/runtime";
import { Deployment } from "@windlass/runtime/kinds";
import { startCluster, type TestCluster, waitFor } from "@windlass/testing";
import { afterAll, beforeAll, expect, test } from "vitest";
import { z } from "zod";
import { beforeWrite } from "./before-write.ts";

const Stage = defineResource({
  group: "handover.windlass.dev",
  version: "v1",
  kind: "Stage",
  spec: z.object({
    replicas: z.int32().optional(),
    handsOver: z.boolean().default(true),
    tier: z.string().default("a"),
  }),
});

const stages = controller(Stage, {
  owns: [Deployment],
  rateLimit: { initial: "20ms", max: "1s" },
  reconcile: ({ metadata: { name }, spec: { replicas, handsOver, tier } }) => {
    const labels = { app: name };
    const containers = [{ name: "web", image: "registry.k8s.io/pause:3.10.1" }];
    const template = { metadata: { labels: { ...labels, tier } }, spec: { containers } };
    return {
      children: [
        child(
          Deployment,
          { metadata: { name }, spec: { replicas, selector: { matchLabels: labels }, template } },
          handsOver ? { handOver: { spec: { replicas: true } } } : {},
        ),
      ],
    };
  },
});

/** What others do just before the fields of a Deployment are held, by its name. */
const { acts: beforeHold, interceptor: others } = beforeWrite(({ name, query }) =>
  query.get("fieldManager") === "stage.windlass-handover" ? name : undefined,
);

let cluster: TestCluster;
let namespace: string;

beforeAll(async () => {
  cluster = await startCluster();
  await cluster.install(Stage);
  namespace = await cluster.createNamespace("handover");
  await cluster.run("stages", (options) => {
    const client = (options.client ?? cluster.client).through(others);
    return manager({ ...options, client, namespaces: [namespace] }).add(stages);
  });
}, 90_000);
afterAll(() => cluster.close(), 60_000);

async function create(name: string, handsOver = true) {
  const key = { namespace, name };
  await cluster.client.create(Stage, { metadata: key, spec: { replicas: 3, handsOver } });
  await waitFor(cluster.client, Deployment, key, ({ spec }) => spec.replicas === 3);
  return key;
}

/** Changes the template as well: the Deployment that has it was written for this change. */
async function change(
  key: { readonly namespace: string; readonly name: string },
  replicas: number | null,
  tier: string,
) {
  const patch = { spec: { replicas, tier } };
  await cluster.client.patch(Stage, key, { type: "merge", patch });
  return await waitFor(cluster.client, Deployment, key, (live) =>
    live.spec.template.metadata?.labels?.tier === tier ? live : undefined,
  );
}

const scale = (key: { readonly namespace: string; readonly name: string }, replicas: number) =>
  cluster.client
    .subresource(Deployment, key, "scale")
    .patch({ type: "merge", patch: { spec: { replicas } } });

/** The field managers that own the replicas. */
const ownersOf = ({ metadata }: ObjectOf<typeof Deployment>) =>
  (metadata.managedFields ?? []).flatMap(({ manager, fieldsV1 }) =>
    JSON.stringify(fieldsV1).includes('"f:replicas":{}') && JSON.stringify(fieldsV1).includes('"f:spec"')
      ? [manager]
      : [],
  );

test("a field that nobody applies any more falls back to its default", async () => {
  const key = await create("dropped", false);
  expect((await change(key, null, "b")).spec.replicas).toBe(1);
}, 60_000);

test("a field that is handed over keeps its value, until another writes it", async () => {
  const key = await create("kept");
  const held = await change(key, null, "b");
  expect(held.spec.replicas).toBe(3);
  expect(ownersOf(held)).toEqual(["stage.windlass-handover"]);
  await scale(key, 5);
  const scaled = await change(key, null, "c");
  expect(scaled.spec.replicas).toBe(5);
  expect(ownersOf(scaled)).not.toContain("stage.windlass");
}, 60_000);

test("a field that is wanted again is taken back, and can be handed over again", async () => {
  const key = await create("again");
  await change(key, null, "b");
  await scale(key, 7);
  expect((await change(key, 2, "c")).spec.replicas).toBe(2);
  expect((await change(key, null, "d")).spec.replicas).toBe(2);
}, 60_000);

test("what another has written since the look is not put back", async () => {
  const key = await create("raced");
  beforeHold.set("raced", () => scale(key, 9));
  expect((await change(key, null, "b")).spec.replicas).toBe(9);
  expect(beforeHold.size).toBe(0);
}, 60_000);
