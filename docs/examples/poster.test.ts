import { manager, type ObjectKey } from "@windlass/runtime";
import { Event } from "@windlass/runtime/kinds";
import { startCluster, type TestCluster, waitForCondition, waitForDeletion } from "@windlass/testing";
import { afterAll, beforeAll, expect, test } from "vitest";
import { Poster, type PrintShop, poster } from "./poster.ts";

/** A shop that delivers when it is told to. */
class Shop implements PrintShop {
  readonly orders = new Map<string, number>();
  #listener: (order: ObjectKey) => void = () => undefined;

  async print({ name }: ObjectKey): Promise<number> {
    const delivered = this.orders.get(name) ?? 0;
    this.orders.set(name, delivered);
    return delivered;
  }

  async cancel({ name }: ObjectKey): Promise<void> {
    this.orders.delete(name);
  }

  onDelivery(listener: (order: ObjectKey) => void): () => void {
    this.#listener = listener;
    return () => undefined;
  }

  deliver(order: ObjectKey, copies: number): void {
    this.orders.set(order.name, copies);
    this.#listener(order);
  }
}

const shop = new Shop();
let cluster: TestCluster;
let namespace: string;

beforeAll(async () => {
  cluster = await startCluster();
  await cluster.install(Poster);
  namespace = await cluster.createNamespace();
  await cluster.run("poster", (options) => manager(options).add(poster(shop)));
}, 60_000);
afterAll(() => cluster.close(), 60_000);

test("a poster is ordered, and ready when the shop says that it was delivered", async () => {
  const key = { namespace, name: "sale" };
  await cluster.client.create(Poster, { metadata: key, spec: { text: "Sale!", copies: 2 } });
  await waitForCondition(cluster.client, Poster, key, "Ready", "False");
  shop.deliver(key, 2);
  await waitForCondition(cluster.client, Poster, key, "Ready");
  const { metadata, status } = await cluster.client.get(Poster, key);
  expect([metadata.finalizers, status?.delivered]).toEqual([["example.com/poster"], 2]);
  const { items } = await cluster.client.list(Event, { namespace });
  expect(items.map(({ reason, message }) => `${reason}: ${message}`)).toEqual([
    "Delivered: 2 copies arrived",
  ]);
});

test("what no second try can cure is said once, and not tried again", async () => {
  const key = { namespace, name: "poem" };
  await cluster.client.create(Poster, { metadata: key, spec: { text: "two\nlines" } });
  await waitForCondition(cluster.client, Poster, key, "Ready", "False");
  const { status } = await cluster.client.get(Poster, key);
  expect(status?.conditions).toMatchObject([{ reason: "TextInvalid", message: "a poster has one line" }]);
});

test("a poster that goes takes its order back first", async () => {
  const key = { namespace, name: "sale" };
  await cluster.client.delete(Poster, key);
  await waitForDeletion(cluster.client, Poster, key);
  expect(shop.orders.has("sale")).toBe(false);
});
