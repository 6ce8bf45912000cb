import type { AnyKind } from "@windlass/client";
import { ConfigMap } from "@windlass/kinds/builtin";
import { expect, test } from "vitest";
import { ReconcileOverError } from "../reconcile/errors.ts";
import { appController, ModelRun, running, WebApp } from "../reconcile/model-run.fixture.ts";
import { Follows } from "./follow.ts";

const key = { namespace: "default", name: "web" };

test("a reconcile that outlives its controller follows nothing any more", async () => {
  const { cluster } = new ModelRun();
  const opened: string[] = [];
  const world = {
    onKind: () => undefined,
    informer: (kind: AnyKind) => {
      opened.push(kind.kind);
      return cluster.cache.informer(kind);
    },
  };
  const follows = new Follows(world, () => undefined);
  const late = follows.begin(key);
  follows.close();
  await expect(late.follow(ConfigMap, key)).rejects.toBeInstanceOf(ReconcileOverError);
  expect(opened).toEqual([]);
});

test("a reconcile that outlives its time follows nothing any more", async () => {
  const late = Promise.withResolvers<void>();
  const followed: unknown[] = [];
  let reconciles = 0;
  const run = await running(
    appController({
      timeout: "1s",
      follows: [ConfigMap],
      reconcile: async ({ metadata }, { follow }) => {
        reconciles += 1;
        if (reconciles > 1) return;
        await late.promise;
        const asked = follow(ConfigMap, { namespace: "default", name: metadata.name });
        followed.push(await asked.catch((error: unknown) => error));
      },
    }),
  );
  await run.settle(60_000);
  run.cluster.remove(WebApp, key);
  await run.settle();
  late.resolve();
  await run.settle();
  expect(followed).toEqual([expect.any(ReconcileOverError)]);
  await run.manager.stop();
});

test.each([
  ["is logged once, with what to declare", {}, 1],
  ["that is declared is no reason for a warning", { follows: [ConfigMap] }, 0],
  [
    "that the role allows is no reason for a warning",
    { permissions: [{ kind: ConfigMap, verbs: ["list", "watch"] }] },
    0,
  ],
])("a kind that is followed and %s", async (_, declared, times) => {
  const run = await running(
    appController({
      ...declared,
      reconcile: async ({ metadata }, { follow }) => {
        await follow(ConfigMap, { namespace: "default", name: metadata.name });
      },
    }),
  );
  run.put({}, "second");
  await run.settle();
  const told = run.lines.filter(({ level }) => level === "warn").map(({ message }) => message);
  const line =
    'controller webapp follows ConfigMap, of which rbacFor does not know: add it to "follows", or its rights to "permissions"';
  expect(told).toEqual(Array.from({ length: times }, () => line));
  await run.manager.stop();
});
