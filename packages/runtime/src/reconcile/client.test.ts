import type { AnyKind } from "@windlass/client";
import { ConfigMap } from "@windlass/kinds/builtin";
import { expect, test } from "vitest";
import { CacheMissError } from "../cache/index.ts";
import { cachedClient } from "./client.ts";
import { ModelRun } from "./model-run.fixture.ts";

const key = { namespace: "elsewhere", name: "settings" };

/** A client whose cache holds the kind, but not in the namespace that is written to. */
function client() {
  const { cluster } = new ModelRun();
  const cache = {
    ...cluster.cache,
    get(kind: AnyKind): never {
      throw new CacheMissError(kind, "the cache holds other namespaces");
    },
  };
  const made = cachedClient({ client: cluster.client, cache, isCached: () => true, guard: () => undefined });
  return { cluster, made };
}

test("what the cache does not hold can still be written", async () => {
  const { cluster, made } = client();
  await made.create(ConfigMap, { metadata: key, data: { colour: "red" } });
  await made.patch(ConfigMap, key, { type: "merge", patch: { data: { colour: "blue" } } });
  expect(cluster.get(ConfigMap, key)?.data).toEqual({ colour: "blue" });
  await made.delete(ConfigMap, key);
  expect(cluster.get(ConfigMap, key)).toBeUndefined();
});

test("what the cache does not hold cannot be read from it, and that is said", async () => {
  await expect(client().made.get(ConfigMap, key)).rejects.toBeInstanceOf(CacheMissError);
});
