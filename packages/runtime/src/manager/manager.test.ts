import { Deployment } from "@windlass/kinds/builtin";
import { describe, expect, test } from "vitest";
import { CacheMissError } from "../cache/index.ts";
import { appController, key, ModelRun, running, webapp } from "../reconcile/model-run.fixture.ts";
import type { Runnable } from "./runnable.ts";

const probes = { health: { port: 0, host: "127.0.0.1" }, metrics: { port: 0, host: "127.0.0.1" } };
const get = async (port: number | undefined, path: string) => {
  const response = await fetch(`http://127.0.0.1:${port}${path}`);
  return { status: response.status, text: await response.text() };
};

describe("probes and metrics", () => {
  test("answer by named checks, whole or alone", async () => {
    const run = new ModelRun(probes);
    let fault: string | undefined = "the boiler is cold";
    run.manager.add(webapp).addReadyCheck("boiler", () => fault);
    await run.manager.start();
    const { health, metrics } = run.manager.ports;
    expect(await get(health, "/healthz")).toEqual({ status: 200, text: "ok" });
    const unready = await get(health, "/readyz");
    expect(unready.status).toBe(500);
    expect(unready.text).toContain("[-]boiler failed: the boiler is cold");
    expect(unready.text).toContain("[+]caches ok");
    expect((await get(health, "/readyz?exclude=boiler")).status).toBe(200);
    expect((await get(health, "/readyz/caches")).status).toBe(200);
    expect((await get(health, "/readyz/nothing")).status).toBe(404);
    fault = undefined;
    expect((await get(health, "/readyz?verbose")).text).toContain("readyz check passed");
    expect((await get(metrics, "/metrics")).text).toContain("controller_runtime_reconcile_total");
    await run.manager.stop();
    await expect(get(health, "/healthz")).rejects.toThrow();
  });

  test("a taken port is refused with the option to change", async () => {
    const first = new ModelRun(probes);
    await first.manager.start();
    const port = first.manager.ports.health ?? 0;
    const second = new ModelRun({ health: { port, host: "127.0.0.1" } });
    await expect(second.manager.start()).rejects.toThrow(`port ${port} for health is in use; set another`);
    await first.manager.stop();
  });

  test("readyz is false until the caches are full", async () => {
    const run = new ModelRun(probes);
    const asked = Promise.withResolvers<void>();
    const filled = Promise.withResolvers<void>();
    const { cache } = run.cluster;
    const slow = run.another({
      ...probes,
      cache: {
        ...cache,
        waitForSync: () => {
          asked.resolve();
          return filled.promise;
        },
      },
    });
    const starting = slow.add(webapp).start();
    await asked.promise;
    expect((await get(slow.ports.health, "/readyz")).text).toContain("[-]manager failed: starting");
    expect((await get(slow.ports.health, "/healthz")).status).toBe(200);
    filled.resolve();
    await starting;
    expect((await get(slow.ports.health, "/readyz")).status).toBe(200);
    await slow.stop();
  });
});

