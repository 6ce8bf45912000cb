import { sleep } from "@windlass/clock";
import { ConfigMap, Deployment, EventV1 as Event, Service } from "@windlass/kinds/builtin";
import { describe, expect, test } from "vitest";
import type { LoggedLine } from "../testing/recording-logger.ts";
import { child } from "./child.ts";
import { condition } from "./condition.ts";
import { ReconcileError, ReconcileOverError, terminal } from "./errors.ts";
import {
  appController,
  deploymentFor,
  key,
  ModelRun,
  running,
  serviceFor,
  WebApp,
  webapp,
} from "./model-run.fixture.ts";

const ready = (run: ModelRun) => run.app?.status?.conditions?.find((one) => one.type === "Ready");
const eventsOf = (run: ModelRun) => run.cluster.cache.list(Event);
const metric = (run: ModelRun, line: string) =>
  run.manager.registry
    .render()
    .split("\n")
    .find((one) => one.startsWith(line))
    ?.split(" ")
    .at(-1);

describe("status", () => {
  test("keeps the transition time while a condition's status stays the same", async () => {
    const run = await running(webapp);
    const since = ready(run)?.lastTransitionTime;
    await run.settle(60_000);
    run.put({ replicas: 3 });
    await run.settle();
    expect(ready(run)).toMatchObject({ status: "False", lastTransitionTime: since, observedGeneration: 2 });
    const deployment = run.cluster.get(Deployment, key);
    run.cluster.put(Deployment, { ...deployment, status: { availableReplicas: 3 } });
    await run.settle();
    expect(ready(run)).toMatchObject({ status: "True", lastTransitionTime: "2026-01-01T00:01:02Z" });
    await run.manager.stop();
  });

  test("keeps conditions that others wrote", async () => {
    const run = await running(webapp);
    const foreign = {
      type: "Audited",
      status: "True",
      reason: "Auditor",
      message: "",
      lastTransitionTime: "2026-01-01T00:00:00Z",
    };
    const conditions = [...(run.app?.status?.conditions ?? []), foreign];
    run.cluster.put(WebApp, { ...run.app, status: { ...run.app?.status, conditions } });
    run.put({ replicas: 2 });
    await run.settle();
    expect(run.app?.status?.conditions?.map((one) => one.type)).toEqual(["Ready", "Audited"]);
    expect(ready(run)?.observedGeneration).toBe(2);
    await run.manager.stop();
  });

  test("loses a field that is no longer returned", async () => {
    const run = await running(
      appController({ reconcile: (app) => ({ status: app.spec.expose ? { url: "http://web" } : {} }) }),
    );
    expect(run.app?.status?.url).toBe("http://web");
    run.put({ expose: false });
    await run.settle();
    expect(run.app?.status).toEqual({ observedGeneration: 2 });
    await run.manager.stop();
  });

  test("is never written to a namesake of the object that was reconciled", async () => {
    const run = await running(
      appController({
        reconcile: async (app, { live }) => {
          if (app.spec.image === "replaced") {
            run.cluster.remove(WebApp, key);
            run.cluster.put(WebApp, WebApp.make(key, { image: "fresh" }));
          }
          await live.get(WebApp, key);
          return { status: { url: app.spec.image } };
        },
      }),
    );
    run.put({ image: "replaced" });
    await run.settle();
    expect(run.app?.status?.url).toBe("fresh");
    await run.manager.stop();
  });

  test("is not written to a namesake that appears just before the write", async () => {
    const run = new ModelRun();
    let isReplaced = false;
    run.cluster.fault = ({ method, path }) => {
      if (isReplaced || method !== "PATCH" || !path.includes("/webapps/web/status")) return undefined;
      isReplaced = true;
      run.cluster.remove(WebApp, key);
      run.cluster.put(WebApp, WebApp.make(key, { image: "fresh" }));
      return undefined;
    };
    const urls: unknown[] = [];
    run.manager.add(
      appController({
        reconcile: (app) => {
          urls.push(app.status?.url);
          return { status: { url: app.spec.image } };
        },
      }),
    );
    await run.manager.start();
    run.put({ image: "replaced" });
    await run.settle();
    expect(run.app?.status?.url).toBe("fresh");
    expect(urls).not.toContain("replaced");
    await run.manager.stop();
  });
});

