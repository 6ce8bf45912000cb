import { ConfigMap, Deployment } from "@windlass/kinds/builtin";
import { expect, test } from "vitest";
import type { InformerScope } from "../cache/contract.ts";
import { condition } from "../reconcile/condition.ts";
import {
  appController,
  deploymentFor,
  key,
  ModelRun,
  running,
  WebApp,
} from "../reconcile/model-run.fixture.ts";
import { noTracing } from "../reconcile/tracing.ts";

import { generationChanged } from "./predicate.ts";
import { watch } from "./watch.ts";

/** A controller of the test's kind that says when it was asked about which object. */
function counting(options: Partial<Parameters<typeof appController>[0]> = {}) {
  const names: string[] = [];
  const what = appController({ reconcile: (app) => void names.push(app.metadata.name), ...options });
  return { names, what };
}

test("rateLimit sets how long a failing object waits", async () => {
  const at: number[] = [];
  const run = new ModelRun();
  run.manager.add(
    appController({
      rateLimit: { initial: 1_000, factor: 3, max: 5_000, jitter: 0 },
      reconcile: (_app, { clock }) => {
        at.push(clock.monotonic());
        throw new Error("not yet");
      },
    }),
  );
  await run.manager.start();
  run.put();
  await run.settle(15_000);
  expect(at.slice(1).map((time, index) => time - (at[index] ?? 0))).toEqual([1_000, 3_000, 5_000, 5_000]);
  await run.manager.stop();
});

test("an invalid rateLimit is refused where it is declared", () => {
  const declare = () => appController({ rateLimit: { factor: 0.5 }, reconcile: () => undefined });
  expect(declare).toThrow("controller webapp: rateLimit: factor (0.5) must be 1 or more");
});

test("predicates of owned and of watched kinds decide which of their changes count", async () => {
  const { names, what } = counting({
    owns: [{ kind: Deployment, predicate: generationChanged }],
    watches: [
      watch(ConfigMap, () => key, { predicate: ({ object }) => object.metadata.labels?.counts === "yes" }),
    ],
  });
  const run = await running(what);
  const app = run.app;
  if (!app) throw new Error("there is no object");
  const owner = {
    apiVersion: "example.com/v1",
    kind: "WebApp",
    name: "web",
    uid: app.metadata.uid,
    controller: true,
  };
  const child = { ...deploymentFor(app), metadata: { ...key, generation: 1, ownerReferences: [owner] } };
  run.cluster.put(Deployment, child);
  await run.settle();
  names.length = 0;
  run.cluster.put(Deployment, { ...run.cluster.get(Deployment, key), status: { replicas: 1 } });
  run.cluster.put(ConfigMap, { metadata: { ...key, name: "silent" } });
  await run.settle();
  expect(names).toEqual([]);
  run.cluster.put(ConfigMap, { metadata: { ...key, name: "loud", labels: { counts: "yes" } } });
  await run.settle();
  expect(names).toEqual(["web"]);
  await run.manager.stop();
});

test("errorCondition names the condition of a failure, or has none written", async () => {
  const failing = (errorCondition: string | false) =>
    running(
      appController({
        errorCondition,
        reconcile: () => {
          throw new Error("no luck");
        },
      }),
    );
  const named = await failing("Synced");
  expect(named.app?.status?.conditions).toMatchObject([
    { type: "Synced", status: "False", message: "no luck" },
  ]);
  const none = await failing(false);
  expect(none.app?.status).toBeUndefined();
  await Promise.all([named.manager.stop(), none.manager.stop()]);
});

test("fieldManager is who owns what is applied", async () => {
  const managers: (string | null)[] = [];
  const run = new ModelRun();
  run.cluster.fault = ({ method, path }) => {
    if (method === "PATCH") managers.push(new URL(path, "http://x").searchParams.get("fieldManager"));
    return undefined;
  };
  run.manager.add(
    appController({
      fieldManager: "team-a/apps",
      owns: [Deployment],
      reconcile: (app) => ({
        children: [deploymentFor(app)],
        status: { conditions: [condition("Ready", true, "Fine")] },
      }),
    }),
  );
  await run.manager.start();
  run.put();
  await run.settle();
  expect(managers).toEqual(["team-a/apps", "team-a/apps"]);
  await run.manager.stop();
});

test("scopes are what the informers are asked for: of the kind itself, of owned kinds and of watched ones", async () => {
  const asked: Record<string, InformerScope | undefined> = {};
  const run = new ModelRun();
  const { cache } = run.cluster;
  const manager = run.another({
    cache: {
      ...cache,
      informer: (kind, scope) => {
        asked[kind.kind] = scope;
        return cache.informer(kind, scope);
      },
    },
  });
  manager.add(
    appController({
      scope: { labelSelector: "shard=1" },
      owns: [{ kind: Deployment, metadataOnly: true }],
      watches: [watch(ConfigMap, () => undefined, { scope: { namespace: "settings", metadataOnly: true } })],
      reconcile: () => undefined,
    }),
  );
  await manager.start();
  expect(asked).toEqual({
    WebApp: { labelSelector: "shard=1" },
    Deployment: { metadataOnly: true },
    ConfigMap: { namespace: "settings", metadataOnly: true },
  });
  await manager.stop();
});

