import { once } from "node:events";
import { ManualClock } from "@windlass/clock";
import { controller, manager } from "@windlass/runtime";
import { ConfigMap, Deployment, Namespace } from "@windlass/runtime/kinds";
import { afterAll, beforeAll, expect, test } from "vitest";
import { startCluster, type TestCluster } from "./cluster.ts";
import { WaitError, waitFor, waitForCondition, waitForDeletion } from "./wait.ts";

/** On a busy machine even what happens at once takes its time. */
const soon = { timeout: 10_000 };

let cluster: TestCluster;

beforeAll(async () => {
  cluster = await startCluster({ flavour: "embedded" });
});
afterAll(() => cluster.close());

const inDefault = (name: string) => ({ namespace: "default", name });
const setTo = (name: string, x: string) =>
  cluster.client.apply(ConfigMap, { metadata: inDefault(name), data: { x } }, { force: true });

test("what is there already is seen at once, and what comes later when it comes", async () => {
  await setTo("there", "1");
  expect(await waitFor(cluster.client, ConfigMap, inDefault("there"), ({ data }) => data?.x)).toBe("1");
  const coming = waitFor(
    cluster.client,
    ConfigMap,
    inDefault("coming"),
    ({ data }) => data?.x === "2" && "came",
  );
  await setTo("coming", "1");
  await setTo("coming", "2");
  expect(await coming).toBe("came");
});

test("a state that lasts but a moment is seen too", async () => {
  await setTo("brief", "1");
  const seen = waitFor(cluster.client, ConfigMap, inDefault("brief"), ({ data }) => data?.x === "2");
  // The watch is open once the first list has been checked; from then on every state counts.
  await expect.poll(() => cluster.controlPlane?.faults.openWatches, soon).toBeGreaterThan(0);
  await setTo("brief", "2");
  await setTo("brief", "3");
  expect(await seen).toBe(true);
});

test("the end of an object is waited for, and of one that never was it has come", async () => {
  await setTo("ending", "1");
  const ended = waitForDeletion(cluster.client, ConfigMap, inDefault("ending"));
  await cluster.client.delete(ConfigMap, inDefault("ending"));
  await ended;
  await waitForDeletion(cluster.client, ConfigMap, inDefault("never-was"));
});

test("a condition counts once it is about the present spec", async () => {
  const conditions = (observedGeneration: number) => [{ type: "Ready", status: "True", observedGeneration }];
  const object = {
    apiVersion: "apps/v1",
    kind: "Deployment",
    metadata: { name: "x", generation: 2 },
    status: { conditions: conditions(1) },
  };
  const answers = [object, { ...object, status: { conditions: conditions(2) } }];
  const client = {
    list: () => Promise.resolve({ items: [answers[0]], metadata: { resourceVersion: "1" } }),
    watch: async function* () {
      yield { type: "MODIFIED", object: answers[1] };
    },
  } as unknown as TestCluster["client"];
  expect(await waitForCondition(client, Deployment, inDefault("x"), "Ready")).toBe(answers[1]);
});

