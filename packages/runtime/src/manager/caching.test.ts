import { expect, test } from "vitest";
import { controller, watch } from "../controller/controller.ts";
import { ConfigMap, Deployment, Secret } from "../kinds/index.ts";
import { cachedKinds } from "./caching.ts";

test("a kind is cached in the version that is watched, and in full", () => {
  const isCached = cachedKinds([
    controller(Deployment, { owns: [{ kind: ConfigMap, metadataOnly: true }], reconcile: () => undefined }),
  ]);
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
  });
  const isCached = cachedKinds([part]);
  expect([Deployment, Secret, ConfigMap].map(isCached)).toEqual([false, false, true]);
  expect(cachedKinds([part, controller(Deployment, { name: "all", reconcile })])(Deployment)).toBe(true);
});
