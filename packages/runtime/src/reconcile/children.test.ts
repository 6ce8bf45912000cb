import { type AnyKind, metadataOnly } from "@windlass/client";
import { ConfigMap, Deployment, Service } from "@windlass/kinds/builtin";
import { describe, expect, test } from "vitest";
import { controller } from "../controller/controller.ts";
import { child } from "./child.ts";
import { ChildMemory } from "./child-memory.ts";
import { Children } from "./children.ts";
import { cachedClient } from "./client.ts";
import {
  appController,
  deploymentFor,
  key,
  running,
  serviceFor,
  WebApp,
  webapp,
} from "./model-run.fixture.ts";
import { SchemaFacts } from "./schema-facts.ts";
import { appliedAnnotation } from "./standing.ts";

describe("children", () => {
  test("are created with their owner, and the status follows", async () => {
    const run = await running(webapp);
    const deployment = run.cluster.get(Deployment, key);
    expect(deployment?.spec.template.spec?.containers[0]?.image).toBe("nginx:1");
    expect(deployment?.metadata.ownerReferences).toEqual([
      {
        apiVersion: "example.com/v1",
        kind: "WebApp",
        name: "web",
        uid: run.app?.metadata.uid,
        controller: true,
        blockOwnerDeletion: true,
      },
    ]);
    expect(run.app?.status).toMatchObject({
      availableReplicas: 0,
      observedGeneration: 1,
      conditions: [{ type: "Ready", status: "False", reason: "ReplicasAvailable", observedGeneration: 1 }],
    });
    await run.manager.stop();
  });

  test("cause no writes when settled: not by resync, not by changes of their status, not after a restart", async () => {
    const run = await running(webapp);
    run.cluster.takeWrites();
    await run.settle(25 * 3_600_000);
    const deployment = run.cluster.get(Deployment, key);
    run.cluster.put(Deployment, {
      ...deployment,
      status: { observedGeneration: 1, updatedReplicas: 1 },
    });
    await run.settle();
    await run.manager.stop();
    const restarted = run.another().add(webapp);
    await restarted.start();
    await run.settle(60_000);
    expect(run.cluster.takeWrites()).toEqual([]);
    await restarted.stop();
  });

  test("that others have deleted are forgotten once they are no longer wanted", async () => {
    const { cluster, app, manager, clock } = await running(appController({ reconcile: () => undefined }));
    const memory = new ChildMemory();
    const { client, cache } = cluster;
    for (const name of ["monday", "tuesday", "wednesday"]) {
      const children = new Children({
        ownerKind: WebApp,
        owner: app ?? { metadata: key },
        owns: [{ kind: ConfigMap, metadataOnly: false }],
        client: cachedClient({ client, cache, isCached: () => true }),
        cache,
        memory,
        schemas: new SchemaFacts(),
        clock,
        fieldManager: "webapp.windlass",
      });
      await children.apply(child(ConfigMap, { metadata: { name } }));
      cluster.remove(ConfigMap, { ...key, name });
      expect(await children.prune()).toEqual([]);
    }
    expect([...memory.applied.keys()]).toEqual(["/ConfigMap/default/wednesday"]);
    await manager.stop();
  });

  test("that have not changed since they were last looked at are not compared again", async () => {
    const run = await running(webapp);
    await run.manager.stop();
    let compared = 0;
    const { cache } = run.cluster;
    const counting: typeof cache = {
      ...cache,
      informer: (kind, scope) => {
        const informer = cache.informer(kind, scope);
        return {
          ...informer,
          ownedFields: (...asked) => {
            compared += 1;
            return informer.ownedFields(...asked);
          },
        };
      },
    };
    run.manager = run.another({ cache: counting }).add(webapp);
    await run.manager.start();
    await run.settle();
    const first = compared;
    expect(first).toBeGreaterThan(0);
    await run.settle(25 * 3_600_000);
    expect(compared).toBe(first);
    await run.manager.stop();
  });

  test("are put right when someone edits them", async () => {
    const run = await running(webapp);
    const deployment = run.cluster.get(Deployment, key);
    run.cluster.put(Deployment, { ...deployment, spec: { ...deployment?.spec, replicas: 9 } });
    await run.settle();
    expect(run.cluster.get(Deployment, key)?.spec.replicas).toBe(1);
    await run.manager.stop();
  });

  test("come back when someone deletes them", async () => {
    const run = await running(webapp);
    run.cluster.remove(Service, key);
    await run.settle();
    expect(run.cluster.get(Service, key)?.spec?.ports?.[0]?.port).toBe(80);
    await run.manager.stop();
  });

  test("lose a field that is no longer wanted, even if it was dropped while nobody ran", async () => {
    const run = await running(webapp);
    run.put({ args: ["--verbose"] });
    await run.settle();
    const args = () => run.cluster.get(Deployment, key)?.spec.template.spec?.containers[0]?.args;
    expect(args()).toEqual(["--verbose"]);
    await run.manager.stop();
    run.put({});
    const restarted = run.another().add(webapp);
    await restarted.start();
    await run.settle(60_000);
    expect(args()).toBeUndefined();
    await restarted.stop();
  });

  test("keep what others add to them", async () => {
    const run = await running(webapp);
    const deployment = run.cluster.get(Deployment, key);
    const labelled = { ...deployment, metadata: { ...deployment?.metadata, labels: { team: "blue" } } };
    run.cluster.put(Deployment, labelled);
    run.cluster.takeWrites();
    run.put({ image: "nginx:2" });
    await run.settle();
    expect(run.cluster.get(Deployment, key)?.metadata.labels).toEqual({ team: "blue" });
    expect(run.cluster.get(Deployment, key)?.spec.template.spec?.containers[0]?.image).toBe("nginx:2");
    await run.manager.stop();
  });

  test("that the server writes down differently are applied once, not indefinitely", async () => {
    const run = await running(webapp);
    run.cluster.normalise = (object) => {
      const text = JSON.stringify(object).replaceAll('"--level=1"', '"--level=one"');
      Object.assign(object, JSON.parse(text));
    };
    run.put({ args: ["--level=1"] });
    await run.settle();
    run.cluster.takeWrites();
    const deployment = run.cluster.get(Deployment, key);
    expect(deployment?.spec.template.spec?.containers[0]?.args).toEqual(["--level=one"]);
    run.cluster.put(Deployment, { ...deployment, status: { observedGeneration: 5 } });
    await run.settle(60_000);
    expect(run.cluster.takeWrites()).toEqual([]);
    await run.manager.stop();
  });

  test("with a quantity in another spelling cause no write after a restart", async () => {
    const run = await running(webapp);
    run.cluster.normalise = (object) => {
      Object.assign(object, JSON.parse(JSON.stringify(object).replaceAll('"cpu":"0.5"', '"cpu":"500m"')));
    };
    run.put({ cpu: "0.5" });
    await run.settle();
    // What users wrote is not normalised; only the child's copy is.
    await run.manager.stop();
    run.cluster.takeWrites();
    const restarted = run.another().add(
      appController({
        owns: [Deployment, Service],
        reconcile: (app) => ({
          children: [deploymentFor({ ...app, spec: { ...app.spec, cpu: "0.5" } }), serviceFor(app)],
        }),
        fieldManager: "webapp.windlass",
      }),
    );
    await restarted.start();
    await run.settle(60_000);
    expect(run.cluster.takeWrites().filter(({ path }) => path.includes("deployments"))).toHaveLength(1);
    run.cluster.takeWrites();
    await run.settle(11 * 3_600_000);
    expect(run.cluster.takeWrites()).toEqual([]);
    await restarted.stop();
  });

  test("that are no longer wanted are deleted, by uid", async () => {
    const run = await running(webapp);
    const uid = run.cluster.get(Service, key)?.metadata.uid;
    run.put({ expose: false });
    await run.settle();
    expect(run.cluster.get(Service, key)).toBeUndefined();
    expect(run.cluster.writes.find(({ method }) => method === "DELETE")?.body).toMatchObject({
      preconditions: { uid },
    });
    await run.manager.stop();
  });

  test("that the object owns but this controller did not apply are left alone", async () => {
    const run = await running(webapp);
    const owner = run.cluster.get(Service, key)?.metadata.ownerReferences;
    run.cluster.put(Service, { metadata: { ...key, name: "by-hand", ownerReferences: owner }, spec: {} });
    run.put({ image: "nginx:2" });
    await run.settle();
    expect(run.cluster.get(Service, { ...key, name: "by-hand" })).toBeDefined();
    await run.manager.stop();
  });

  test("that another controller has are not taken from it, and the condition says so", async () => {
    const run = await running(webapp);
    await run.manager.stop();
    const other = {
      apiVersion: "example.com/v1",
      kind: "Other",
      name: "o",
      uid: "u-o",
      controller: true,
    };
    run.cluster.remove(Service, key);
    run.cluster.put(Service, {
      metadata: { ...key, ownerReferences: [other] },
      spec: { ports: [{ port: 1 }] },
    });
    const restarted = run.another().add(webapp);
    await restarted.start();
    await run.settle();
    expect(run.cluster.get(Service, key)?.spec?.ports?.[0]?.port).toBe(1);
    expect(run.app?.status?.conditions?.[0]).toMatchObject({
      type: "Ready",
      status: "False",
      reason: "ChildOwnedByOther",
      message: expect.stringContaining("Service default/web is controlled by Other o"),
    });
    await restarted.stop();
  });

  test("of a kind that is not declared are refused with the way out", async () => {
    const run = await running(
      appController({
        reconcile: () => ({ children: [child(ConfigMap, { metadata: { name: "x" } })] }),
      }),
    );
    expect(run.app?.status?.conditions?.[0]).toMatchObject({
      reason: "ChildNotDeclared",
      message:
        'WebApp default/web returned a ConfigMap (core group) as a child; add it to the controller\'s "owns"',
    });
    await run.manager.stop();
  });

  test("of one controller are not pruned by another of the same kind", async () => {
    const run = await running(webapp);
    const second = controller(WebApp, {
      name: "second",
      owns: [Deployment, Service, ConfigMap],
      reconcile: () => ({ children: [child(ConfigMap, { metadata: { name: "web" } })] }),
    });
    const other = run.another().add(second);
    await other.start();
    await run.settle();
    expect(run.cluster.get(Deployment, key)?.metadata.annotations?.[appliedAnnotation]).toMatch(
      /^webapp\.windlass:/,
    );
    expect(run.cluster.get(ConfigMap, key)).toBeDefined();
    await other.stop();
    await run.manager.stop();
  });

  test("that fail do not hold up the others, and nothing is pruned meanwhile", async () => {
    const run = await running(webapp);
    run.cluster.fault = ({ method, path }) =>
      method === "PATCH" && path.includes("/deployments/") ? 500 : undefined;
    run.cluster.remove(Service, key);
    run.put({ image: "nginx:2" });
    await run.settle(200);
    expect(run.cluster.get(Service, key)).toBeDefined();
    expect(run.app?.status?.conditions?.[0]).toMatchObject({ status: "False", reason: "InternalError" });
    run.cluster.fault = undefined;
    await run.settle(60_000);
    expect(run.cluster.get(Deployment, key)?.spec.template.spec?.containers[0]?.image).toBe("nginx:2");
    expect(run.app?.status?.conditions?.[0]).toMatchObject({ reason: "ReplicasAvailable" });
    await run.manager.stop();
  });

  test("that cannot be deleted do not keep others that are no longer wanted, and the status says why", async () => {
    const names = ["first", "second", "third"];
    const run = await running(
      appController({
        owns: [ConfigMap],
        reconcile: ({ spec }) => ({
          children:
            spec.expose === false ? [] : names.map((name) => child(ConfigMap, { metadata: { name } })),
          status: { availableReplicas: 7 },
        }),
      }),
    );
    run.cluster.fault = ({ method, path }) =>
      method === "DELETE" && path.endsWith("/first") ? 500 : undefined;
    run.put({ expose: false });
    await run.settle(200);
    const left = () => names.filter((name) => run.cluster.get(ConfigMap, { ...key, name }));
    expect(left()).toEqual(["first"]);
    expect(run.app?.status).toMatchObject({
      availableReplicas: 7,
      conditions: [{ status: "False", reason: "InternalError" }],
    });
    run.cluster.fault = undefined;
    await run.settle(60_000);
    expect(left()).toEqual([]);
    await run.manager.stop();
  });

  test("get their labels back from a program that writes with the same field manager", async () => {
    const selector = { matchLabels: { app: "web" } };
    const template = { metadata: { labels: { app: "web" } }, spec: { containers: [] } };
    const spec = { selector, template };
    const run = await running(
      appController({
        owns: [Deployment],
        reconcile: () => ({
          children: [child(Deployment, { metadata: { name: "web", labels: { tier: "front" } }, spec })],
        }),
      }),
    );
    const tier = () => run.cluster.get(Deployment, key)?.metadata.labels?.tier;
    expect(tier()).toBe("front");
    const deployment = run.cluster.get(Deployment, key);
    run.cluster.put(Deployment, { ...deployment, status: { updatedReplicas: 1 } });
    await run.settle();
    const { annotations, ownerReferences } = deployment?.metadata ?? {};
    const metadata = { ...key, annotations, ownerReferences, labels: { tier: "edited" } };
    const options = { fieldManager: "webapp.windlass", force: true };
    run.cluster.takeWrites();
    await run.cluster.client.apply(Deployment, { metadata, spec }, options);
    await run.settle();
    expect(tier()).toBe("front");
    const applied = run.cluster.takeWrites().filter(({ path }) => path.includes("/deployments/"));
    const tierOf = { metadata: { labels: { tier: expect.any(String) } } };
    expect(applied.map(({ body }) => body)).toMatchObject([tierOf, tierOf]);
    await run.manager.stop();
  });

  test("cached as metadata alone are read so, repaired by their generation, and settle", async () => {
    const seen: unknown[] = [];
    const run = await running(
      appController({
        owns: [{ kind: Deployment, metadataOnly: true }],
        reconcile: (app, { owned, cache }) => {
          seen.push(owned(metadataOnly(Deployment)), cache.get(metadataOnly(Deployment), key));
          return { children: [deploymentFor(app)] };
        },
      }),
    );
    run.put({ image: "nginx:2" });
    await run.settle();
    expect(seen.at(-1)).toMatchObject({ metadata: key });
    expect(seen.at(-2)).toBe(seen.at(-1));
    const deployment = run.cluster.get(Deployment, key);
    run.cluster.put(Deployment, { ...deployment, spec: { ...deployment?.spec, replicas: 9 } });
    await run.settle();
    expect(run.cluster.get(Deployment, key)?.spec.replicas).toBe(1);
    run.cluster.takeWrites();
    await run.settle(25 * 3_600_000);
    expect(run.cluster.takeWrites()).toEqual([]);
    await run.manager.stop();
  });

  test("of one name are refused, and nothing is written: each would undo the other", async () => {
    let colours = ["red", "blue"];
    const run = await running(
      appController({
        owns: [ConfigMap],
        reconcile: () => ({
          children: colours.map((colour) =>
            child(ConfigMap, { metadata: { name: "web" }, data: { colour } }),
          ),
        }),
      }),
    );
    expect(run.cluster.get(ConfigMap, key)).toBeUndefined();
    expect(run.app?.status?.conditions?.[0]).toMatchObject({
      reason: "ChildInvalid",
      message: "WebApp default/web returned ConfigMap web twice; give each child a name of its own",
    });
    colours = ["red"];
    run.put({ image: "nginx:2" });
    await run.settle();
    expect(run.cluster.get(ConfigMap, key)?.data).toEqual({ colour: "red" });
    await run.manager.stop();
  });

  test("with a value that JSON cannot hold are refused by the field; a Date is sent and compared as it is sent", async () => {
    const unchecked: AnyKind = ConfigMap;
    let data: unknown = { at: new Date(0) };
    const run = await running(
      appController({
        owns: [ConfigMap],
        reconcile: () => ({ children: [child(unchecked, { metadata: { name: "web" }, data })] }),
      }),
    );
    expect(run.cluster.get(ConfigMap, key)?.data).toEqual({ at: "1970-01-01T00:00:00.000Z" });
    data = { at: new Date(1_000) };
    run.put({ image: "nginx:2" });
    await run.settle();
    expect(run.cluster.get(ConfigMap, key)?.data).toEqual({ at: "1970-01-01T00:00:01.000Z" });
    data = new Map([["at", "x"]]);
    run.put({ image: "nginx:3" });
    await run.settle();
    expect(run.app?.status?.conditions?.[0]).toMatchObject({
      reason: "ChildInvalid",
      message:
        "ConfigMap default/web: data is a Map, which JSON cannot hold; convert it with Object.fromEntries",
    });
    await run.manager.stop();
  });
});