describe("a failing reconcile", () => {
  test("says the same reason in condition, event, metric and log, and is retried", async () => {
    let attempts = 0;
    const run = await running(
      appController({
        reconcile: (_app, { attempt }) => {
          attempts = attempt;
          if (attempt < 4) throw new ReconcileError("MoonWrong", "the moon is wrong");
          return { status: { conditions: [condition("Ready", true, "MoonRight")] } };
        },
      }),
    );
    expect(attempts).toBe(4);
    expect(ready(run)).toMatchObject({ status: "True", reason: "MoonRight" });
    expect(eventsOf(run)[0]).toMatchObject({
      type: "Warning",
      reason: "MoonWrong",
      note: "the moon is wrong",
      reportingController: "webapp",
      regarding: { kind: "WebApp", name: "web", namespace: "default" },
      eventTime: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/),
    });
    expect(metric(run, 'windlass_reconcile_failures_total{controller="webapp",reason="MoonWrong"}')).toBe(
      "3",
    );
    expect(metric(run, 'controller_runtime_reconcile_total{controller="webapp",result="error"}')).toBe("3");
    expect(run.lines.find((line: LoggedLine) => line.level === "error")?.fields).toMatchObject({
      reason: "MoonWrong",
      controller: "webapp",
      reconcileID: expect.stringMatching(/^[0-9a-f-]{36}$/),
    });
    await run.manager.stop();
  });

  test("keeps the rest of the status", async () => {
    const run = await running(
      appController({
        reconcile: (app) => {
          if (app.spec.image === "bad") throw new Error("no such image");
          return { status: { url: "http://web", conditions: [condition("Synced", true, "Done")] } };
        },
      }),
    );
    run.put({ image: "bad" });
    await run.settle();
    expect(run.app?.status).toMatchObject({
      url: "http://web",
      observedGeneration: 2,
      conditions: [
        { type: "Synced", status: "True" },
        {
          type: "Ready",
          status: "False",
          reason: "ReconcileError",
          message: "no such image",
          observedGeneration: 2,
        },
      ],
    });
    await run.manager.stop();
  });

  test("that is terminal is not retried until the object changes", async () => {
    let runs = 0;
    const run = await running(
      appController({
        reconcile: () => {
          runs += 1;
          throw terminal("spec.image has no registry", "ImageInvalid");
        },
      }),
    );
    await run.settle(3_600_000);
    expect(runs).toBe(1);
    expect(ready(run)).toMatchObject({ reason: "ImageInvalid" });
    expect(metric(run, "controller_runtime_terminal_reconcile_errors_total")).toBe("1");
    run.put({ image: "other" });
    await run.settle();
    expect(runs).toBe(2);
    await run.manager.stop();
  });

  test("in a namespace that is being deleted is no failure, and the object's deletion brings it back", async () => {
    const finalized: string[] = [];
    const run = await running(
      appController({
        owns: [Deployment, Service],
        reconcile: (app) => ({ children: app.spec.expose ? [deploymentFor(app), serviceFor(app)] : [] }),
        finalize: (app) => void finalized.push(app.metadata.name),
      }),
    );
    run.put({ expose: false });
    await run.settle();
    run.cluster.terminating.add("default");
    run.put({ expose: true });
    run.cluster.takeWrites();
    await run.settle(3_600_000);
    expect(run.cluster.takeWrites().filter(({ path }) => path.includes("/deployments/"))).toHaveLength(1);
    expect(ready(run)).toBeUndefined();
    expect(eventsOf(run)).toEqual([]);
    expect(run.lines.filter(({ level }) => level === "error" || level === "warn")).toEqual([]);
    expect(run.lines.some(({ message }) => message.startsWith("the namespace is being deleted"))).toBe(true);
    expect(metric(run, 'controller_runtime_reconcile_total{controller="webapp",result="error"}')).toBe("0");
    expect(metric(run, 'controller_runtime_reconcile_errors_total{controller="webapp"}')).toBe("0");
    run.cluster.remove(WebApp, key);
    await run.settle();
    expect(finalized).toEqual(["web"]);
    expect(run.app).toBeUndefined();
    await run.manager.stop();
  });

  test("for another namespace that is being deleted is retried and not counted as an error", async () => {
    const run = new ModelRun();
    run.manager.add(
      appController({
        reconcile: async (_app, { client }) => {
          await client.create(ConfigMap, { metadata: { namespace: "other", name: "copy" } });
        },
      }),
    );
    run.cluster.terminating.add("other");
    await run.manager.start();
    run.put();
    await run.settle();
    expect(ready(run)).toBeUndefined();
    run.cluster.terminating.delete("other");
    await run.settle(60_000);
    expect(run.cluster.get(ConfigMap, { namespace: "other", name: "copy" })).toBeDefined();
    expect(metric(run, 'controller_runtime_reconcile_total{controller="webapp",result="error"}')).toBe("0");
    await run.manager.stop();
  });

  test("to clean up, because the namespace takes nothing new any more, is a failure: it would hold the namespace indefinitely", async () => {
    const run = await running(
      appController({
        reconcile: () => undefined,
        finalize: async (_app, { client }) => {
          await client.create(ConfigMap, { metadata: { ...key, name: "goodbye" } });
        },
      }),
    );
    run.cluster.terminating.add("default");
    run.cluster.remove(WebApp, key);
    await run.settle();
    expect(ready(run)).toMatchObject({ status: "False", reason: "Forbidden" });
    await run.manager.stop();
  });

  test("by conflict is retried and not counted as an error", async () => {
    // A reconcile looks at a child five times before it gives way.
    let conflicts = 10;
    const run = await running(
      appController({
        owns: [Deployment],
        reconcile: (app) => ({ children: [deploymentFor(app)] }),
      }),
    );
    run.cluster.fault = ({ method, path }) =>
      method === "PATCH" && path.includes("/deployments/") && conflicts-- > 0 ? 409 : undefined;
    run.put({ image: "nginx:2" });
    await run.settle();
    expect(run.cluster.get(Deployment, key)?.spec.template.spec?.containers[0]?.image).toBe("nginx:2");
    expect(ready(run)).toBeUndefined();
    expect(eventsOf(run)).toEqual([]);
    expect(metric(run, 'controller_runtime_reconcile_total{controller="webapp",result="requeue"}')).toBe("2");
    await run.manager.stop();
  });

  test("a conflict with another field manager is reported at once: it does not resolve by itself", async () => {
    const run = await running(appController({ reconcile: () => undefined }));
    await run.manager.stop();
    const causes = [{ reason: "FieldManagerConflict", message: 'conflict with "theirs"', field: ".data.x" }];
    run.cluster.fault = ({ path }) => (path.includes("/configmaps/") ? causes : undefined);
    run.manager = run.another().add(
      appController({
        reconcile: async (_app, { client }) => {
          await client.apply(ConfigMap, { metadata: key }, { fieldManager: "mine" });
        },
      }),
    );
    await run.manager.start();
    await run.settle(1);
    expect(ready(run)).toMatchObject({ status: "False", reason: "Conflict" });
    await run.manager.stop();
  });

  test("a conflict that stays is reported as any other failure, and ends when it is resolved", async () => {
    const run = await running(
      appController({ owns: [Deployment], reconcile: (app) => ({ children: [deploymentFor(app)] }) }),
    );
    run.cluster.fault = ({ method, path }) =>
      method === "PATCH" && path.includes("/deployments/") ? 409 : undefined;
    run.put({ image: "nginx:2" });
    await run.settle(60_000);
    const reason = "Conflict";
    expect(ready(run)).toMatchObject({ status: "False", reason });
    expect(eventsOf(run)).toContainEqual(expect.objectContaining({ type: "Warning", reason }));
    expect(Number(metric(run, "controller_runtime_reconcile_errors_total"))).toBeGreaterThan(0);
    expect(run.lines).toContainEqual(
      expect.objectContaining({ level: "error", fields: expect.objectContaining({ reason }) }),
    );
    run.cluster.fault = undefined;
    await run.settle(1_000_000);
    expect(run.cluster.get(Deployment, key)?.spec.template.spec?.containers[0]?.image).toBe("nginx:2");
    await run.manager.stop();
  });

  test("a canceled reconcile does not write while its failure is being written", async () => {
    const release = Promise.withResolvers<void>();
    let outcome = "";
    const run = new ModelRun();
    run.manager.add(
      appController({
        timeout: 5_000,
        owns: [ConfigMap],
        reconcile: async (_app, { client, attempt }) => {
          if (attempt > 1) return;
          await release.promise;
          outcome = await client.create(ConfigMap, { metadata: { namespace: "default", name: "late" } }).then(
            () => "wrote",
            (error: Error) => error.name,
          );
        },
      }),
    );
    await run.manager.start();
    run.put();
    run.cluster.fault = ({ path }) => {
      if (path.includes("/status")) release.resolve();
      return undefined;
    };
    await run.settle(5_000);
    expect(run.app?.status?.conditions?.[0]?.reason).toBe("ReconcileTimeout");
    expect(outcome).toBe("ReconcileOverError");
    await run.manager.stop();
  });

  test("a reconcile that never ends is canceled in time; its client is closed, and other objects go on", async () => {
    const refusals: unknown[] = [];
    const release = Promise.withResolvers<void>();
    let aborted = false;
    const run = await running(
      appController({
        timeout: 5_000,
        owns: [ConfigMap],
        reconcile: async (app, { client, signal, attempt }) => {
          if (app.metadata.name !== "stuck") return { status: { url: "fine" } };
          if (attempt > 1) return undefined;
          signal.addEventListener("abort", () => {
            aborted = true;
          });
          await release.promise;
          await client
            .create(ConfigMap, { metadata: { namespace: "default", name: "late" } })
            .catch((error: unknown) => refusals.push(error));
          return undefined;
        },
      }),
    );
    run.put({}, "stuck");
    await run.settle(1_000);
    run.put({}, "next");
    await run.settle(4_100);
    expect(aborted).toBe(true);
    expect(run.cluster.get(WebApp, { ...key, name: "stuck" })?.status?.conditions?.[0]).toMatchObject({
      reason: "ReconcileTimeout",
      message: expect.stringContaining(
        "WebApp default/stuck: the reconcile of controller webapp did not end within 5 s",
      ),
    });
    expect(run.cluster.get(WebApp, { ...key, name: "next" })?.status?.url).toBe("fine");
    expect(metric(run, "controller_runtime_reconcile_timeouts_total")).toBe("1");
    release.resolve();
    await run.settle(0);
    expect(refusals[0]).toBeInstanceOf(ReconcileOverError);
    expect(run.cluster.get(ConfigMap, { namespace: "default", name: "late" })).toBeUndefined();
    await run.manager.stop();
  });
});

