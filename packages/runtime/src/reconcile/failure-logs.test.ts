import { ApiError } from "@windlass/client";
import { systemClock } from "@windlass/clock";
import { Deployment, Service } from "@windlass/kinds/builtin";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { Problems } from "../resource/refusal.ts";
import { objectSchemaOf } from "../resource/version-entry.ts";
import { ReconcileResultError } from "./errors.ts";
import {
  appController,
  deploymentFor,
  key,
  ModelRun,
  running,
  serviceFor,
  WebApp,
} from "./model-run.fixture.ts";
import { checkResult, reconcileResult } from "./result.ts";

/** The lines about failures, at the levels that people read. */
const told = (run: ModelRun) =>
  run.lines.filter(({ level, message }) => level === "error" && message.startsWith("reconcile failed"));

describe("a reconcile that throws", () => {
  test("a failure is logged with its stack the first time, and then with the message, the attempt and the next try", async () => {
    const run = await running(
      appController({
        rateLimit: { initial: 100, max: 4_000 },
        reconcile: () => {
          throw new Error("the boiler is cold");
        },
      }),
    );
    await run.settle(60_000);
    const [first, second, third] = told(run);
    expect(first?.message).toMatch(/^reconcile failed \(attempt 1\), trying again in \d+ ms$/);
    expect(first?.fields).toMatchObject({
      error: "the boiler is cold",
      attempt: 1,
      retryInMs: expect.any(Number),
      stack: expect.stringMatching(/^at .*failure-logs\.test\.ts/),
    });
    // Those of the first second are left out.
    expect(second?.fields).toMatchObject({ error: "the boiler is cold", attempt: 5 });
    expect(second?.message).toMatch(/^reconcile failed \(attempt 5\), trying again in \d+(\.\d)? s$/);
    expect(second?.fields).not.toHaveProperty("stack");
    expect(third?.fields).not.toHaveProperty("stack");
  });

  test("is news again when it throws something else, or has been well in between", async () => {
    let says: string | undefined = "one";
    const run = await running(
      appController({
        rateLimit: { initial: 10, max: 10 },
        reconcile: () => {
          if (says !== undefined) throw new Error(says);
        },
      }),
    );
    const news = () => told(run).filter(({ fields }) => "stack" in fields).length;
    expect(news()).toBe(1);
    says = "two";
    await run.settle();
    expect(news()).toBe(2);
    says = undefined;
    await run.settle();
    says = "two";
    run.put({ image: "nginx:2" });
    await run.settle();
    expect(news()).toBe(3);
  });

  test("a missing right is logged once for all objects, and each minute with the count", async () => {
    const message = `deployments.apps is forbidden: User "me" cannot create resource "deployments" in API group "apps" in the namespace "default"`;
    const run = new ModelRun();
    run.manager.add(
      appController({
        rateLimit: { initial: 1_000, max: 1_000 },
        reconcile: () => {
          throw new ApiError({ kind: "Status", code: 403, reason: "Forbidden", message });
        },
      }),
    );
    await run.manager.start();
    for (const name of ["a", "b", "c"]) run.put({}, name);
    await run.settle(30_000);
    expect(told(run)).toHaveLength(1);
    expect(told(run)[0]?.fields.error).toContain("grant it: a Role in namespace default with the rule");
    await run.settle(60_000);
    expect(told(run)).toHaveLength(2);
    expect(told(run)[1]?.fields.count).toBeGreaterThan(30);
  });

  test("several missing rights are logged once for all objects and namespaces", async () => {
    const denied = (resource: string, group: string, namespace: string) =>
      new ApiError({
        kind: "Status",
        code: 403,
        reason: "Forbidden",
        message: `${resource} is forbidden: User "me" cannot patch resource "${resource}" in API group "${group}" in the namespace "${namespace}"`,
      });
    const run = new ModelRun();
    run.manager.add(
      appController({
        owns: [Deployment, Service],
        rateLimit: { initial: 1_000, max: 1_000 },
        reconcile: (app) => ({ children: [deploymentFor(app), serviceFor(app)] }),
      }),
    );
    run.cluster.refusal = ({ method, path }) => {
      const [, namespace = "", resource = ""] =
        /namespaces\/([^/]+)\/(deployments|services)\//.exec(path) ?? [];
      if (method !== "PATCH" || resource === "") return undefined;
      return denied(resource, resource === "services" ? "" : "apps", namespace).status;
    };
    await run.manager.start();
    for (let index = 0; index < 20; index++)
      run.cluster.put(WebApp, {
        ...WebApp.make({ namespace: `team-${index % 4}`, name: `app-${index}` }, {}),
      });
    await run.settle(30_000);
    expect(told(run)).toHaveLength(1);
    expect(told(run)[0]?.fields.error).toMatch(/resource "deployments".*resource "services"/);
    await run.settle(60_000);
    expect(told(run)).toHaveLength(2);
    expect(told(run)[1]?.fields.count).toBeGreaterThan(500);
    await run.settle(60_000);
    expect(told(run)).toHaveLength(2);
  });

  test("for changing a cached object says that it is one, and what to do instead", async () => {
    const run = await running(
      appController({
        reconcile: (app) => {
          (Object.freeze(app.spec) as { image: string }).image = "nginx:2";
        },
      }),
    );
    const hint =
      /^Cannot assign to read only property 'image'.*Objects from the cache are shared.*structuredClone.*apply/;
    expect(told(run)[0]?.fields.error).toMatch(hint);
    expect(run.app?.status?.conditions?.[0]?.message).toMatch(hint);
  });
});

