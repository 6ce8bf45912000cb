import { manager } from "@windlass/runtime";
import { Deployment } from "@windlass/runtime/kinds";
import { startCluster, waitFor } from "@windlass/testing";
import { expect, test } from "vitest";
import { Api, api } from "./autoscaled.ts";

test("the replicas stay as they are when an autoscaler takes them over, and come back", async () => {
  await using cluster = await startCluster();
  await cluster.install(Api);
  const namespace = await cluster.createNamespace();
  await cluster.run("api", (options) => manager(options).add(api));
  const { client } = cluster;
  const key = { namespace, name: "orders" };
  const change = async (spec: object, image: string) => {
    await client.patch(Api, key, { type: "merge", patch: { spec: { ...spec, image } } });
    const isThere = (live: { readonly spec: { readonly template: { readonly spec?: unknown } } }) =>
      JSON.stringify(live.spec.template.spec).includes(image);
    return await waitFor(client, Deployment, key, (live) => (isThere(live) ? live.spec.replicas : undefined));
  };
  await client.create(Api, { metadata: key, spec: { image: "api:1", replicas: 4 } });
  await waitFor(client, Deployment, key, ({ spec }) => spec.replicas === 4);
  expect(await change({ autoscaled: true }, "api:2")).toBe(4);
  const patch = { spec: { replicas: 7 } };
  await client.subresource(Deployment, key, "scale").patch({ type: "merge", patch });
  expect(await change({}, "api:3")).toBe(7);
  expect(await change({ autoscaled: false }, "api:4")).toBe(4);
}, 60_000);
