import fc from "fast-check";
import { expect, test } from "vitest";
import { CompactedError, type Journal, type LogRecord, Store } from "./store.ts";

const object = (name: string, value = 0) => ({
  apiVersion: "v1",
  kind: "Thing",
  metadata: { name, uid: name },
  value,
});

test("every write gets a higher revision than the last, whatever the bucket", () => {
  const store = new Store();
  const revisions = [
    store.put("a", "x", object("x")).revision,
    store.put("b", "x", object("x")).revision,
    store.delete("a", "x")?.revision ?? 0,
    store.put("b", "x", object("x", 1)).revision,
  ];
  expect(revisions).toEqual(revisions.toSorted((a, b) => a - b));
  expect(new Set(revisions).size).toBe(4);
  expect(store.revision).toBe(revisions[3]);
});

test("a listener is called for each write within it, and never after it stopped", () => {
  const store = new Store();
  const heard: string[] = [];
  const stop = store.subscribe("a", ({ type, key }) => heard.push(`${type} ${key}`));
  store.put("a", "x", object("x"));
  expect(heard).toEqual(["ADDED x"]);
  store.put("b", "y", object("y"));
  store.put("a", "x", object("x", 1));
  stop();
  store.delete("a", "x");
  expect(heard).toEqual(["ADDED x", "MODIFIED x"]);
});

test("what is compacted can neither be listed nor watched from", () => {
  const store = new Store();
  const first = store.put("a", "x", object("x")).revision;
  store.put("a", "x", object("x", 1));
  store.compact();
  expect(() => store.since("a", first)).toThrow(CompactedError);
  expect(() => store.list("a", { at: first })).toThrow(CompactedError);
  expect(store.list("a").entries).toHaveLength(1);
  expect(store.since("a", store.revision)).toEqual([]);
});

test("history is bounded, and the newest of it is kept", () => {
  const store = new Store({ historyLimit: 100 });
  for (let i = 0; i < 1_000; i++) store.put(i % 2 ? "a" : "b", "x", object("x", i));
  expect(store.compactedRevision).toBeGreaterThan(0);
  const kept = store.revision - store.compactedRevision;
  expect(kept).toBeGreaterThanOrEqual(90);
  expect(kept).toBeLessThanOrEqual(100);
  expect(
    store.since("a", store.compactedRevision).length + store.since("b", store.compactedRevision).length,
  ).toBe(kept);
});

test("history is bounded by the size of its objects too, and a single large one is no reason to keep less of it", () => {
  const store = new Store({ historyBytes: 1_000_000 });
  const large = (value: number) => ({ ...object("x", value), text: "x".repeat(100_000) });
  for (let i = 0; i < 1_000; i++) store.put("a", "x", large(i));
  const kept = store.revision - store.compactedRevision;
  expect(kept).toBeGreaterThanOrEqual(8);
  expect(kept).toBeLessThanOrEqual(10);
  store.put("a", "x", { ...object("x"), text: "x".repeat(1_400_000) });
  expect(store.compactedRevision).toBe(store.revision);
  expect(store.list("a").entries).toHaveLength(1);
  for (let i = 0; i < 100; i++) store.put("a", "x", object("x", i));
  expect(store.revision - store.compactedRevision).toBe(100);
});

test("a store begins with what its journal kept, and goes on from its revision", () => {
  const kept = { ...object("x"), metadata: { name: "x", uid: "x", resourceVersion: "300" } };
  const journal: Journal = {
    load: () => ({ revision: 500, objects: [{ bucket: "a", key: "x", revision: 300, object: kept }] }),
    append: () => undefined,
  };
  const store = new Store({ journal });
  expect(store.get("a", "x")?.revision).toBe(300);
  expect(() => store.since("a", 499)).toThrow(CompactedError);
  expect(store.put("a", "x", object("x", 1)).revision).toBe(501);
});

type Command = { readonly op: "put" | "delete" | "compact"; readonly bucket: string; readonly key: string };

const commands = fc.array(
  fc.record<Command>({
    op: fc.constantFrom("put", "put", "put", "delete", "compact"),
    bucket: fc.constantFrom("a", "b"),
    key: fc.constantFrom("n/1", "n/2", "m/1", "m/2", "n/10"),
  }),
  { maxLength: 60, size: "max" },
);

