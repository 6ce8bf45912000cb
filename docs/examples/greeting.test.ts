import { type AnyKind, Client, manager, silentLogger } from "@windlass/runtime";
import { ConfigMap } from "@windlass/runtime/kinds";
import {
  startCluster,
  type TestCluster,
  waitFor,
  waitForCondition,
  waitForDeletion,
} from "@windlass/testing";
import { afterAll, beforeAll, expect, test } from "vitest";
import { Greeting, greeting } from "./greeting.ts";

let cluster: TestCluster;
let namespace: string;
let running: Promise<unknown>;
const stop = new AbortController();

beforeAll(async () => {
  cluster = await startCluster();
  await cluster.install(Greeting);
  namespace = await cluster.createNamespace();
  running = manager({
    client: new Client({ transport: cluster.transport() }),
    namespaces: [namespace],
    health: false,
    metrics: false,
    log: silentLogger,
  })
    .add(greeting)
    .run({ signal: stop.signal });
}, 60_000);
afterAll(async () => {
  stop.abort();
  await running;
  await cluster.close();
}, 60_000);

test("a greeting is written, and written again when it is edited or changed", async () => {
  const key = { namespace, name: "ada" };
  await cluster.client.create(Greeting, { metadata: key, spec: { name: "Ada" } });
  await waitForCondition(cluster.client, Greeting, key, "Ready");
  expect((await cluster.client.get(ConfigMap, key)).data).toEqual({ text: "Hello, Ada!" });

  await cluster.client.patch(ConfigMap, key, { type: "merge", patch: { data: { text: "Go away!" } } });
  await waitFor(cluster.client, ConfigMap, key, ({ data }) => data?.text === "Hello, Ada!");

  await cluster.client.patch(Greeting, key, { type: "merge", patch: { spec: { language: "fr" } } });
  await waitFor(cluster.client, ConfigMap, key, ({ data }) => data?.text === "Bonjour, Ada!");
});

test("a language nobody speaks is refused, and the field is named", async () => {
  const strange = { metadata: { namespace, name: "x" }, spec: { name: "X", language: "tlh" } };
  await expect(cluster.client.create<AnyKind>(Greeting, strange)).rejects.toThrow(
    /spec\.language: Unsupported value: "tlh"/,
  );
});

test("when the greeting goes, so does what it made", async () => {
  if (!cluster.hasControllers) return;
  const key = { namespace, name: "ada" };
  await cluster.client.delete(Greeting, key);
  await waitForDeletion(cluster.client, ConfigMap, key);
});
