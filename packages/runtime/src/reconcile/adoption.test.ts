import { isObjectOf } from "@windlass/client";
import { Deployment, EventV1 as Event, Service } from "@windlass/kinds/builtin";
import { describe, expect, test } from "vitest";
import type { Controller } from "../controller/controller.ts";
import { child } from "./child.ts";
import {
  appController,
  key,
  type ModelRun,
  running,
  serviceFor,
  WebApp,
  webapp,
} from "./model-run.fixture.ts";
import { adoptableByAnnotation, appliedAnnotation } from "./standing.ts";

const byHand = {
  metadata: { ...key, labels: { team: "payments" } },
  spec: { selector: { app: "payments" } },
};
const ready = (run: ModelRun) => run.app?.status?.conditions?.find((one) => one.type === "Ready");
const service = (run: ModelRun) => run.cluster.get(Service, key);

/** A controller at work on an app whose Service is there already, made by another client. */
async function besideForeign(
  what: Controller<typeof WebApp> = webapp,
  foreign: object = byHand,
): Promise<ModelRun> {
  const run = await running(appController({ reconcile: () => undefined }));
  await run.manager.stop();
  run.cluster.put(Service, { ...foreign });
  run.manager = run.another().add(what);
  await run.manager.start();
  await run.settle();
  return run;
}

describe("an object that was not made for its owner", () => {
  test("is left alone, while the other children are applied", async () => {
    const run = await besideForeign();
    expect(service(run)).toMatchObject(byHand);
    expect(service(run)?.metadata.ownerReferences).toBeUndefined();
    expect(service(run)?.metadata.annotations).toBeUndefined();
    expect(run.cluster.get(Deployment, key)).toBeDefined();
    await run.manager.stop();
  });

  test("is named in condition, event, metric and log, with the way to hand it over", async () => {
    const run = await besideForeign();
    const message =
      "Service default/web exists and was not made for WebApp default/web, so it is left alone. Delete or rename it, or hand it over: kubectl annotate services web --namespace default windlass.dev/adoptable-by=webapps.example.com/web";
    const reason = "ChildAlreadyExists";
    expect(ready(run)).toMatchObject({ status: "False", reason, message });
    expect(run.cluster.cache.list(Event)).toContainEqual(
      expect.objectContaining({ type: "Warning", reason, note: message }),
    );
    expect(run.manager.registry.render()).toMatch(
      /windlass_reconcile_failures_total\{controller="webapp",reason="ChildAlreadyExists"\} [1-9]/,
    );
    expect(run.lines).toContainEqual(
      expect.objectContaining({
        level: "error",
        fields: expect.objectContaining({ reason, error: message }),
      }),
    );
    await run.manager.stop();
  });

  test("is neither pruned when it is no longer wanted, nor deleted with the owner", async () => {
    const run = await besideForeign();
    run.put({ expose: false });
    await run.settle();
    expect(ready(run)?.reason).toBe("ReplicasAvailable");
    run.cluster.remove(WebApp, key);
    await run.settle();
    expect(service(run)).toMatchObject(byHand);
    expect(run.cluster.writes.filter(({ method }) => method === "DELETE")).toEqual([]);
    await run.manager.stop();
  });

  test("causes a reconcile when it goes, and no writes until then", async () => {
    const run = await besideForeign();
    await run.settle(3 * 3_600_000);
    run.cluster.takeWrites();
    await run.settle(3_600_000);
    expect(run.cluster.takeWrites().filter(({ path }) => !path.includes("/events"))).toEqual([]);
    run.cluster.remove(Service, key);
    await run.settle(1);
    expect(service(run)?.metadata.ownerReferences?.[0]?.uid).toBe(run.app?.metadata.uid);
    expect(ready(run)?.reason).toBe("ReplicasAvailable");
    await run.manager.stop();
  });

  test("that changes all the time is logged at increasing intervals", async () => {
    const run = await besideForeign();
    for (let count = 0; count < 200; count++) {
      run.cluster.put(Service, { ...byHand, status: { count } });
      await run.settle(10_000);
    }
    expect(run.lines.filter(({ level }) => level === "error").length).toBeLessThan(20);
    await run.manager.stop();
  });

  test("is taken over once it is handed over", async () => {
    const run = await besideForeign();
    await run.settle(3 * 3_600_000);
    const annotations = { [adoptableByAnnotation]: "webapps.example.com/web" };
    run.cluster.put(Service, { ...byHand, metadata: { ...byHand.metadata, annotations } });
    await run.settle(1);
    expect(service(run)).toMatchObject({
      metadata: { labels: { team: "payments" }, ownerReferences: [{ uid: run.app?.metadata.uid }] },
      spec: { selector: { app: "web" }, ports: [{ port: 80 }] },
    });
    await run.manager.stop();
  });

  test("is not taken over when it is handed to another, or was applied for another", async () => {
    for (const annotations of [
      { [adoptableByAnnotation]: "webapps.example.com/other" },
      { [appliedAnnotation]: "webapp.windlass:another-uid:print" },
      { [appliedAnnotation]: "webapp.windlass:print" },
    ]) {
      const run = await besideForeign(webapp, { ...byHand, metadata: { ...byHand.metadata, annotations } });
      expect(ready(run)?.reason).toBe("ChildAlreadyExists");
      expect(service(run)?.metadata.ownerReferences).toBeUndefined();
      await run.manager.stop();
    }
  });

  test("an object is taken over where the child asks for it", async () => {
    const adopting = appController({
      owns: [Service],
      reconcile: (app) => ({ children: [child(Service, serviceFor(app).object, { adopt: true })] }),
    });
    const run = await besideForeign(adopting);
    expect(service(run)?.metadata.ownerReferences?.[0]?.uid).toBe(run.app?.metadata.uid);
    await run.manager.stop();
  });

  test("an object is not taken over where the child is applied in between, unless that asks for it", async () => {
    const adopts = new Set<string>();
    const applying = appController({
      owns: [Service],
      reconcile: async (app, { apply }) => {
        const adopt = adopts.has(app.spec.image);
        await apply(child(Service, serviceFor(app).object, { adopt }));
      },
    });
    const run = await besideForeign(applying);
    expect(ready(run)?.reason).toBe("ChildAlreadyExists");
    adopts.add("nginx:2");
    run.put({ image: "nginx:2" });
    await run.settle();
    expect(service(run)?.metadata.ownerReferences?.[0]?.uid).toBe(run.app?.metadata.uid);
    await run.manager.stop();
  });
});