describe("finalizers", () => {
  test("are set before the first reconcile, and removed when finalize is done", async () => {
    const calls: string[] = [];
    let isClean = false;
    const run = await running(
      appController({
        reconcile: (app) => void calls.push(`reconcile with ${app.metadata.finalizers?.join()}`),
        finalize: () => {
          calls.push("finalize");
          return isClean ? undefined : { requeueAfter: 10_000 };
        },
      }),
    );
    expect(new Set(calls)).toEqual(new Set(["reconcile with example.com/webapp"]));
    run.cluster.remove(WebApp, key);
    await run.settle();
    expect(run.app?.metadata.finalizers).toEqual(["example.com/webapp"]);
    isClean = true;
    await run.settle(10_000);
    expect(run.app).toBeUndefined();
    expect(calls.filter((call) => call === "finalize")).toHaveLength(2);
    await run.manager.stop();
  });

  test("of others are kept, and the object is left alone when only theirs remain", async () => {
    let runs = 0;
    const run = await running(
      appController({
        reconcile: () => {
          runs += 1;
        },
        finalize: () => undefined,
      }),
    );
    const finalizers = [...(run.app?.metadata.finalizers ?? []), "other.io/keep"];
    run.cluster.put(WebApp, { ...run.app, metadata: { ...run.app?.metadata, finalizers } });
    run.cluster.remove(WebApp, key);
    await run.settle();
    expect(run.app?.metadata.finalizers).toEqual(["other.io/keep"]);
    const before = runs;
    run.put({ image: "x" });
    await run.settle();
    expect(runs).toBe(before);
    await run.manager.stop();
  });

  test("are never touched by a controller without finalize", async () => {
    const run = await running(webapp);
    expect(run.app?.metadata.finalizers).toBeUndefined();
    await run.manager.stop();
  });

  test("that another adds at the same moment are kept", async () => {
    const run = new ModelRun();
    let isAdded = false;
    run.cluster.fault = ({ method, path }) => {
      if (!isAdded && method === "PATCH" && path.includes("/webapps/web?")) {
        isAdded = true;
        const finalizers = ["other.io/keep"];
        run.cluster.put(WebApp, { ...run.app, metadata: { ...run.app?.metadata, finalizers } });
      }
      return undefined;
    };
    run.manager.add(appController({ reconcile: () => undefined, finalize: () => undefined }));
    await run.manager.start();
    run.put();
    await run.settle();
    expect(run.app?.metadata.finalizers).toEqual(["other.io/keep", "example.com/webapp"]);
    await run.manager.stop();
  });

  test("are not taken from a namesake that was made in the meantime", async () => {
    const finalized: unknown[] = [];
    const run = await running(
      appController({
        reconcile: () => undefined,
        finalize: ({ metadata }) => void finalized.push(metadata.uid),
      }),
    );
    const finalizers = ["example.com/webapp"];
    let isReplaced = false;
    run.cluster.fault = ({ method, path }) => {
      if (!isReplaced && method === "PATCH" && path.includes("/webapps/web?")) {
        isReplaced = true;
        run.cluster.put(WebApp, { ...run.app, metadata: { ...run.app?.metadata, finalizers: [] } });
        const fresh = WebApp.make(key, {});
        run.cluster.put(WebApp, { ...fresh, metadata: { ...fresh.metadata, finalizers } });
        run.cluster.takeWrites();
      }
      return undefined;
    };
    const before = run.app?.metadata.uid;
    run.cluster.remove(WebApp, key);
    await run.settle();
    expect(run.app?.metadata).toMatchObject({ finalizers });
    expect(run.app?.metadata.uid).not.toBe(before);
    expect(finalized).toEqual([before]);
    const changes = run.cluster.takeWrites().filter(({ path }) => path.endsWith("/webapps/web"));
    expect(changes.map(({ body }) => body)).toEqual([
      { metadata: { resourceVersion: expect.any(String), finalizers: [] } },
    ]);
    await run.manager.stop();
  });

  test("survive a conflict with another writer", async () => {
    // A reconcile looks at a child five times before it gives way.
    let conflicts = 10;
    const run = new ModelRun();
    run.cluster.fault = ({ method, path }) =>
      method === "PATCH" && path.includes("/webapps/web?") && conflicts-- > 0 ? 409 : undefined;
    run.manager.add(appController({ reconcile: () => undefined, finalize: () => undefined }));
    await run.manager.start();
    run.put();
    await run.settle();
    expect(run.app?.metadata.finalizers).toEqual(["example.com/webapp"]);
    await run.manager.stop();
  });
});

