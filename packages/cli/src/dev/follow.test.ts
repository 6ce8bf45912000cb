import { type AnyKind, ApiError, Client } from "@windlass/client";
import { ControlPlane } from "@windlass/control-plane";
import { ConfigMap, Deployment, Pod, ReplicaSet } from "@windlass/runtime/kinds";
import fc from "fast-check";
import { expect, test } from "vitest";
import { type Change, Descendants, follow } from "./follow.ts";

test("a server that cannot answer yet is asked again", async () => {
  await using plane = await ControlPlane.start();
  await using client = new Client({ transport: plane.connect() });
  const stop = new AbortController();
  const message = "storage is (re)initializing";
  using fault = plane.faults.add({ kinds: ["ConfigMap"], times: 1, error: { code: 429, message } });
  const seen = Promise.withResolvers<string>();
  const followed = follow(client, ConfigMap, stop.signal, ({ object }) => seen.resolve(object.metadata.name));
  await expect.poll(() => fault.hits).toBe(1);
  await client.create(ConfigMap, { metadata: { namespace: "kube-public", name: "a" } });
  expect(await seen.promise).toMatch(/./);
  stop.abort();
  await followed;
});

test("a right that is missing ends it", async () => {
  await using plane = await ControlPlane.start();
  await using client = new Client({ transport: plane.connect() });
  using _fault = plane.faults.add({ kinds: ["ConfigMap"], error: { code: 403 } });
  const followed = follow(client, ConfigMap, new AbortController().signal, () => undefined);
  await expect(followed).rejects.toBeInstanceOf(ApiError);
});

const owned = (name: string, owner?: { readonly kind: AnyKind; readonly name: string }): Change => ({
  object: {
    metadata: {
      namespace: "default",
      name,
      uid: `uid of ${name}`,
      ...(owner === undefined
        ? {}
        : {
            ownerReferences: [
              {
                apiVersion: `${owner.kind.group}/v1`,
                kind: owner.kind.kind,
                name: owner.name,
                uid: `uid of ${owner.name}`,
                controller: true,
              },
            ],
          }),
    },
  },
  words: "is there",
});
const Shop: AnyKind = { group: "acme.io", version: "v1", kind: "Shop", plural: "shops", scope: "Namespaced" };
const corner = [Shop, owned("corner")] as const;
const family: readonly (readonly [AnyKind, Change] | "begin")[] = [
  "begin",
  corner,
  [Deployment, owned("web", { kind: Shop, name: "corner" })],
  [ReplicaSet, owned("web-1", { kind: Deployment, name: "web" })],
  [Pod, owned("web-1-a", { kind: ReplicaSet, name: "web-1" })],
  [Pod, owned("lonely")],
  [Deployment, owned("other")],
  [ReplicaSet, owned("other-1", { kind: Deployment, name: "other" })],
];

test("what was made for an object is shown, in whatever order it is seen, and nothing else", () => {
  fc.assert(
    fc.property(fc.shuffledSubarray([...family], { minLength: family.length }), (order) => {
      // Its own kind is followed from then on.
      fc.pre(order.indexOf("begin") < order.indexOf(corner));
      const descendants = new Descendants();
      const names = order.flatMap((one) =>
        (one === "begin" ? descendants.begin(Shop) : descendants.see(...one)).map(({ name }) => name),
      );
      expect(names.toSorted()).toEqual(["corner", "web", "web-1-a"]);
    }),
  );
});

test("what has gone meanwhile is not shown when its owner comes", () => {
  const descendants = new Descendants();
  const pod = owned("web-1-a", { kind: ReplicaSet, name: "web-1" });
  descendants.see(Pod, pod);
  descendants.see(Pod, { ...pod, words: "is gone", isGone: true });
  expect(descendants.begin(ReplicaSet)).toEqual([]);
});
