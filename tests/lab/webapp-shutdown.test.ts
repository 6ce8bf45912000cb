import { randomInt } from "node:crypto";
import { join } from "node:path";
import type { ResourceKind } from "@windlass/client";
import { sleep, systemClock } from "@windlass/clock";
import { Deployment, Pod } from "@windlass/runtime/kinds";
import { waitFor } from "@windlass/testing";
import { WebApp } from "@windlass/webapp";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { installedWorld } from "../../operators/webapp/testing/installed-world.ts";
import type { World } from "../../operators/webapp/testing/world.ts";
import { record } from "../chaos/record.ts";

/** Of each there are so many, one after the other and at the same time in turns. */
const rolls = 20;
const kills = 20;
const operator = { namespace: "webapp-system", name: "webapp-operator" };
const replicas = 3;
const selector = { namespace: operator.namespace, labelSelector: "app.kubernetes.io/name=webapp-operator" };

/**
 * Each create asks the defaulting and the validating webhook; one of v2 has the conversion webhook
 * asked too.
 */
const versions = [
  { version: "v1", spec: { image: "nginx:1.25", replicas: 1 } },
  { version: "v2", spec: { image: "nginx:1.25", scaling: { min: 1 } } },
] as const;
const { group, kind, plural, scope } = WebApp;

interface Load {
  readonly asked: number;
  /** What was refused, and when. */
  readonly refused: readonly string[];
  stop(): Promise<void>;
}

let world: World;
let namespace: string;

beforeAll(async () => {
  world = await installedWorld();
  namespace = await world.createNamespace();
});
afterAll(() => world.close());

/**
 * Creates WebApps by dry run until it is stopped: a few one after the other all the time, and many
 * at once now and then, which leaves the API server with connections that it does not use again for
 * seconds.
 */
function startLoad(): Load {
  const stop = new AbortController();
  const { signal } = stop;
  const refused: string[] = [];
  let asked = 0;
  const create = async () => {
    const { version, spec } = versions[asked % versions.length] ?? versions[0];
    const webapps: ResourceKind = { group, version, kind, plural, scope };
    const name = `load-${asked++}`;
    try {
      await world.client.create(webapps, { metadata: { namespace, name }, spec }, { dryRun: true });
    } catch (error) {
      refused.push(`${new Date().toISOString()} ${error instanceof Error ? error.message : String(error)}`);
    }
  };
  const repeat = async (work: () => Promise<unknown>, shortestMs: number, longestMs: number) => {
    while (!signal.aborted) {
      await work();
      await sleep(systemClock, randomInt(shortestMs, longestMs), signal).catch(() => undefined);
    }
  };
  const many = () => Promise.all(Array.from({ length: 10 }, create));
  const work = [repeat(create, 20, 200), repeat(create, 20, 200), repeat(many, 3_000, 7_000)];
  return {
    get asked() {
      return asked;
    },
    refused,
    async stop() {
      stop.abort();
      await Promise.all(work);
    },
  };
}

async function roll(): Promise<void> {
  const annotations = { "kubectl.kubernetes.io/restartedAt": new Date().toISOString() };
  const patch = { spec: { template: { metadata: { annotations } } } };
  const { metadata } = await world.client.patch(Deployment, operator, { type: "merge", patch });
  await waitFor(
    world.client,
    Deployment,
    operator,
    ({ status }) =>
      (status?.observedGeneration ?? 0) >= (metadata.generation ?? 0) &&
      status?.updatedReplicas === replicas &&
      status.replicas === replicas &&
      status.availableReplicas === replicas,
    { timeout: 120_000 },
  );
}

/** A roll during which one of the replicas is deleted, old or new. */
async function rollAndKill(): Promise<void> {
  const rolled = roll();
  await Promise.all([rolled, sleep(systemClock, randomInt(0, 15_000)).then(kill)]);
}

/** As `kubectl delete pod` does, of any of the replicas. */
async function kill(): Promise<void> {
  const running = await readyPods();
  const { name } = running[randomInt(running.length)]?.metadata ?? { name: "" };
  await world.client.delete(Pod, { namespace: operator.namespace, name });
  await vi.waitFor(async () => expect(await readyPods()).toHaveLength(replicas), {
    timeout: 120_000,
    interval: 200,
  });
}

async function readyPods() {
  const { items } = await world.client.list(Pod, selector);
  return items.filter(
    ({ metadata, status }) =>
      metadata.deletionTimestamp === undefined &&
      status?.conditions?.some(({ type, status: value }) => type === "Ready" && value === "True"),
  );
}

test("no request is refused while the operator's pods are rolled and deleted", async () => {
  const load = startLoad();
  const began = systemClock.monotonic();
  try {
    for (let count = 0; count < Math.max(rolls, kills); count++) {
      if (count % 2 === 1 && count < Math.min(rolls, kills)) {
        await rollAndKill();
        continue;
      }
      if (count < rolls) await roll();
      if (count < kills) await kill();
    }
    while (load.asked < 2_000) await sleep(systemClock, 1_000);
  } finally {
    await load.stop();
  }
  const seconds = Math.round((systemClock.monotonic() - began) / 1_000);
  const { asked, refused } = load;
  const figures = { asked, refused: refused.length, rolls, kills, seconds };
  process.stdout.write(`${JSON.stringify(figures)}\n`);
  expect(refused).toEqual([]);
  expect(asked).toBeGreaterThanOrEqual(2_000);
  await record("rolls and kills", figures, join(import.meta.dirname, "webapp-shutdown-result.json"));
}, 1_200_000);