describe("the context", () => {
  test("reads what it wrote, applies children with an answer, and finds what it owns", async () => {
    const seen: unknown[] = [];
    const run = await running(
      appController({
        owns: [ConfigMap],
        reconcile: async ({ metadata: { name, namespace } }, { apply, owned, ownedAll, client, cache }) => {
          const applied = await apply(child(ConfigMap, { metadata: { name, namespace } }));
          seen.push(applied.metadata.uid === owned(ConfigMap)?.metadata.uid, ownedAll(ConfigMap).length);
          seen.push((await client.get(ConfigMap, { name, namespace })).metadata.name);
          seen.push(cache.list(ConfigMap, { namespace }).length);
          return { children: [] };
        },
      }),
    );
    expect(seen.slice(0, 4)).toEqual([true, 1, "web", 1]);
    // What was applied in the same reconcile counts as wanted.
    expect(run.cluster.get(ConfigMap, key)).toBeDefined();
    await run.manager.stop();
  });

  test("follows an object of any kind until it is no longer asked for", async () => {
    let runs = 0;
    const run = await running(
      appController({
        reconcile: async (app, { follow }) => {
          runs += 1;
          if (!app.spec.expose) return undefined;
          const target = await follow(ConfigMap, { namespace: "default", name: app.spec.image });
          return { status: { url: target?.data?.url ?? "none" } };
        },
      }),
    );
    run.put({ image: "target" });
    await run.settle();
    expect(run.app?.status?.url).toBe("none");
    run.cluster.put(ConfigMap, { metadata: { namespace: "default", name: "target" }, data: { url: "here" } });
    await run.settle();
    expect(run.app?.status?.url).toBe("here");
    run.put({ image: "target", expose: false });
    await run.settle();
    const before = runs;
    run.cluster.put(ConfigMap, {
      metadata: { namespace: "default", name: "target" },
      data: { url: "there" },
    });
    await run.settle();
    expect(runs).toBe(before);
    await run.manager.stop();
  });

  test("comes back at once after a requeueAfter that has passed already", async () => {
    const left = [-0.4, -3_600_000, Number.NEGATIVE_INFINITY];
    let calls = 0;
    const run = await running(
      appController({
        reconcile: () => {
          calls += 1;
          const requeueAfter = left.shift();
          return requeueAfter === undefined ? undefined : { requeueAfter };
        },
      }),
    );
    expect(calls).toBe(4);
    await run.manager.stop();
  });

  test("comes back after requeueAfter, and not before", async () => {
    const at: number[] = [];
    const run = await running(
      appController({
        reconcile: (_app, { now }) => {
          at.push(now.getTime());
          return { requeueAfter: 30_000 };
        },
      }),
    );
    await run.settle(60_000);
    expect(at.map((ms) => ms - (at[0] ?? 0))).toEqual([0, 30_000, 60_000]);
    await run.manager.stop();
  });
});

