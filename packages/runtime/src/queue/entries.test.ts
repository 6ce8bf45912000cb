import { expect, test } from "vitest";
import { Entries, type NamespacedKey } from "./entries.ts";

const key = (name: string, namespace?: string): NamespacedKey =>
  namespace === undefined ? { name } : { namespace, name };

test("keys are the same when namespace and name are, and an absent namespace is the empty one", () => {
  const entries = new Entries<NamespacedKey>();
  const made = [key("x", "a"), key("x", "b"), key("x")].map((one) => entries.make(one, 0, 0));
  expect([key("x", "a"), key("x", "b"), key("x", "")].map((one) => entries.get(one))).toEqual(made);
  expect(entries.get(key("y", "a"))).toBeUndefined();
  expect([...entries]).toHaveLength(3);
});

test("an entry that is used again knows nothing of the key before", () => {
  const entries = new Entries<NamespacedKey>();
  const entry = entries.make(key("x", "a"), 7, 100);
  entry.failures = 3;
  entry.retryAt = 500;
  entry.again = { priority: 1, readyAt: 200 };
  entries.delete(entry);
  expect(entries.get(key("x", "a"))).toBeUndefined();
  expect(entries.make(key("y", "b"), 0, 300)).toMatchObject({
    key: key("y", "b"),
    namespace: "b",
    priority: 0,
    dueSince: 300,
    failures: 0,
    retryAt: undefined,
    again: undefined,
  });
});