describe("whatever happens between the look and the write", () => {
  const onServiceWrite = (run: ModelRun, act: () => void) => {
    let done = false;
    run.cluster.fault = ({ method, path }) => {
      if (!done && method === "PATCH" && path.includes("/services/")) {
        done = true;
        act();
      }
      return undefined;
    };
  };

  test("an object that appears is not taken over", async () => {
    const run = await running(webapp);
    run.put({ expose: false });
    await run.settle();
    onServiceWrite(run, () => void run.cluster.put(Service, { ...byHand }));
    run.put({ expose: true });
    await run.settle();
    expect(service(run)).toMatchObject(byHand);
    expect(service(run)?.metadata.ownerReferences).toBeUndefined();
    expect(ready(run)?.reason).toBe("ChildAlreadyExists");
    await run.manager.stop();
  });

  test("an object that takes the place of a child is not taken over", async () => {
    const run = await running(webapp);
    onServiceWrite(run, () => {
      run.cluster.remove(Service, key);
      run.cluster.put(Service, { ...byHand });
    });
    run.cluster.put(Service, { ...service(run), spec: { selector: {} } });
    await run.settle();
    expect(service(run)).toMatchObject(byHand);
    expect(ready(run)?.reason).toBe("ChildAlreadyExists");
    await run.manager.stop();
  });

  test("a child that its dead owner let go is not given that owner again, though the cache shows it", async () => {
    const run = await running(webapp);
    const { ownerReferences: _, ...metadata } = service(run)?.metadata ?? { name: "" };
    onServiceWrite(run, () => {
      run.cluster.put(Service, { ...service(run), metadata });
      run.cluster.remove(WebApp, key);
    });
    run.cluster.put(Service, { ...service(run), spec: { selector: {} } });
    await run.settle();
    expect(service(run)?.metadata.ownerReferences).toBeUndefined();
    expect(service(run)?.spec?.selector).toEqual({});
    await run.manager.stop();
  });

  test("a child whose status others write all the time is still changed, and at once", async () => {
    const run = await running(webapp);
    let count = 0;
    run.cluster.fault = ({ method, path }) => {
      if (method === "PATCH" && path.includes("/deployments/"))
        run.cluster.put(Deployment, { ...run.cluster.get(Deployment, key), status: { replicas: ++count } });
      return undefined;
    };
    run.cluster.takeWrites();
    run.put({ image: "nginx:2" });
    await run.settle(1);
    expect(run.cluster.get(Deployment, key)?.spec.template.spec?.containers[0]?.image).toBe("nginx:2");
    expect(run.cluster.takeWrites().filter(({ path }) => path.includes("/deployments/"))).toHaveLength(5);
    await run.manager.stop();
  });

  test("a child is changed with one request, unless another client changes it", async () => {
    const run = await running(webapp);
    run.cluster.takeWrites();
    let requests = 0;
    run.cluster.fault = ({ path }) => {
      if (path.includes("/deployments/")) requests += 1;
      return undefined;
    };
    run.put({ image: "nginx:2" });
    await run.settle();
    expect(requests).toBe(1);
    await run.manager.stop();
  });

  test("an object that takes the place of a child that is let go is left as it is", async () => {
    const run = await running(
      appController({
        owns: [Service],
        reconcile: (app) => {
          const { object } = serviceFor(app);
          return { children: [app.spec.expose && child(Service, object, { onRemoval: "keep" })] };
        },
      }),
    );
    const owner = { apiVersion: "v1", kind: "ConfigMap", name: "theirs", uid: run.app?.metadata.uid ?? "" };
    const theirs = { ...byHand, metadata: { ...byHand.metadata, ownerReferences: [owner] } };
    onServiceWrite(run, () => {
      run.cluster.remove(Service, key);
      run.cluster.put(Service, theirs);
    });
    run.put({ expose: false });
    await run.settle();
    expect(service(run)).toMatchObject(theirs);
    await run.manager.stop();
  });

  test("a child that the cache does not show is found and kept", async () => {
    const run = await running(webapp);
    const { uid } = service(run)?.metadata ?? {};
    const { cache } = run.cluster;
    await run.manager.stop();
    run.cluster.put(Service, { ...service(run), spec: { selector: {} } });
    run.manager = run
      .another({
        cache: { ...cache, get: (kind, at) => (kind.kind === "Service" ? undefined : cache.get(kind, at)) },
      })
      .add(webapp);
    await run.manager.start();
    await run.settle();
    expect(service(run)).toMatchObject({ metadata: { uid }, spec: { selector: { app: "web" } } });
    await run.manager.stop();
  });
});

