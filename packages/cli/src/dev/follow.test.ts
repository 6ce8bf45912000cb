import { ApiError, Client } from "@windlass/client";
import { ControlPlane } from "@windlass/control-plane";
import { ConfigMap } from "@windlass/runtime/kinds";
import { expect, test } from "vitest";
import { follow } from "./follow.ts";

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