describe("order", () => {
  test("webhooks start before caches fill, then what runs everywhere, then the leader's; stopping is the other way round", async () => {
    const seen: string[] = [];
    const stage = (name: string, at?: "webhook" | "everywhere" | "leader"): Runnable => ({
      name,
      ...(at ? { stage: at } : {}),
      start: () => {
        seen.push(`start ${name}`);
        return () => void seen.push(`stop ${name}`);
      },
    });
    const run = new ModelRun();
    const { cache } = run.cluster;
    const all = run.another({
      cache: {
        ...cache,
        waitForSync: async () => void seen.push("caches full"),
        stop: async () => void seen.push("caches stopped"),
      },
    });
    all
      .add(stage("leader"))
      .add(stage("everywhere", "everywhere"))
      .add(stage("webhook", "webhook"))
      .add(webapp);
    await all.start();
    await run.settle(0);
    expect(seen).toEqual(["start webhook", "caches full", "start everywhere", "start leader"]);
    seen.length = 0;
    await all.stop();
    expect(seen).toEqual(["stop leader", "stop everywhere", "stop webhook", "caches stopped"]);
  });

  test("a reconcile under way is let end, and told to when time runs short", async () => {
    const told: string[] = [];
    const run = new ModelRun({ gracefulShutdownTimeout: 10_000 });
    run.manager.add(
      appController({
        timeout: 0,
        concurrency: 2,
        reconcile: async (app, { clock, signal }) => {
          const ms = app.metadata.name === "quick" ? 2_000 : 3_600_000;
          signal.addEventListener("abort", () => told.push(`${app.metadata.name} at ${clock.monotonic()}`));
          await new Promise<void>((resolve) => clock.schedule(ms, resolve));
          if (!signal.aborted) told.push(`${app.metadata.name} ended`);
        },
      }),
    );
    await run.manager.start();
    run.put({}, "quick");
    run.put({}, "slow");
    await run.settle(1_000);
    const stopped = run.manager.stop();
    await run.settle(10_000);
    await stopped;
    expect(told).toEqual(["quick ended", "slow at 9000"]);
  });

  test("a runnable that cannot start shows in readyz and stops nothing else", async () => {
    const run = new ModelRun(probes);
    run.manager.add(webapp).add({
      name: "allocation API",
      start: () => {
        throw new Error("no certificate");
      },
    });
    await run.manager.start();
    run.put();
    await run.settle();
    expect(run.cluster.get(Deployment, key)).toBeDefined();
    expect((await get(run.manager.ports.health, "/readyz")).text).toContain(
      "[-]allocation-API failed: could not start: no certificate",
    );
    await run.manager.stop();
  });

  test("a function is a runnable of the leader's, and reads from the cache", async () => {
    const run = await running(webapp);
    let image: string | undefined;
    const other = run.another().add(async ({ client }) => {
      image = (await client.get(Deployment, key)).spec.template.spec?.containers[0]?.image;
    });
    await other.start();
    await run.settle(0);
    expect(image).toBe("nginx:1");
    await other.stop();
    await run.manager.stop();
  });

  test("a runnable's informers keep to the manager's namespaces", async () => {
    const run = new ModelRun();
    const { cache } = run.cluster;
    const scopes: unknown[] = [];
    const other = run.another({
      namespaces: ["shop"],
      cache: {
        ...cache,
        informer: (kind, scope) => {
          scopes.push(scope);
          return cache.informer(kind, scope);
        },
      },
    });
    other.add({
      name: "reader",
      stage: "everywhere",
      start: ({ informer }) => {
        const deployments = informer(Deployment, { labelSelector: "app=web" });
        return () => deployments.release();
      },
    });
    await other.start();
    expect(scopes).toContainEqual({ namespace: "shop", labelSelector: "app=web" });
    await other.stop();
  });

  test("a webhook server reads from the server what controllers will have cached, for it starts before the caches fill", async () => {
    const run = await running(webapp);
    const { cache } = run.cluster;
    let isFull = false;
    const other = run.another({
      cache: {
        ...cache,
        get: (kind, at) => {
          if (!isFull) throw new CacheMissError(kind, "it has not synced yet");
          return cache.get(kind, at);
        },
        waitForSync: async () => {
          isFull = true;
        },
      },
    });
    const read: string[] = [];
    const start: Runnable["start"] = async ({ client }) => {
      read.push((await client.get(Deployment, key)).metadata.name);
      await client.patch(Deployment, key, {
        type: "merge",
        patch: { metadata: { labels: { by: "webhook" } } },
      });
    };
    await other.add(webapp).add({ name: "webhook", stage: "webhook", start }).start();
    expect(read).toEqual(["web"]);
    expect(run.cluster.get(Deployment, key)?.metadata.labels).toMatchObject({ by: "webhook" });
    await other.stop();
    await run.manager.stop();
  });

  test("a runnable whose start does not end is logged, because runnables added after it wait", async () => {
    const run = new ModelRun();
    const seen: string[] = [];
    run.manager
      .add(async function sweep({ signal }) {
        await new Promise((resolve) => signal.addEventListener("abort", resolve));
      })
      .add(() => void seen.push("second"));
    await run.manager.start();
    await run.settle(31_000);
    expect(seen).toEqual([]);
    const told = run.lines.filter(({ level }) => level === "warn").map(({ message }) => message);
    expect(told).toEqual([expect.stringContaining("sweep has been starting for 30 s")]);
    await run.manager.stop();
    expect(run.clock.pending).toBe(0);
  });

  test("nothing can be added after the start, and nothing started twice", async () => {
    const run = await running(webapp);
    expect(() => run.manager.add(webapp)).toThrow("only before it is started");
    await expect(run.manager.start()).rejects.toThrow("can be started once");
    await run.manager.stop();
    await run.manager.stop();
  });
});

describe("run", () => {
  test("ends when its signal is aborted", async () => {
    const run = new ModelRun();
    const abort = new AbortController();
    const ended = run.manager.add(webapp).run({ signal: abort.signal });
    await run.settle(0);
    abort.abort();
    await ended;
  });

  test("ends in order on SIGTERM, and leaves no handlers behind", async () => {
    const before = process.listenerCount("SIGTERM");
    const run = new ModelRun();
    const ended = run.manager.add(webapp).run();
    await run.settle(0);
    process.listeners("SIGTERM").at(-1)?.("SIGTERM");
    await ended;
    expect(run.lines.at(-1)).toMatchObject({ message: "stopping", fields: { signal: "SIGTERM" } });
    expect(process.listenerCount("SIGTERM")).toBe(before);
  });

  test("the manager counts and logs unhandled rejections, and goes on", async () => {
    const run = new ModelRun();
    const abort = new AbortController();
    const ended = run.manager.add(webapp).run({ signal: abort.signal });
    await run.settle(0);
    process.listeners("unhandledRejection").at(-1)?.(new Error("forgotten"), Promise.resolve());
    expect(run.manager.registry.render()).toContain("windlass_unhandled_rejections_total 1");
    expect(run.lines.at(-1)?.fields).toMatchObject({ error: "forgotten" });
    run.put();
    await run.settle();
    expect(run.cluster.get(Deployment, key)).toBeDefined();
    abort.abort();
    await ended;
  });
});
