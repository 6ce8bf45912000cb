import { execFileSync } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Deployment, Pod } from "@windlass/runtime/kinds";
import { waitFor, waitForCondition } from "@windlass/testing";
import { afterAll, beforeAll, expect, test } from "vitest";
import {
  BuildbarnFrontend,
  BuildbarnScheduler,
  BuildbarnStorage,
} from "../../operators/buildbarn/src/index.ts";
import {
  type LabTestEnvironment,
  lab,
  labSpecs,
  labTestEnvironment,
} from "../../operators/buildbarn/testing/lab-test-environment.ts";

/**
 * A program that is well for some seconds, and then fails: it must not take the place of one that
 * works.
 */
const wait = { timeout: 120_000 };
const image = "windlass/short-lived:dev";
const program = `
require("node:http").createServer((_, answer) => answer.end()).listen(9980);
setTimeout(() => { console.error("the disk is on fire"); process.exit(1); }, 6_000);
`;

let world: LabTestEnvironment;
const key = (name: string) => ({ namespace: world.namespace, name });
const podsOf = async (app: string) =>
  (await world.cluster.client.list(Pod, { namespace: world.namespace, labelSelector: `app=${app}` })).items;
const uidsOf = async (app: string) => new Set((await podsOf(app)).map(({ metadata: { uid } }) => uid));

beforeAll(async () => {
  world = await labTestEnvironment("buildbarn-trial");
  const folder = await mkdtemp(join(tmpdir(), "short-lived-"));
  await writeFile(join(folder, "main.cjs"), program);
  const entrypoint = JSON.stringify(["/usr/bin/node", "/main.cjs"]);
  const added = [`${process.execPath}:/usr/bin/node`, `${join(folder, "main.cjs")}:/main.cjs`];
  const debian = ["--debian", "libstdc++6,ca-certificates"];
  const args = ["image", image, ...debian, ...added.flatMap((one) => ["--add", one])];
  execFileSync(lab, [...args, "--user", "65532:65532", "--entrypoint", entrypoint], { stdio: "ignore" });
  await rm(folder, { recursive: true });
  const { client } = world.cluster;
  const { storage, frontend, scheduler } = labSpecs("2025-02");
  await client.create(BuildbarnStorage, { metadata: key("storage"), spec: storage });
  await client.create(BuildbarnScheduler, { metadata: key("scheduler"), spec: scheduler });
  await client.create(BuildbarnFrontend, { metadata: key("frontend"), spec: frontend });
  for (const [kind, name] of [
    [BuildbarnStorage, "storage"],
    [BuildbarnScheduler, "scheduler"],
    [BuildbarnFrontend, "frontend"],
  ] as const)
    await waitForCondition(client, kind, key(name), "Ready", "True", wait);
}, 300_000);
afterAll(() => world?.close(), 120_000);

test.for([
  [BuildbarnScheduler, "scheduler"],
  [BuildbarnStorage, "storage"],
] as const)("%s: the trial fails, and nothing that serves is touched", async ([kind, name]) => {
  const { client } = world.cluster;
  const before = await uidsOf(name);
  const patch = { spec: { image, minReadySeconds: 20 } };
  await client.patch(kind, key(name), { type: "merge", patch });
  const reason = await waitFor(
    client,
    kind,
    key(name),
    ({ status }) => {
      const degraded = status?.conditions?.find(({ type }) => type === "Degraded");
      return degraded?.reason === "TrialFailed" && degraded.message;
    },
    wait,
  );
  expect(reason).toContain("the disk is on fire");
  expect(await uidsOf(name)).toEqual(before);
  await client.patch(kind, key(name), {
    type: "merge",
    patch: { spec: { image: labSpecs("2025-02")[name].image, minReadySeconds: 1 } },
  });
  await waitForCondition(client, kind, key(name), "Ready", "True", wait);
  expect(await uidsOf(name)).toEqual(before);
});

test("frontends: one new pod fails again and again, and all old ones serve on", async () => {
  const { client } = world.cluster;
  const old = new Set((await podsOf("frontend")).map(({ metadata }) => metadata.uid));
  const patch = { spec: { image, minReadySeconds: 20 } };
  await client.patch(BuildbarnFrontend, key("frontend"), { type: "merge", patch });
  const restarts = async () => {
    const fresh = (await podsOf("frontend")).filter(({ metadata }) => !old.has(metadata.uid));
    expect(fresh.length).toBeLessThanOrEqual(1);
    return fresh[0]?.status?.containerStatuses?.[0]?.restartCount ?? 0;
  };
  await expect.poll(restarts, { timeout: 120_000, interval: 500 }).toBeGreaterThanOrEqual(2);
  const kept = (await podsOf("frontend")).filter(({ metadata }) => old.has(metadata.uid));
  expect(kept.map(({ metadata }) => metadata.deletionTimestamp)).toEqual([undefined, undefined]);
  const deployment = await client.get(Deployment, key("frontend"));
  expect(deployment.status?.updatedReplicas).toBe(1);
}, 180_000);
