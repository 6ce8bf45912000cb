import { isObjectOf } from "@windlass/runtime";
import { expect, test } from "vitest";
import { BuildbarnFrontend } from "../frontend/frontend.ts";
import { BuildbarnScheduler } from "../scheduler/scheduler.ts";
import { BuildbarnStorage } from "../storage/storage.ts";
import { BuildbarnWorker } from "../worker/worker.ts";
import { type ComponentObject, setFrom } from "./buildbarn-set.ts";
import { schedulerConfiguration, workerConfiguration } from "./component-configuration.ts";
import { checkSizeClass, platformQueues } from "./relations.ts";

const at = (name: string) => ({ namespace: "builds", name });
const stable = { phase: "Stable", from: 2, to: 2, since: "2026-01-01T00:00:00Z" } as const;
const storage = BuildbarnStorage.make(at("storage"), {}, { resharding: stable });
const scheduler = BuildbarnScheduler.make(at("scheduler"), {});
const frontend = BuildbarnFrontend.make(at("frontend"), {});
const platform = [{ name: "OSFamily", value: "linux" }];
const worker = (name: string, spec: object) => BuildbarnWorker.make(at(name), { platform, ...spec });
const setOf = (...own: readonly ComponentObject[]) => {
  const all = [storage, scheduler, frontend, ...own];
  return setFrom("builds", "buildbarn", (kind) => all.filter((one) => isObjectOf(kind, one)));
};

test("a worker without a size class is refused beside one that has one, with the field named", () => {
  const [plain, large] = [worker("plain", {}), worker("large", { sizeClass: 4 })];
  const set = setOf(plain, large);
  const fault = {
    reason: "SizeClassInvalid",
    message:
      "spec.sizeClass of BuildbarnWorker plain is 0, and must be above 0 beside BuildbarnWorker large with the same platform and another size class",
  };
  expect(() => schedulerConfiguration(set, scheduler)).toThrow(expect.objectContaining(fault));
  for (const one of [plain, large])
    expect(() => workerConfiguration(set, one)).toThrow(expect.objectContaining(fault));
});

test("size classes are those of one queue alone", () => {
  const [small, large] = [worker("small", { sizeClass: 1 }), worker("large", { sizeClass: 4 })];
  const other = worker("other", { platform: [{ name: "OSFamily", value: "windows" }] });
  const prefixed = worker("prefixed", { instanceNamePrefix: "main" });
  const set = setOf(small, large, other, prefixed);
  expect(platformQueues(set, scheduler).map(({ sizeClasses }) => sizeClasses)).toEqual([[1, 4], [0], [0]]);
  for (const one of set.workers) expect(() => checkSizeClass(set, one)).not.toThrow();
});