describe("a child that lost its owner", () => {
  const withoutOwner = (run: ModelRun) => {
    const { ownerReferences: _, ...metadata } = service(run)?.metadata ?? { name: "" };
    run.cluster.put(Service, { ...service(run), metadata });
  };

  test("gets it back, if it was applied for it", async () => {
    const run = await running(webapp);
    withoutOwner(run);
    run.put({ image: "nginx:2" });
    await run.settle();
    expect(service(run)?.metadata.ownerReferences?.[0]?.uid).toBe(run.app?.metadata.uid);
    await run.manager.stop();
  });

  test.for([
    ["is being deleted", ["example.com/held"]],
    ["was replaced by another of its name", []],
  ] as [string, readonly string[]][])(
    "is let go when the owner %s, though the cache does not know it yet",
    async ([, finalizers]) => {
      const run = await running(webapp);
      await run.manager.stop();
      withoutOwner(run);
      const { app } = run;
      if (finalizers.length > 0)
        run.cluster.put(WebApp, { ...app, metadata: { ...app?.metadata, finalizers } });
      run.cluster.remove(WebApp, key);
      if (finalizers.length === 0) run.put({});
      const { cache } = run.cluster;
      const stale: typeof cache = {
        ...cache,
        informer: (kind, scope) => {
          const informer = cache.informer(kind, scope);
          return isObjectOf(kind, app) ? Object.assign({ ...informer }, { get: () => app }) : informer;
        },
      };
      run.manager = run.another({ cache: stale }).add(webapp);
      await run.manager.start();
      await run.settle();
      expect(service(run)?.metadata.ownerReferences).toBeUndefined();
      await run.manager.stop();
    },
  );
});

describe("the children of an earlier owner of the same name", () => {
  const recreated = async () => {
    const run = await running(webapp);
    const before = run.app?.metadata.uid;
    run.cluster.remove(WebApp, key);
    run.put();
    await run.settle(500);
    expect(run.app?.metadata.uid).not.toBe(before);
    expect(service(run)?.metadata.ownerReferences?.[0]?.uid).toBe(before);
    return run;
  };

  test("are waited for without an error, and created again when they are gone", async () => {
    const run = await recreated();
    // As the garbage collector does.
    run.cluster.remove(Service, key);
    run.cluster.remove(Deployment, key);
    await run.settle();
    expect(service(run)?.metadata.ownerReferences?.[0]?.uid).toBe(run.app?.metadata.uid);
    expect(ready(run)?.reason).toBe("ReplicasAvailable");
    expect(run.lines.filter(({ level }) => level === "error")).toEqual([]);
    expect(run.cluster.cache.list(Event)).toEqual([]);
    await run.manager.stop();
  });

  test("are reported if they stay", async () => {
    const run = await recreated();
    await run.settle(5_000);
    expect(ready(run)).toMatchObject({
      reason: "ChildOwnedByOther",
      message: expect.stringContaining("belongs to an earlier WebApp default/web, of another uid"),
    });
    await run.manager.stop();
  });
});

test("what a finalizer deletes is the object that it saw, and not another of its name", async () => {
  let seen: ReturnType<typeof service>;
  const run = await running(
    appController({
      owns: [Service],
      reconcile: (app) => ({ children: [serviceFor(app)] }),
      finalize: async (_app, context) => {
        if (seen) await context.delete(Service, seen);
      },
    }),
  );
  seen = service(run);
  run.cluster.remove(Service, key);
  run.cluster.put(Service, { ...byHand });
  run.cluster.remove(WebApp, key);
  await run.settle();
  expect(run.app).toBeUndefined();
  expect(service(run)).toMatchObject(byHand);
  await run.manager.stop();
});
