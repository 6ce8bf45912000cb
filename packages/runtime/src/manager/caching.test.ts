import { expect, test } from "vitest";
import { controller } from "../controller/controller.ts";
import { settings } from "../controller/settings.ts";
import { ConfigMap, Deployment } from "../kinds/index.ts";
import { cachedKinds } from "./caching.ts";

test("a kind is cached in the version that is watched, and in full", () => {
  const owns = [{ kind: ConfigMap, metadataOnly: true }];
  const isCached = cachedKinds([controller(Deployment, { owns, reconcile: () => undefined })[settings]]);
  expect(isCached(Deployment)).toBe(true);
  expect(isCached({ ...Deployment, version: "v1beta1" })).toBe(false);
  expect(isCached(ConfigMap)).toBe(false);
});
