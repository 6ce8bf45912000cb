import { setTimeout as delay } from "node:timers/promises";
import { applyManifest } from "@windlass/client";
import { Deployment } from "@windlass/runtime/kinds";
import { waitFor } from "@windlass/testing";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { ElastiService } from "../../operators/elasti/src/index.ts";
import { ScaledObject } from "../../operators/elasti/src/service/scaled-object.ts";
import { agnhost } from "../../operators/elasti/testing/agnhost.ts";
import { type LabWorld, labWorld } from "../../operators/elasti/testing/lab-world.ts";
import { askOnce, untilAnswered } from "../../operators/elasti/testing/load.ts";
import { createTarget, phase, sendToSleep, urlOf } from "../../operators/elasti/testing/traffic-suite.ts";

/** Whether KEDA runs beside the cluster. It takes ten minutes to build, so only those who have it say so. */
const hasKeda = process.env.ELASTI_KEDA !== undefined;
const wait = { timeout: 90_000 };
/** Longer than it takes them to look again, several times over. */
const watchedMs = 15_000;

let lab: LabWorld;

beforeAll(async () => {
  if (hasKeda) lab = await labWorld();
}, 300_000);
afterAll(() => lab?.[Symbol.asyncDispose](), 300_000);
afterEach(async () => {
  if (!lab) return;
  const { items } = await lab.client.list(ElastiService, { namespace: lab.namespace });
  for (const { metadata } of items)
    await lab.client.delete(ElastiService, { namespace: lab.namespace, name: metadata.name });
});

test.skipIf(!hasKeda)(
  "KEDA lets its target sleep, and has it back when it wakes",
  {
    timeout: 300_000,
  },
  async () => {
    const { client, namespace } = lab;
    const key = await createTarget({ client, namespace, container: agnhost }, "scaled", {
      autoscaler: { type: "keda", name: "scaled" },
    });
    const allDay = { timezone: "UTC", start: "0 0 * * *", end: "59 23 * * *", desiredReplicas: "2" };
    const scaledObject = {
      apiVersion: "keda.sh/v1alpha1",
      kind: "ScaledObject",
      metadata: key,
      spec: {
        scaleTargetRef: { name: "scaled" },
        pollingInterval: 2,
        minReplicaCount: 2,
        maxReplicaCount: 3,
        triggers: [{ type: "cron", metadata: allDay }],
      },
    };
    await applyManifest(client, scaledObject);
    const isTwo = () => waitFor(client, Deployment, key, ({ spec }) => spec?.replicas === 2, wait);
    await isTwo();
    const url = await urlOf(client, key);
    await untilAnswered(url);
    await sendToSleep(client, key);
    await phase(client, key, "Asleep");
    await delay(watchedMs);
    expect((await client.get(Deployment, key)).spec?.replicas).toBe(0);
    expect((await client.get(ElastiService, key)).status?.phase).toBe("Asleep");
    expect(await askOnce(url)).toMatchObject({ status: 200 });
    await phase(client, key, "Serving");
    await waitFor(
      client,
      ScaledObject,
      key,
      ({ metadata }) => metadata.annotations?.["autoscaling.keda.sh/paused"] === undefined,
      wait,
    );
    await isTwo();
    await delay(watchedMs);
    expect((await client.get(Deployment, key)).spec?.replicas).toBe(2);
    expect((await client.get(ElastiService, key)).status?.phase).toBe("Serving");
  },
);