test("what is reconciled again from time to time waits behind what happens", async () => {
  const order: string[] = [];
  const run = new ModelRun();
  const hour = 3_600_000;
  run.manager.add(
    appController({
      resync: hour,
      reconcile: async (app, { clock }) => {
        order.push(app.metadata.name);
        await new Promise<void>((resolve) => clock.schedule(1_000, resolve));
      },
    }),
  );
  await run.manager.start();
  for (const name of ["a", "b", "c", "d"]) run.put({}, name);
  await run.settle(10_000);
  order.length = 0;
  // Until all are queued once more, and the first of them runs.
  while (order.length === 0) await run.settle(500);
  run.put({ image: "new" }, "urgent");
  await run.settle(10_000);
  expect(order.toSorted()).toEqual(["a", "b", "c", "d", "urgent"]);
  expect(order[1]).toBe("urgent");
  await run.manager.stop();
});

test("results, workers and spans are reported as they are", async () => {
  const spans: string[] = [];
  const seen: string[] = [];
  const run = new ModelRun({
    tracing: {
      reconcile: (attributes, waitedMs, pass) => {
        spans.push(`reconcile ${String(attributes["k8s.object.name"])} after ${waitedMs}`);
        return noTracing.reconcile(attributes, waitedMs, pass);
      },
      write: (what, send) => {
        spans.push(what);
        return send();
      },
    },
  });
  const line = (text: string) =>
    run.manager.registry
      .render()
      .split("\n")
      .find((one) => one.startsWith(text));
  run.manager.add(
    appController({
      owns: [ConfigMap],
      reconcile: async ({ metadata: { name } }, { client }) => {
        seen.push(line("controller_runtime_active_workers") ?? "");
        if (name === "later") return { requeueAfter: 3_600_000 };
        await client.create(ConfigMap, { metadata: { ...key, name } });
        return undefined;
      },
    }),
  );
  await run.manager.start();
  run.put({}, "now");
  run.put({}, "later");
  await run.settle();
  const total = 'controller_runtime_reconcile_total{controller="webapp",result=';
  expect(line(`${total}"success"`)).toMatch(/ 1$/);
  expect(line(`${total}"requeue_after"`)).toMatch(/ 1$/);
  expect(line(`${total}"error"`)).toMatch(/ 0$/);
  expect(seen).toEqual(
    Array.from({ length: 2 }, () => 'controller_runtime_active_workers{controller="webapp"} 1'),
  );
  expect(line("controller_runtime_active_workers")).toMatch(/ 0$/);
  expect(spans).toEqual([
    expect.stringMatching(/^reconcile now after \d+$/),
    "create ConfigMap default/now",
    expect.stringMatching(/^reconcile later after \d+$/),
  ]);
  await run.manager.stop();
});

test("everywhere has a controller work on every replica, leading or not", async () => {
  const election = (identity: string) => ({ leaderElection: { name: "op", namespace: "default", identity } });
  const run = new ModelRun(election("a"));
  const worked: string[] = [];
  const on = (replica: string) =>
    appController({
      everywhere: true,
      owns: [ConfigMap],
      reconcile: async (app, { client }) => {
        await client.create(ConfigMap, { metadata: { ...key, name: `${app.metadata.name}-${replica}` } });
        worked.push(replica);
      },
    });
  const standby = run.another(election("b")).add(on("b"));
  run.manager.add(on("a"));
  await run.manager.start();
  await run.settle(100);
  await standby.start();
  run.put();
  await run.settle();
  expect([run.manager.isLeading, standby.isLeading]).toEqual([true, false]);
  expect(worked.toSorted()).toEqual(["a", "b"]);
  const stopped = Promise.all([run.manager.stop(), standby.stop()]);
  await run.settle(5_000);
  await stopped;
});

test("a custom kind is not confused with one of the same name in another group", async () => {
  const { names, what } = counting({ owns: [ConfigMap] });
  const run = await running(what);
  names.length = 0;
  const owner = { kind: "WebApp", name: "web", uid: "u", controller: true };
  const owned = (apiVersion: string, name: string) =>
    run.cluster.put(ConfigMap, { metadata: { ...key, name, ownerReferences: [{ ...owner, apiVersion }] } });
  owned("other.example.com/v1", "foreign");
  await run.settle();
  expect(names).toEqual([]);
  owned(`${WebApp.group}/v1beta9`, "ours");
  await run.settle();
  expect(names).toEqual(["web"]);
  await run.manager.stop();
});
