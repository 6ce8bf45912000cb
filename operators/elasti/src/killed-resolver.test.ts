import { EndpointSlice } from "@windlass/runtime/kinds";
import { startCluster, type TestCluster, waitFor } from "@windlass/testing";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { askOnce, startLoad, untilAnswered } from "../testing/load.ts";
import { ResolverPods, type RunningOperator } from "../testing/resolver-pods.ts";
import { createTarget, phase, sendToSleep, urlOf } from "../testing/traffic-suite.ts";
import { resolverSliceName } from "./service/names.ts";

const server = `
  const server = require("node:http").createServer((asked, answer) => asked.resume().on("end", () => answer.end("ok")));
  server.listen(8080);
  process.on("SIGTERM", () => process.exit());
`;
const container = {
  name: "web",
  image: "web:1",
  command: [process.execPath, "-e", server],
  readinessProbe: { httpGet: { path: "/", port: 8080 }, periodSeconds: 1 },
};

/** How long a client may take to see that a connection it keeps has ended. */
const endSeenMs = 100;

/** Processes are looked for where Linux has them, and listen together as only Linux has it. */
describe.runIf(process.platform === "linux")("killed with SIGKILL", { timeout: 120_000 }, () => {
  let cluster: TestCluster;
  let pods: ResolverPods;
  let url: string;
  let leader: RunningOperator;

  beforeAll(async () => {
    cluster = await startCluster({ flavour: "embedded", embedded: { processes: {} } });
    pods = await ResolverPods.start(cluster, 2);
    leader = await pods.runOperator(true);
    const { client } = cluster;
    const environment = { client, namespace: pods.namespace, container };
    // The resolver is in the path of each request.
    const key = await createTarget(environment, "web", { triggers: [{ type: "traffic" }] });
    await phase(client, key, "Relaying");
    url = await urlOf(client, key);
    await untilAnswered(url);
  }, 120_000);
  afterAll(() => cluster.close());

  /** The outcomes of requests that come at the same time, each on a connection of its own. */
  async function ask(count: number): Promise<ReadonlySet<string | number>> {
    const answers = await Promise.all(Array.from({ length: count }, () => askOnce(url)));
    return new Set(answers.map(({ status, error }) => error ?? status));
  }

  test("a process of the resolver leaves no connection refused, with no operator at all", async () => {
    await leader.stop();
    const [first, second] = await pods.ready();
    if (!first || !second) throw new Error("the resolver is not ready");
    const led = await pods.leadsTo("web");
    expect(led).toHaveLength(2);
    // One process of each address is left.
    for (const [pod, which] of [
      [first, 0],
      [second, 1],
    ] as const) {
      await pods.kill(pod, which);
      for (let round = 0; round < 10; round++) expect(await ask(10)).toEqual(new Set([200]));
    }
    // No operator was there to change where connections go.
    expect(await pods.leadsTo("web")).toEqual(led);
  });

  test("over sleeps and wakes under load, a kill costs what was sent before its process had ended", async () => {
    const { client } = cluster;
    leader = await pods.runOperator(true);
    const key = await createTarget({ client, namespace: pods.namespace, container }, "cycled");
    await phase(client, key, "Serving");
    const cycled = await urlOf(client, key);
    await untilAnswered(cycled);
    const load = startLoad(cycled, 60);
    const kills: { readonly atMs: number; readonly goneMs: number }[] = [];
    // The two that are left from before: one that ends twice is not started again at once.
    const killing = (async () => {
      for (const [which, at] of [
        [0, "Relaying"],
        [1, "Waking"],
      ] as const) {
        await expect.poll(async () => (await pods.ready()).length, { timeout: 60_000 }).toBe(2);
        const pod = (await pods.ready())[1 - which];
        if (!pod) throw new Error("the resolver is not ready");
        await phase(client, key, at);
        const atMs = performance.now();
        await pods.kill(pod, which);
        kills.push({ atMs, goneMs: performance.now() });
      }
    })();
    let isOver = false;
    const cycling = (async () => {
      while (!isOver) {
        const waking = phase(client, key, "Waking");
        await sendToSleep(client, key);
        await waking;
        await phase(client, key, "Serving");
      }
    })();
    const over = killing.finally(() => {
      isOver = true;
    });
    await Promise.all([over, cycling]);
    const { sent, ok, failures, failedBetween } = await load.stop();
    await leader.stop();
    process.stdout.write(`${kills.length} processes killed: ${sent} sent, ${failures.length} failed\n`);
    expect(ok + failures.length).toBe(sent);
    expect(kills).toHaveLength(2);
    const isBy = ([sentMs, failedMs]: readonly [number, number]) =>
      kills.some(({ atMs, goneMs }) => sentMs <= goneMs + endSeenMs && failedMs >= atMs);
    expect(failures.filter((_, index) => !isBy(failedBetween[index] ?? [0, 0]))).toEqual([]);
  });

  test("a whole replica is taken out of its Services by an operator that does not lead", async () => {
    const { client } = cluster;
    // All that was killed is back.
    leader = await pods.runOperator(true);
    const isBack = async () => [(await pods.ready()).length, (await pods.leadsTo("web")).length];
    await expect.poll(isBack, { timeout: 60_000 }).toEqual([2, 2]);
    await phase(client, { namespace: pods.namespace, name: "web" }, "Relaying");
    await leader.stop();
    const follower = await pods.runOperator(false);
    const [gone, left] = await pods.ready();
    const address = gone?.status?.podIP ?? "";
    if (!gone || !left) throw new Error("the resolver is not ready");
    await expect.poll(() => follower.knows(gone)).toBe(true);
    await Promise.all([pods.kill(gone, 0), pods.kill(gone, 1)]);
    const began = performance.now();
    const key = { namespace: pods.namespace, name: resolverSliceName("web") };
    const addresses = await waitFor(client, EndpointSlice, key, ({ endpoints }) => {
      const found = (endpoints ?? []).flatMap((one) => one.addresses);
      return found.includes(address) ? undefined : found;
    });
    const outMs = performance.now() - began;
    expect(outMs).toBeLessThan(1_000);
    process.stdout.write(`a replica that was killed is out after ${Math.round(outMs)} ms\n`);
    expect(addresses).toEqual([left.status?.podIP]);
    // The node's rules follow.
    await expect.poll(() => ask(20)).toEqual(new Set([200]));
    await follower.stop();
  });
});
