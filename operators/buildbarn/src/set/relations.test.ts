import { isObjectOf } from "@windlass/runtime";
import { expect, test } from "vitest";
import { BuildbarnBrowser } from "../browser/browser.ts";
import { BuildbarnFrontend } from "../frontend/frontend.ts";
import { BuildbarnScheduler } from "../scheduler/scheduler.ts";
import { BuildbarnStorage } from "../storage/storage.ts";
import { BuildbarnWorker } from "../worker/worker.ts";
import { type ComponentObject, setFrom } from "./buildbarn-set.ts";
import { schedulerConfiguration, workerConfiguration } from "./component-configuration.ts";
import { browserUrl, checkSizeClass, frontendOf, platformQueues } from "./relations.ts";

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

test("a scheduler stays with its frontend while that is there, and moves to one that is ready", () => {
  const frontendAt = (name: string, state: "Ready" | "NotReady") =>
    BuildbarnFrontend.make(at(name), {}, { state });
  const using = (name: string) => BuildbarnScheduler.make(at("scheduler"), {}, { frontend: name });
  const nameOf = (own: readonly ComponentObject[], one = scheduler) => {
    const set = setFrom("builds", "buildbarn", (kind) => own.filter((other) => isObjectOf(kind, other)));
    return frontendOf(set, one).metadata.name;
  };
  const [ci, main, spare] = [
    frontendAt("ci", "NotReady"),
    frontendAt("main", "NotReady"),
    frontendAt("spare", "Ready"),
  ];
  expect(nameOf([main, ci])).toBe("ci");
  expect(nameOf([main, spare])).toBe("spare");
  expect(nameOf([ci, main, spare], using("main"))).toBe("main");
  expect(nameOf([ci, spare], using("main"))).toBe("spare");
  expect(() => nameOf([ci], using("main"))).toThrow(
    "BuildbarnFrontend main is gone, and none of ci is ready yet",
  );
});

test("links to actions lead to the oldest browser, whatever its name", () => {
  const browser = (name: string, creationTimestamp: string) => {
    const made = BuildbarnBrowser.make(at(name), {});
    return { ...made, metadata: { ...made.metadata, creationTimestamp } };
  };
  const set = setOf(browser("a", "2026-02-01T00:00:00Z"), browser("b", "2026-01-01T00:00:00Z"));
  expect(browserUrl(set)).toBe("http://b.builds.svc:7984");
});
