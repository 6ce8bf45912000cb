import { ManualClock } from "@windlass/clock";
import { ConfigMap } from "@windlass/kinds/builtin";
import { expect, test } from "vitest";
import { controller } from "../controller/controller.ts";
import { indexed } from "../controller/indexes.ts";
import { every } from "../controller/source.ts";
import { WebApp } from "../reconcile/model-run.fixture.ts";
import { existing } from "./test-reconcile.ts";
import { testSource } from "./test-source.ts";

const key = { namespace: "shops", name: "web" };

test("tells what a source asks for, until it is stopped", async () => {
  const clock = new ManualClock();
  const tried = testSource(every("1m"), { clock });
  await clock.advance("2m");
  expect(tried.asked).toEqual(["all", "all"]);
  tried[Symbol.dispose]();
  await tried.ended;
  await clock.advance("2m");
  expect(tried.asked).toHaveLength(2);
});

test("takes keys as they come, and ends with an iterable that does", async () => {
  async function* keys() {
    await Promise.resolve();
    yield key;
  }
  using tried = testSource(keys());
  await tried.ended;
  expect(tried.asked).toEqual([key]);
});

test("has the objects of the moment in the cache, and the indexes of the controller", async () => {
  const clock = new ManualClock();
  const map = (name: string) => existing(ConfigMap, { metadata: { name }, data: { colour: "red" } });
  const there = [map("a")];
  const reader = controller(WebApp, {
    reads: [indexed(ConfigMap, { colour: ({ data }) => [data?.colour ?? ""] })],
    reconcile: () => undefined,
  });
  const seen: string[][] = [];
  using tried = testSource(
    ({ cache, clock: handed, enqueue }) => {
      handed.schedule(1_000, () => {
        seen.push(cache.byIndex(ConfigMap, "colour", "red").map(({ metadata }) => metadata.name));
        for (const { metadata } of cache.list(ConfigMap)) enqueue(metadata);
      });
    },
    { clock, controller: reader, cache: () => there },
  );
  there.push(map("b"));
  await clock.advance("1s");
  expect(seen).toEqual([["a", "b"]]);
  expect(tried.asked).toMatchObject([{ namespace: "default", name: "a" }, { name: "b" }]);
});

test("starts a source again that fails, and has what it logged", async () => {
  const clock = new ManualClock();
  let fails = 1;
  using tried = testSource(
    ({ enqueue, log }) => {
      log.info({ fails }, "looking");
      if (fails-- > 0) throw new Error("not yet");
      enqueue(key);
    },
    { clock },
  );
  await clock.advance("1s");
  expect(tried.asked).toEqual([key]);
  expect(tried.logs.map(({ message }) => message)).toEqual([
    "looking",
    "a source failed; starting it again in 1 s",
    "looking",
  ]);
});