test("a wait that times out says what it waited for, how long, and what it saw instead", async () => {
  await setTo("stuck", "1");
  const clock = new ManualClock();
  const waiting = waitFor(cluster.client, ConfigMap, inDefault("stuck"), ({ data }) => data?.x === "2", {
    clock,
    timeout: 5_000,
  });
  const failed = expect(waiting).rejects.toThrow(
    /^ConfigMap default\/stuck: \(\{ data \}\) => data\?\.x === "2" did not come about within 5000 ms; last seen: \{[\s\S]*"x": "1"/,
  );
  await clock.advance(5_000);
  await failed;
  await expect(waiting).rejects.toBeInstanceOf(WaitError);
});

test("the error of a wait for a deletion names the deletion", async () => {
  const clock = new ManualClock();
  const waiting = waitForDeletion(cluster.client, Namespace, { name: "default" }, { clock, timeout: 10 });
  const failed = expect(waiting).rejects.toThrow(
    /^Namespace default: its end did not come about within 10 ms/,
  );
  await clock.advance(10);
  await failed;
});

test.each([
  ["missing", undefined, "there is no condition Ready"],
  ["False", { status: "False", reason: "NoPods", message: "0 of 2" }, "it is False (NoPods: 0 of 2)"],
  [
    "of an earlier spec",
    { status: "True", observedGeneration: 1 },
    "it is True for generation 1, and the object is at 2",
  ],
])(
  "a wait for a condition that is %s times out with the condition and its state",
  async (_, condition, how) => {
    const conditions = condition ? [{ type: "Ready", ...condition }] : [];
    const object = { metadata: { name: "x", generation: 2 }, status: { conditions } };
    const client = {
      list: () => Promise.resolve({ items: [object], metadata: { resourceVersion: "1" } }),
      watch: async function* (_kind: unknown, { signal }: { readonly signal: AbortSignal }) {
        await once(signal, "abort");
        yield* [];
        signal.throwIfAborted();
      },
    } as unknown as TestCluster["client"];
    const clock = new ManualClock();
    const options = { clock, timeout: 5_000 };
    const waiting = waitForCondition(client, Deployment, inDefault("x"), "Ready", "True", options);
    const failed = expect(waiting).rejects.toThrow(
      `Deployment default/x: condition Ready=True did not come about within 5000 ms: ${how}; last seen: {`,
    );
    await clock.advance(5_000);
    await failed;
  },
);

test("a wait that fails shows what the operators of the test logged last", async () => {
  const isLogged = Promise.withResolvers<void>();
  let attempts = 0;
  const failing = controller(ConfigMap, {
    name: "picky",
    reconcile: ({ metadata: { name } }) => {
      if (name !== "unwanted") return;
      // By the second attempt the failure of the first has been logged.
      if (++attempts === 2) isLogged.resolve();
      throw new Error("no disk is left");
    },
  });
  await cluster.run("picky-operator", (options) => manager(options).add(failing));
  await setTo("unwanted", "1");
  await isLogged.promise;
  const clock = new ManualClock();
  const waiting = waitForDeletion(cluster.client, ConfigMap, inDefault("unwanted"), { clock });
  const failed = expect(waiting).rejects.toThrow(
    /the operators logged last:\n[\s\S]*picky-operator error: .*no disk is left/,
  );
  await clock.advance(30_000);
  await failed;
});

test("what was never seen is nothing", () => {
  const waitedFor = { subject: "Pod default/x", what: "its end", timeoutMs: 10, last: undefined };
  expect(new WaitError(waitedFor).message).toBe(
    "Pod default/x: its end did not come about within 10 ms; last seen: nothing",
  );
});

test("a watch that breaks off is taken up again", async () => {
  await setTo("cut", "1");
  const waiting = waitFor(cluster.client, ConfigMap, inDefault("cut"), ({ data }) => data?.x === "2");
  const faults = cluster.controlPlane?.faults;
  await expect.poll(() => faults?.openWatches, soon).toBeGreaterThan(0);
  cluster.controlPlane?.compact();
  faults?.dropWatches();
  await setTo("cut", "2");
  expect(await waiting).toBe(true);
});

test("an error shows neither who owns which fields nor the whole of long texts", () => {
  const last = {
    metadata: { name: "x", managedFields: [{ manager: "somebody" }] },
    data: { text: "y".repeat(100_000) },
    status: { phase: "Stuck" },
  };
  const { message, waitedFor } = new WaitError({
    subject: "ConfigMap x",
    what: "its end",
    timeoutMs: 10,
    last,
  });
  expect(message).not.toContain("somebody");
  expect(message).toContain("y… (100000 characters)");
  expect(message).toContain('"phase": "Stuck"');
  expect(message.length).toBeLessThan(2_000);
  expect(waitedFor.last).toBe(last);
});

test("an async check is refused, since its promise would count as a result at once", async () => {
  await setTo("promised", "1");
  const looked = waitFor(
    cluster.client,
    ConfigMap,
    inDefault("promised"),
    async ({ data }) => data?.x === "2",
  );
  await expect(looked).rejects.toThrow("ConfigMap default/promised: the check");
});