test("any past state within the history can be listed exactly, and replayed from any point before the present", () => {
  fc.assert(
    fc.property(commands, (steps) => {
      const store = new Store();
      const past = new Map<number, Map<string, number>>();
      const now = new Map<string, number>();
      const log: LogRecord[] = [];
      store.subscribe("a", (record) => log.push(record));
      past.set(store.revision, new Map());
      for (const { op, bucket, key } of steps) {
        if (op === "compact") store.compact(store.revision - 5);
        else if (op === "put") {
          const { revision } = store.put(bucket, key, object(key));
          if (bucket === "a") now.set(key, revision);
        } else {
          store.delete(bucket, key);
          if (bucket === "a") now.delete(key);
        }
        past.set(store.revision, new Map(now));
      }
      for (const [revision, state] of past) {
        if (revision < store.compactedRevision) continue;
        const { entries } = store.list("a", { at: revision });
        expect(entries.map((entry) => [entry.key, entry.revision])).toEqual(
          [...state].toSorted(([a], [b]) => (a < b ? -1 : 1)),
        );
        expect(store.since("a", revision)).toEqual(log.filter((record) => record.revision > revision));
      }
    }),
  );
});

test("a write that its journal refuses has not happened, whatever came before and comes after", () => {
  fc.assert(
    fc.property(commands, fc.infiniteStream(fc.boolean()), (steps, refuses) => {
      const kept: LogRecord[] = [];
      const append = (record: LogRecord) => {
        if (refuses.next().value) throw new Error("full");
        kept.push(record);
      };
      const store = new Store({ journal: { load: () => ({ revision: 1, objects: [] }), append } });
      // The same writes, without those that were refused.
      const model = new Store();
      const heard: LogRecord[] = [];
      for (const bucket of ["a", "b"]) store.subscribe(bucket, (record) => heard.push(record));
      for (const { op, bucket, key } of steps) {
        if (op === "compact") continue;
        const write = (to: Store) =>
          op === "put" ? to.put(bucket, key, object(key)) : to.delete(bucket, key);
        try {
          expect(write(store)).toEqual(write(model));
        } catch (error) {
          expect(error).toEqual(new Error("full"));
        }
        expect(store.revision).toBe(model.revision);
        for (const name of ["a", "b"]) {
          expect(store.list(name)).toEqual(model.list(name));
          expect(store.since(name, 1)).toEqual(model.since(name, 1));
        }
      }
      expect(heard).toEqual(kept);
    }),
  );
});

test("pages put together are the list", () => {
  fc.assert(
    fc.property(
      fc.uniqueArray(fc.integer({ min: 0, max: 200 }), { maxLength: 50, size: "max" }),
      fc.integer({ min: 1, max: 10 }),
      (ids, limit) => {
        const store = new Store();
        for (const id of ids) store.put("a", `${id % 2 ? "odd" : "even"}/${id}`, object(String(id)));
        for (const prefix of ["", "odd/", "even/"]) {
          const whole = store.list("a", { prefix }).entries;
          const paged: (typeof whole)[number][] = [];
          let after: string | undefined;
          do {
            const page = store.list("a", { prefix, limit, ...(after === undefined ? {} : { after }) });
            paged.push(...page.entries);
            expect(page.remaining).toBe(whole.length - paged.length);
            after = page.next;
          } while (after !== undefined);
          expect(paged).toEqual(whole);
        }
      },
    ),
  );
});

test("lists are in key order, however many keys came and went since the last one", () => {
  const key = fc.integer({ min: 0, max: 200 }).map(String);
  const step = fc.oneof(
    fc.record({ do: fc.constant("put" as const), keys: fc.array(key, { maxLength: 150, size: "max" }) }),
    fc.record({ do: fc.constant("delete" as const), keys: fc.array(key, { maxLength: 150, size: "max" }) }),
  );
  fc.assert(
    fc.property(fc.array(step, { maxLength: 12 }), (steps) => {
      const store = new Store();
      const expected = new Set<string>();
      for (const { do: action, keys } of steps) {
        for (const name of keys) {
          if (action === "put") store.put("a", name, object(name));
          else store.delete("a", name);
          if (action === "put") expected.add(name);
          else expected.delete(name);
        }
        expect(store.list("a").entries.map((entry) => entry.key)).toEqual([...expected].sort());
      }
    }),
  );
});
