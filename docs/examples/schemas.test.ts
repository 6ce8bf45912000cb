import { readFile } from "node:fs/promises";
import { defineResource } from "@windlass/runtime";
import * as schemas from "@windlass/runtime/schemas";
import { startCluster, type TestCluster } from "@windlass/testing";
import { afterAll, beforeAll, expect, test } from "vitest";
import { z } from "zod";
import { bounded, Fleet, overrides, target } from "./schemas.ts";

const Parts = defineResource({
  group: "example.com",
  version: "v1",
  kind: "Parts",
  plural: "parts",
  spec: z.object({ overrides, target, bounded }),
});
let cluster: TestCluster;
let namespace: string;

beforeAll(async () => {
  cluster = await startCluster();
  await cluster.install(Fleet, Parts);
  namespace = await cluster.createNamespace();
}, 60_000);
afterAll(() => cluster.close(), 60_000);

test("a built-in type is a field like any other", async () => {
  const { spec } = await cluster.client.create(Fleet, {
    metadata: { namespace, name: "web" },
    spec: {
      template: { spec: { containers: [{ name: "web", image: "web:1" }] } },
      hosts: [{ ip: "10.0.0.1", hostnames: ["db"] }],
    },
  });
  expect(spec.resources).toEqual({ requests: { cpu: "100m" } });
});

test("a part of a built-in type can have further fields and rules", async () => {
  const parts = (name: string, variable: string) => ({
    metadata: { namespace, name },
    spec: {
      overrides: { image: "web:2" },
      target: { kind: "Fleet", name: "web" },
      bounded: { containers: [{ name: "web", env: [{ name: variable }] }] },
    },
  });
  const { spec } = await cluster.client.create(Parts, parts("good", "HOST"));
  expect(spec.overrides).toEqual({ image: "web:2", tier: "silver" });
  await expect(cluster.client.create(Parts, parts("bad", "PORT"))).rejects.toThrow(
    "spec.bounded: Invalid value: PORT is reserved",
  );
});

test("the guide lists every function", async () => {
  const guide = await readFile(new URL("../guides/schemas.md", import.meta.url), "utf8");
  expect(Object.keys(schemas).filter((name) => !guide.includes(`\`${name}\``))).toEqual([]);
});
