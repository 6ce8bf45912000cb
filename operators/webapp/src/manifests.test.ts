import { expect, test } from "vitest";
import { stale } from "../scripts/manifests.ts";

test("the kustomization and the chart are what the code says", async () => {
  expect(await stale()).toEqual([]);
});