describe("events", () => {
  test("that repeat become one series; the count is written when it ends", async () => {
    const run = await running(
      appController({
        reconcile: () => ({ requeueAfter: 10_000, events: [{ reason: "Ticked", message: "tick" }] }),
      }),
    );
    await run.settle(50_000);
    expect(eventsOf(run)).toHaveLength(1);
    expect(eventsOf(run)[0]?.series).toMatchObject({ count: 2 });
    await run.manager.stop();
    expect(eventsOf(run)[0]?.series?.count).toBe(6);
  });

  test("that go on for hours are written every half hour, before the server forgets them", async () => {
    const minute = 60_000;
    const run = await running(
      appController({
        reconcile: () => ({ requeueAfter: minute, events: [{ reason: "Ticked", message: "tick" }] }),
      }),
    );
    run.cluster.takeWrites();
    await run.settle(4 * 60 * minute);
    const counts = run.cluster
      .takeWrites()
      .map(({ body }) => (body as { series?: { count?: number } }).series?.count);
    expect(counts).toEqual([2, 32, 62, 92, 122, 152, 182, 212]);
    await run.manager.stop();
  });

  test("are limited for each object", async () => {
    const run = await running(
      appController({
        reconcile: (_app, { events }) => {
          for (let index = 0; index < 100; index += 1) events.normal("Noise", `number ${index}`);
        },
      }),
    );
    expect(eventsOf(run)).toHaveLength(25);
    await run.manager.stop();
  });

  test("that cannot be written cost nothing but themselves", async () => {
    const run = new ModelRun();
    run.cluster.fault = ({ path }) => (path.includes("/events") ? 500 : undefined);
    run.manager.add(
      appController({
        reconcile: () => ({ status: { url: "fine" }, events: [{ reason: "Any", message: "thing" }] }),
      }),
    );
    await run.manager.start();
    run.put();
    await run.settle();
    expect(run.app?.status?.url).toBe("fine");
    await run.manager.stop();
  });
});

