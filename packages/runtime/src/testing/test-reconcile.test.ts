import { type AnyKind, isNotFound } from "@windlass/client";
import { ConfigMap, Deployment, type DeploymentInput, Namespace, Pod, Secret } from "@windlass/kinds/builtin";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { controller } from "../controller/controller.ts";
import { declaration, type ReconcileOf } from "../controller/declaration.ts";
import { byReference, watch } from "../controller/watch.ts";
import { type Child, child } from "../reconcile/child.ts";
import { condition } from "../reconcile/condition.ts";
import { WebApp } from "../reconcile/model-run.fixture.ts";
import { defineResource } from "../resource/index.ts";
import { existing, testReconcile } from "./test-reconcile.ts";

const app = WebApp.make({ namespace: "shops", name: "web" }, { replicas: 2 });

const nothing = declaration(WebApp, {});

function deploymentOf(spec: Partial<DeploymentInput["spec"]>): DeploymentInput {
  const template = { spec: { containers: [{ name: "app", image: "nginx" }] } };
  return { metadata: { name: "web" }, spec: { selector: {}, template, ...spec } };
}

describe("testReconcile", () => {
  test("tells what is returned: children, status, events and when to look again", async () => {
    const declared = controller(WebApp, {
      owns: [ConfigMap],
      reconcile: ({ metadata: { name } }) => ({
        children: [child(ConfigMap, { metadata: { name }, data: { colour: "red" } }), undefined, false],
        status: { url: "http://web", conditions: [condition("Ready", true, "Done")] },
        events: [{ reason: "Painted", message: "in red" }],
        requeueAfter: 5_000,
      }),
    });
    const tried = await testReconcile(declared, app);
    expect(tried.children).toHaveLength(1);
    expect(tried.prunes).toBe(true);
    expect(tried.child(ConfigMap)?.data).toEqual({ colour: "red" });
    expect(tried.status).toMatchObject({ url: "http://web" });
    expect(tried.events).toEqual([{ reason: "Painted", message: "in red" }]);
    expect(tried.requeueAfter).toBe(5_000);
    expect(tried.writes).toEqual([]);
  });

  test("tells children and status as they are sent: without fields that are undefined", async () => {
    const first = child(ConfigMap, { metadata: { name: "a", labels: undefined }, data: undefined });
    const second = child(Deployment, deploymentOf({ replicas: undefined }), { after: [first] });
    const declared = controller(WebApp, {
      owns: [ConfigMap, Deployment],
      reconcile: () => ({ children: [second, first], status: { url: undefined } }),
    });
    const tried = await testReconcile(declared, app);
    expect(tried.child(ConfigMap)).toStrictEqual({ metadata: { name: "a" } });
    expect(tried.child(Deployment)?.spec).not.toHaveProperty("replicas");
    expect(tried.status).toStrictEqual({});
    expect(tried.children[0]?.options.after?.[0]).toBe(tried.children[1]);
  });

  test.for([
    ["has no name", [child(ConfigMap as AnyKind, { metadata: {} })], /without metadata.name/],
    [
      "is in another namespace than its owner",
      [child(ConfigMap, { metadata: { namespace: "elsewhere", name: "x" } })],
      /ConfigMap elsewhere\/x cannot be owned by WebApp shops\/web/,
    ],
    [
      "is outside of all namespaces",
      [child(Namespace, { metadata: { name: "x" } })],
      /Namespace x cannot be owned by WebApp shops\/web/,
    ],
    ["is not owned", [child(Secret, { metadata: { name: "x" } })], /add it to the controller's "owns"/],
    [
      "is there twice",
      [
        child(ConfigMap, { metadata: { name: "x" } }),
        child(ConfigMap, { metadata: { namespace: "shops", name: "x" } }),
      ],
      /returned ConfigMap shops\/x twice/,
    ],
    [
      "comes after a child that is not listed",
      [
        child(
          ConfigMap,
          { metadata: { name: "x" } },
          { after: [child(ConfigMap, { metadata: { name: "y" } })] },
        ),
      ],
      /comes after ConfigMap y, which is not among the children/,
    ],
    [
      "has what JSON cannot hold",
      [child(ConfigMap as AnyKind, { metadata: { name: "x" }, data: { n: Number.NaN } })],
      /data.n is the number NaN/,
    ],
  ] as const)("refuses what the manager would refuse: a child that %s", async ([, children, fault]) => {
    const declared = controller(WebApp, {
      owns: [ConfigMap, Namespace as AnyKind],
      reconcile: () => ({ children: children as readonly Child<typeof ConfigMap>[] }),
    });
    await expect(testReconcile(declared, app)).rejects.toThrow(fault);
  });

  test("refuses a field of a status that the kind does not have, and the status of a kind that has none", async () => {
    // As the compiler takes a variable of that type: what the function returns is not seen.
    const reconcile: ReconcileOf<typeof nothing> = () => ({ status: { url: "http://web", ulr: "" } });
    const misspelt = controller(WebApp, { ...nothing, reconcile });
    await expect(testReconcile(misspelt, app)).rejects.toThrow(
      "reconcile of WebApp shops/web returned status.ulr, which its kind does not have",
    );
    const Plain = defineResource({ group: "example.com", version: "v1", kind: "Plain", spec: z.object({}) });
    const plain: AnyKind = Plain;
    const odd = controller(plain, { reconcile: () => ({ status: { url: "" } }) });
    await expect(testReconcile(odd, Plain.make("a", {}))).rejects.toThrow("returned status.url, which");
  });

  test("refuses what the manager would refuse: a child that is applied, and a status that JSON cannot hold", async () => {
    const applies = controller(WebApp, {
      owns: [ConfigMap],
      reconcile: async (_app, { apply }) => {
        await apply(child(ConfigMap, { metadata: { name: "" } }));
      },
    });
    await expect(testReconcile(applies, app)).rejects.toThrow(/without metadata.name/);
    const reports = controller(WebApp, { reconcile: () => ({ status: { availableReplicas: Number.NaN } }) });
    await expect(testReconcile(reports, app)).rejects.toThrow(/status.availableReplicas is the number NaN/);
  });

  test("answers reads from what is given: children by owner, others by key, list, label and index", async () => {
    const seen: unknown[] = [];
    const declared = controller(WebApp, {
      owns: [Deployment],
      watches: [
        watch(
          Secret,
          byReference(WebApp, ({ spec }) => spec.args),
        ),
        watch(Pod, () => undefined, { indexes: { node: ({ spec }) => [spec.nodeName ?? ""] } }),
      ],
      reads: [ConfigMap],
      reconcile: async ({ metadata: { name } }, { owned, ownedAll, cache, client, follow, key }) => {
        seen.push(owned(Deployment, name)?.status?.availableReplicas, ownedAll(Deployment).length);
        seen.push(cache.get(ConfigMap, key)?.data, cache.list(ConfigMap, { labelSelector: "a=b" }).length);
        seen.push(cache.byIndex(Pod, "node", "n1").map(({ metadata }) => metadata.namespace));
        seen.push(await client.get(Secret, key).catch(isNotFound));
        seen.push((await follow(ConfigMap, key))?.metadata.name);
      },
    });
    const { followed } = await testReconcile(declared, app, {
      owned: [existing(Deployment, { metadata: { name: "web" }, status: { availableReplicas: 1 } })],
      cache: [
        existing(ConfigMap, { metadata: { name: "web", labels: { a: "b" } }, data: { x: "y" } }),
        existing(Deployment, { metadata: { name: "foreign" } }),
        existing(Pod, { metadata: { name: "p" }, spec: { nodeName: "n1" } }),
      ],
    });
    expect(seen).toEqual([1, 1, { x: "y" }, 1, ["shops"], true, "web"]);
    expect(followed).toEqual([{ kind: ConfigMap, key: { namespace: "shops", name: "web" } }]);
  });

  test("records writes and shows them to later reads", async () => {
    const seen: unknown[] = [];
    const declared = controller(WebApp, {
      owns: [Deployment, ConfigMap],
      reconcile: async ({ metadata: { name, namespace } }, { apply, client, owned }) => {
        const template = { spec: { containers: [{ name: "app" }] } };
        const live = await apply(
          child(Deployment, { metadata: { name }, spec: { replicas: 3, selector: {}, template } }),
        );
        seen.push(live.status?.availableReplicas, live.spec.replicas, owned(Deployment)?.spec.replicas);
        const key = { namespace, name: "made" };
        await client.create(ConfigMap, { metadata: key, data: { a: "1", b: "2" } });
        await client.patch(ConfigMap, key, { type: "merge", patch: { data: { a: null } } });
        seen.push((await client.get(ConfigMap, key)).data);
        await client.delete(ConfigMap, key);
        seen.push(await client.get(ConfigMap, key).catch(isNotFound));
      },
    });
    const { writes, children, prunes } = await testReconcile(declared, app, {
      owned: [existing(Deployment, { metadata: { name: "web" }, status: { availableReplicas: 1 } })],
    });
    expect(seen).toEqual([1, 3, 3, { b: "2" }, true]);
    expect(writes.map(({ verb }) => verb)).toEqual(["create", "patch", "delete"]);
    expect(children).toHaveLength(1);
    expect(prunes).toBe(false);
  });

  test("merges patches as the server does, whatever the names of keys", async () => {
    const { data } = JSON.parse('{"data":{"__proto__":"1","constructor":"2","gone":null}}') as {
      data: Record<string, string>;
    };
    const seen: unknown[] = [];
    const declared = controller(WebApp, {
      owns: [ConfigMap],
      reconcile: async ({ metadata: { namespace } }, { client }) => {
        const key = { namespace, name: "made" };
        await client.create(ConfigMap, { metadata: key });
        await client.patch(ConfigMap, key, { type: "merge", patch: { data } });
        seen.push(Object.entries((await client.get(ConfigMap, key)).data ?? {}));
      },
    });
    await testReconcile(declared, app);
    expect(seen).toEqual([
      [
        ["__proto__", "1"],
        ["constructor", "2"],
      ],
    ]);
  });

  test("keeps what is logged, recorded and counted, on a clock that stands still", async () => {
    const now = new Date("2030-05-05T05:05:05Z");
    const declared = controller(WebApp, {
      reconcile: (_app, { log, events, metrics, clock, now: seen, attempt }) => {
        log.child({ part: "x" }).warn({ a: 1 }, "careful");
        events.warning("Odd", "it is odd");
        metrics.counter({ name: "tries_total", help: "Tries" }).inc({}, attempt);
        return { requeueAfter: clock.now() - seen.getTime() };
      },
    });
    const tried = await testReconcile(declared, app, { now, attempt: 3 });
    expect(tried.logs).toEqual([{ level: "warn", message: "careful", fields: { part: "x", a: 1 } }]);
    expect(tried.events).toEqual([{ type: "Warning", reason: "Odd", message: "it is odd" }]);
    expect(tried.metrics.render()).toContain("tries_total 3");
    expect(tried.requeueAfter).toBe(0);
  });

  test("calls finalize for an object that is being deleted", async () => {
    const declared = controller(WebApp, {
      reconcile: () => ({ status: { url: "reconciled" } }),
      finalize: () => ({ requeueAfter: 100 }),
    });
    const going = WebApp.make({ name: "web", deletionTimestamp: "2030-01-01T00:00:00Z" }, {});
    expect(await testReconcile(declared, going)).toMatchObject({ requeueAfter: 100, status: undefined });
    const without = controller(WebApp, { reconcile: () => undefined });
    await expect(testReconcile(without, going)).rejects.toThrow("controller webapp has no finalize");
  });

  test("testReconcile throws what the function throws, and lists the children of another kind", async () => {
    const failing = controller(WebApp, {
      reconcile: () => {
        throw new Error("no ink");
      },
    });
    await expect(testReconcile(failing, app)).rejects.toThrow("no ink");
    const two = controller(WebApp, {
      owns: [ConfigMap],
      reconcile: () => ({ children: ["a", "b"].map((name) => child(ConfigMap, { metadata: { name } })) }),
    });
    const { child: find } = await testReconcile(two, app);
    expect(() => find(ConfigMap)).toThrow("there are 2 children of kind ConfigMap: a, b; say which");
    expect(find(ConfigMap, "b")?.metadata.name).toBe("b");
  });
});
