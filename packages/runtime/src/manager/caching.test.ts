import { ConfigMap, Deployment, Secret } from "@windlass/kinds/builtin";
import { expect, test } from "vitest";
import { controller } from "../controller/controller.ts";
import { settings } from "../controller/settings.ts";
import { watch } from "../controller/watch.ts";
import { cachedKinds } from "./caching.ts";

test("a kind is cached in the version that is watched, and in full", () => {
  const owns = [{ kind: ConfigMap, metadataOnly: true }];
  const isCached = cachedKinds([controller(Deployment, { owns, reconcile: () => undefined })[settings]]);
  expect(isCached(Deployment)).toBe(true);
  expect(isCached({ ...Deployment, version: "v1beta1" })).toBe(false);
  expect(isCached(ConfigMap)).toBe(false);
});

test("a kind of which a part is watched is not cached in full", () => {
  const scope = { labelSelector: "app=web" };
  const reconcile = () => undefined;
  const part = controller(Deployment, {
    scope,
    watches: [
      watch(Secret, () => undefined, { scope: { namespace: "a" } }),
      watch(ConfigMap, () => undefined),
    ],
    reconcile,
  })[settings];
  const all = controller(Deployment, { name: "all", reconcile })[settings];
  const isCached = cachedKinds([part]);
  expect([Deployment, Secret, ConfigMap].map(isCached)).toEqual([false, false, true]);
  expect(cachedKinds([part, all])(Deployment)).toBe(true);
});
