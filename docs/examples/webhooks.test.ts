import { manager } from "@windlass/runtime";
import { startCluster, type TestCluster } from "@windlass/testing";
import { afterAll, beforeAll, expect, test } from "vitest";
import { Greeting } from "./greeting.ts";
import { webhooks } from "./webhooks.ts";

let cluster: TestCluster;
let namespace: string;

beforeAll(async () => {
  cluster = await startCluster({ flavour: "embedded" });
  await cluster.install(Greeting);
  const server = webhooks(await cluster.webhooks("greeting-operator"));
  await cluster.run("greeting-operator", (options) => manager(options).add(server));
  namespace = await cluster.createNamespace();
}, 60_000);
afterAll(() => cluster.close(), 60_000);

test("a name is trimmed before it is stored", async () => {
  const metadata = { namespace, name: "ada" };
  const stored = await cluster.client.create(Greeting, { metadata, spec: { name: " Ada " } });
  expect(stored.spec.name).toBe("Ada");
});

test("a change of the name is refused, and the field is named", async () => {
  const key = { namespace, name: "bob" };
  await cluster.client.create(Greeting, { metadata: key, spec: { name: "Bob" } });
  const rename = cluster.client.patch(Greeting, key, { type: "merge", patch: { spec: { name: "Rob" } } });
  await expect(rename).rejects.toThrow(/spec\.name.*cannot change/);
});
