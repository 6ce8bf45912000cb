import { isNotFound } from "@windlass/client";
import { systemClock } from "@windlass/clock";
import { silentLogger } from "@windlass/runtime";
import { ConfigMap } from "@windlass/runtime/kinds";
import { startCluster, type TestCluster } from "@windlass/testing";
import { afterAll, beforeAll, expect, test } from "vitest";
import { apiTrustName } from "../names.ts";
import { PublishedTrust } from "./published-trust.ts";

let cluster: TestCluster;
beforeAll(async () => {
  cluster = await startCluster();
});
afterAll(() => cluster.close());

const options = (namespace: string) => ({
  client: cluster.client,
  namespace,
  clock: systemClock,
  log: silentLogger,
  signal: new AbortController().signal,
});
const published = async (namespace: string) =>
  (await cluster.client.get(ConfigMap, { namespace, name: apiTrustName })).data?.["ca.crt"];

test("what clients are to trust is published, and follows when it changes", async () => {
  const namespace = await cluster.createNamespace();
  const trust = new PublishedTrust(options(namespace));
  await expect(published(namespace)).rejects.toSatisfy(isNotFound);
  trust.publish("first");
  await trust.settled();
  expect(await published(namespace)).toBe("first");
  trust.publish("second");
  trust.publish("third");
  await trust.settled();
  expect(await published(namespace)).toBe("third");
});

test("several replicas publish the same at once", async () => {
  const namespace = await cluster.createNamespace();
  const replicas = [1, 2, 3].map(() => new PublishedTrust(options(namespace)));
  for (const replica of replicas) replica.publish("the same");
  await Promise.all(replicas.map((replica) => replica.settled()));
  expect(await published(namespace)).toBe("the same");
});
