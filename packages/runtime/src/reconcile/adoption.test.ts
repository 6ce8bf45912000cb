import { expect, test } from "vitest";
import type { CacheReader } from "../cache/contract.ts";
import { ConfigMap } from "../kinds/index.ts";
import { Children, child } from "./children.ts";
import type { ReconcileClient } from "./client.ts";
import { WebApp } from "./model-run.ts";

const owner = { metadata: { namespace: "n", name: "web", uid: "u1" } };
const letGo = {
  metadata: { namespace: "n", name: "web", uid: "c1", resourceVersion: "7" },
  data: { x: "1" },
};

/** Applies a child that is on the server without an owner; the server says of the owner what `answer` says. */
async function adopt(answer: object): Promise<number> {
  let applied = 0;
  const client = {
    live: { get: () => Promise.resolve(answer) },
    apply: () => {
      applied++;
      return Promise.resolve(letGo);
    },
  } as unknown as ReconcileClient;
  const cache = { get: () => letGo } as unknown as CacheReader;
  const owns = [{ kind: ConfigMap, metadataOnly: false }];
  const children = new Children({
    ownerKind: WebApp,
    owner,
    owns,
    client,
    cache,
    memory: new Map(),
    fieldManager: "m",
  });
  await children.apply(child(ConfigMap, { metadata: { name: "web" } }));
  return applied;
}

test("a child without an owner is adopted", async () => {
  expect(await adopt(owner)).toBe(1);
});

test("a child that its owner's deletion let go is not taken back, though the cache has not heard of the deletion", async () => {
  expect(await adopt({ metadata: { ...owner.metadata, deletionTimestamp: "2026-01-01T00:00:00Z" } })).toBe(0);
});

test("a child is not taken back for an owner of the same name that came later", async () => {
  expect(await adopt({ metadata: { ...owner.metadata, uid: "u2" } })).toBe(0);
});
