import { manager } from "@windlass/runtime";
import { startCluster } from "@windlass/testing";
import fc from "fast-check";
import { expect, test } from "vitest";
import { Bakery, BakeryV1Beta1, conversions } from "./bakery.ts";

test("a client of the old version changes a new object, and loses nothing of it", async () => {
  await using cluster = await startCluster({ flavour: "embedded" });
  const server = conversions(await cluster.webhooks("bakery-operator"));
  await cluster.install(Bakery.crd({ conversion: server.conversion() }));
  await cluster.run("bakery-operator", (options) => manager(options).add(server));
  const key = { namespace: await cluster.createNamespace(), name: "corner" };
  const { client } = cluster;
  await client.create(Bakery, { metadata: key, spec: { ovens: ["stone", "gas"] } });
  const old = await client.get(BakeryV1Beta1, key);
  expect(old.spec).toEqual({ oven: "stone", loaves: 10 });
  await client.update(BakeryV1Beta1, { ...old, spec: { ...old.spec, loaves: 20 } });
  expect((await client.get(Bakery, key)).spec).toEqual({ ovens: ["stone", "gas"], loaves: 20 });
}, 60_000);

test("to the old version and back, every bakery is what it was", () => {
  const ovens = fc.array(fc.stringMatching(/^[a-z]{1,8}$/), { minLength: 1, maxLength: 10 });
  fc.assert(
    fc.property(ovens, fc.nat(1_000), (some, loaves) => {
      const bakery = Bakery.make("corner", { ovens: some, loaves });
      const there = Bakery.convert(bakery, "v1beta1");
      expect(Bakery.convert(there, "v1")).toMatchObject({ spec: { ovens: some, loaves } });
    }),
  );
});