describe("a reconcile that keeps the CPU", () => {
  test("a reconcile past its timeout is logged when it is over, with its object, its controller and what to do", async () => {
    const run = new ModelRun({ clock: systemClock });
    const over = Promise.withResolvers<void>();
    run.manager.add(
      appController({
        timeout: 20,
        reconcile: () => {
          const until = performance.now() + 40;
          while (performance.now() < until);
          over.resolve();
        },
      }),
    );
    await run.manager.start();
    run.put();
    await over.promise;
    await expect
      .poll(() => run.lines.map(({ message }) => message))
      .toContainEqual(
        "WebApp default/web: the reconcile of controller webapp kept the CPU past its timeout of 0.02 s, and everything else stood still. Move long computations to a worker thread, or split them with await.",
      );
    await run.manager.stop();
  });
});

describe("an invalid result", () => {
  test("is a terminal error, before anything is applied", async () => {
    let calls = 0;
    const run = await running(
      appController({
        reconcile: () => {
          calls += 1;
          return { requeue: true, status: { url: "x" } } as object;
        },
      }),
    );
    await run.settle(60_000);
    expect(calls).toBe(1);
    expect(run.app?.status?.url).toBeUndefined();
    expect(told(run)).toHaveLength(1);
    expect(told(run)[0]).toMatchObject({
      message: "reconcile failed for good: it is tried again when the object changes",
      fields: {
        reason: "ReconcileResultInvalid",
        error:
          'reconcile of WebApp default/web returned "requeue", which nothing looks at; a result may have children, status, requeueAfter, events, or be left out',
      },
    });
    expect(run.app?.status?.conditions).toMatchObject([{ type: "Ready", reason: "ReconcileResultInvalid" }]);
  });

  test.for([
    [true, "a boolean where a result belongs"],
    [["x"], "a list where a result belongs"],
    [{ children: {} }, "children that are no list"],
    [{ events: "x" }, "events that are no list"],
    [{ requeueAfter: "10 s" }, 'a result whose requeueAfter ("10 s") must be a number of milliseconds'],
    [{ requeueAfter: Number.NaN }, "a result whose requeueAfter (NaN)"],
    [JSON.parse('{"__proto__": 1}'), '"__proto__", which nothing looks at'],
  ] as [unknown, string][])("%j is reported by its fault", ([result, fault]) => {
    const check = () => checkResult(result, reconcileResult, "it");
    expect(check).toThrow(ReconcileResultError);
    expect(check).toThrow(`it returned ${fault}`);
  });

  test("fields of the status that the kind does not have are named, wherever they are", () => {
    const status = z.object({
      phase: z.string().optional(),
      endpoints: z.array(z.object({ url: z.string() })).optional(),
      byName: z.record(z.string(), z.object({ up: z.boolean() })).optional(),
      any: z.looseObject({}).optional(),
    });
    const definition = { group: "example.com", version: "v1", kind: "App", spec: z.object({}), status };
    const schema = () => objectSchemaOf(definition, new Problems()).properties?.status;
    const object = { metadata: { name: "a" }, status: { newer: 1, list: [{ a: 1 }] } };
    const check = (returned: object) =>
      checkResult({ status: returned }, reconcileResult, "it", { schema, object });
    expect(() => check({ fase: "Up", phase: "Up" })).toThrow(
      "it returned status.fase, which its kind does not have",
    );
    expect(() => check({ endpoints: [{ url: "" }, { url: "", uri: "" }, { uri: "" }] })).toThrow(
      /returned status\.endpoints\[\]\.uri, which/,
    );
    expect(() => check({ byName: { a: { up: true, down: false } } })).toThrow("status.byName.a.down");
    const fine = {
      phase: undefined,
      fase: undefined,
      endpoints: [{ url: "" }],
      byName: { a: { up: true } },
      any: { thing: 1 },
      conditions: [{ type: "Ready", status: "True", reason: "A", message: "" }],
      observedGeneration: 1,
    };
    expect(() => check(fine)).not.toThrow();
    // A definition that is newer than the program: what the object has is copied.
    expect(() => check({ ...object.status, phase: "Up" })).not.toThrow();
  });

  test("what may be returned is taken", () => {
    for (const result of [undefined, null, {}, { children: [], events: [], requeueAfter: 0, status: {} }])
      expect(() => checkResult(result, reconcileResult, "it")).not.toThrow();
  });
});

test("a line may be words alone, or fields and words", async () => {
  const run = await running(
    appController({
      reconcile: (_, { log }) => {
        log.info("words");
        log.info({ some: "field" }, "and words");
      },
    }),
  );
  expect(run.lines.filter(({ fields }) => "reconcileID" in fields)).toMatchObject([
    { message: "words", fields: { controller: "webapp", name: key.name } },
    { message: "and words", fields: { some: "field" } },
  ]);
});

test("a reconcile that logs nothing makes no logger", async () => {
  const run = new ModelRun();
  const made: object[] = [];
  const { log } = run;
  const counting: typeof log = {
    ...log,
    child: (bindings) => {
      if ("reconcileID" in bindings) made.push(bindings);
      return log.child(bindings);
    },
  };
  run.manager = run.another({ log: counting }).add(
    appController({
      reconcile: ({ spec }, context) => {
        if (spec.image !== "loud") return;
        context.log.info("one");
        context.log.info("two");
      },
    }),
  );
  await run.manager.start();
  run.put({ image: "quiet" });
  await run.settle();
  expect(made).toEqual([]);
  run.put({ image: "loud" });
  await run.settle();
  expect(made).toEqual([expect.objectContaining({ kind: "WebApp", name: "web", namespace: "default" })]);
  await run.manager.stop();
});