describe("a hot loop", () => {
  test("is reported once, with the field that flaps", async () => {
    let count = 0;
    const run = await running(
      appController({
        owns: [Deployment],
        reconcile: async (app, { clock }) => {
          count += 1;
          // Each write asks for the next reconcile at once: without some time between them the
          // clock would never move.
          await sleep(clock, 50);
          const { object } = deploymentFor(app);
          const metadata = { ...object.metadata, annotations: { stamp: String(count % 1000) } };
          return { children: [child(Deployment, { ...object, metadata })] };
        },
      }),
    );
    await run.settle(20_000);
    const warnings = run.lines.filter(({ level }) => level === "warn");
    expect(warnings).toHaveLength(1);
    expect(warnings[0]?.fields).toMatchObject({
      field: "metadata.annotations.stamp",
      target: "Deployment default/web",
    });
    expect(eventsOf(run).filter((event) => event.reason === "HotLoop")).toHaveLength(1);
    expect(metric(run, "windlass_hot_loops_total")).toBe("1");
    const stopped = run.manager.stop();
    await run.settle(100);
    await stopped;
  });

  test("is not what a controller says it does on purpose", async () => {
    let count = 0;
    const run = await running(
      appController({
        owns: [Deployment],
        hotLoopThreshold: 1_000,
        reconcile: async (app, { clock }) => {
          count += 1;
          await sleep(clock, 200);
          const { object } = deploymentFor(app);
          const metadata = { ...object.metadata, annotations: { stamp: String(Math.min(count, 50)) } };
          return { children: [child(Deployment, { ...object, metadata })] };
        },
      }),
    );
    await run.settle(20_000);
    expect(count).toBeGreaterThan(40);
    expect(run.lines.filter(({ level }) => level === "warn")).toEqual([]);
    await run.manager.stop();
  });

  test("is not what a child that changes by itself is, however often the status follows it", async () => {
    const run = await running(
      appController({
        owns: [Deployment],
        reconcile: (app, { owned }) => ({
          children: [deploymentFor(app)],
          status: { url: `http://${owned(Deployment, "web")?.status?.availableReplicas ?? 0}` },
        }),
      }),
    );
    for (let available = 0; available < 60; available += 1) {
      const deployment = run.cluster.get(Deployment, key);
      run.cluster.put(Deployment, { ...deployment, status: { availableReplicas: available } });
      await run.settle(100);
    }
    expect(run.app?.status?.url).toBe("http://59");
    expect(run.lines.filter(({ level }) => level === "warn")).toEqual([]);
    await run.manager.stop();
  });

  test("is not what a busy object with changing intent is", async () => {
    const run = await running(webapp);
    for (let replicas = 0; replicas < 60; replicas += 1) {
      run.put({ replicas });
      await run.settle(100);
    }
    expect(run.lines.filter(({ level }) => level === "warn")).toEqual([]);
    await run.manager.stop();
  });
});
