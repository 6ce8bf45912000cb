import { describe, expect, test } from "vitest";
import type { FieldsV1 } from "../cache/contract.ts";
import { type Deviations, deviations, isFinal, notCached, sameDeviations } from "./compare.ts";
import { canonical } from "./json.ts";
import type { SchemaView } from "./schema-facts.ts";

const known = (
  type: ReturnType<SchemaView["typeOfNotOwned"]>,
  mapsInParts: readonly string[] = [],
): SchemaView => ({
  typeOfNotOwned: () => type,
  ownedEmpty: () => undefined,
  hasEntriesInParts: (map) => mapsInParts.includes(map),
  ownedInParts: () => undefined,
});

/** Each deviation as `path kind live`. */
function found(
  wanted: Record<string, unknown>,
  fields: FieldsV1,
  live: unknown,
  schema: SchemaView = known("unknown"),
): readonly string[] {
  const isSame = (a: unknown, b: unknown) => canonical(a) === canonical(b);
  const all = deviations({ wanted, fields, live, isSame, schema });
  return [...all].map(([path, { in: kind, live: there }]) => `${path} ${kind} ${there}`.trim());
}

const leaf: FieldsV1 = {};
const item = (fields: FieldsV1): FieldsV1 => ({ ".": {}, ...fields });

describe("an apply changes nothing", () => {
  test("when every wanted field is owned and as wanted, whatever else is there", () => {
    const fields = { "f:spec": { "f:replicas": leaf, "f:labels": { "f:a": leaf } } };
    const wanted = { spec: { replicas: 1, labels: { a: "x" } } };
    expect(
      found(wanted, fields, { spec: { replicas: 1, labels: { a: "x", b: "y" }, paused: true } }),
    ).toEqual([]);
  });

  test("when items that others own stand between ours", () => {
    const fields = {
      "f:items": { 'k:{"name":"a"}': item({ "f:name": leaf }), 'k:{"name":"b"}': item({ "f:name": leaf }) },
    };
    const wanted = { items: [{ name: "b" }, { name: "a" }] };
    expect(found(wanted, fields, { items: [{ name: "b" }, { name: "theirs" }, { name: "a" }] })).toEqual([]);
  });

  test("when a key that was left out has the default that the server filled in", () => {
    const fields = {
      "f:ports": {
        'k:{"port":53,"protocol":"UDP"}': item({ "f:port": leaf, "f:protocol": leaf }),
        'k:{"port":53,"protocol":"TCP"}': item({ "f:port": leaf }),
      },
    };
    const wanted = { ports: [{ port: 53, protocol: "UDP" }, { port: 53 }] };
    const live = {
      ports: [
        { port: 53, protocol: "UDP" },
        { port: 53, protocol: "TCP" },
      ],
    };
    expect(found(wanted, fields, live)).toEqual([]);
  });
});

describe("an apply changes", () => {
  test("a field that another took, even if its value is as wanted", () => {
    expect(found({ spec: { replicas: 1 } }, { "f:spec": {} }, { spec: { replicas: 1 } })).toEqual([]);
    expect(
      found({ spec: { replicas: 1, x: 1 } }, { "f:spec": { "f:x": leaf } }, { spec: { replicas: 1, x: 1 } }),
    ).toEqual(["spec.replicas owner 1"]);
  });

  test("a field that is ours and no longer wanted", () => {
    const fields = { "f:spec": { "f:replicas": leaf, "f:paused": leaf } };
    expect(found({ spec: { replicas: 1 } }, fields, { spec: { replicas: 1, paused: true } })).toEqual([
      "spec.paused dropped true",
    ]);
  });

  test("what is replaced as a whole, if another client added to it", () => {
    expect(
      found({ selector: { app: "a" } }, { "f:selector": leaf }, { selector: { app: "a", x: "y" } }),
    ).toEqual(['selector value {"app":"a","x":"y"}']);
  });

  test("the order of items that are owned one by one, by keys or by value", () => {
    const keyed = { "f:items": { 'k:{"name":"a"}': leaf, 'k:{"name":"b"}': leaf } };
    const live = { items: [{ name: "b" }, { name: "a" }] };
    expect(found({ items: [{ name: "a" }, { name: "b" }] }, keyed, live)).toEqual([
      'items[] order ["\\"b\\"","\\"a\\""]',
    ]);
    expect(
      found({ set: ["a", "b"] }, { "f:set": { 'v:"a"': leaf, 'v:"b"': leaf } }, { set: ["b", "a"] }),
    ).toEqual(['set[] order ["\\"b\\"","\\"a\\""]']);
  });

  test("an item of ours that is no longer wanted, and one that is not ours yet", () => {
    const fields = { "f:conditions": { 'k:{"type":"Old"}': leaf, 'k:{"type":"Ready"}': leaf } };
    const live = { conditions: [{ type: "Old" }, { type: "Ready" }] };
    expect(found({ conditions: [{ type: "Ready" }, { type: "New" }] }, fields, live)).toEqual([
      'conditions["New"] owner',
      'conditions["Old"] dropped',
    ]);
  });

  test("a structure where a plain value is wanted now", () => {
    expect(found({ a: 1 }, { "f:a": { "f:b": leaf } }, { a: { b: 1 } })).toEqual(['a value {"b":1}']);
  });

  test("fields whose names are those of a prototype", () => {
    const wanted = JSON.parse('{"__proto__": {"polluted": true}, "constructor": {"a": 1}}') as Record<
      string,
      unknown
    >;
    expect(found(wanted, {}, {})).toEqual(["__proto__ owner", "constructor owner"]);
  });
});

describe("a list that is wanted empty and not owned", () => {
  test("is another's if it is owned as a whole", () => {
    expect(found({ args: [] }, {}, { args: [] }, known("atomic"))).toEqual(["args owner []"]);
  });

  test("has nothing to be owned if its items are owned one by one", () => {
    expect(found({ env: [] }, {}, { env: [{ name: "theirs" }] }, known("associative"))).toEqual([]);
    expect(found({ env: [] }, {}, {}, known("associative"))).toEqual(["env value"]);
  });

  test("is in doubt if it is not known which, unless it is empty", () => {
    expect(found({ env: [] }, {}, { env: [{ name: "x" }] })).toEqual(['env owner [{"name":"x"}]']);
    expect(found({ env: [] }, {}, { env: [] })).toEqual([]);
  });
});

test("an entry of a map of which no field is owned is another's, if the map's entries are owned field by field", () => {
  const fields = { "f:zones": { "f:a": leaf } };
  const live = { zones: { a: { size: 1 } } };
  expect(found({ zones: { a: { size: 1 } } }, fields, live)).toEqual([]);
  expect(found({ zones: { a: { size: 1 } } }, fields, live, known("unknown", ["zones"]))).toEqual([
    'zones.a owner {"size":1}',
  ]);
  expect(found({ zones: { a: {} } }, fields, { zones: { a: {} } }, known("unknown", ["zones"]))).toEqual([]);
});

test("what is not cached is compared by its owners alone", () => {
  const fields = { "f:spec": { "f:replicas": leaf } };
  expect(found({ spec: { replicas: 2 } }, fields, { spec: notCached })).toEqual([]);
  expect(found({ spec: { replicas: 2, paused: true } }, fields, { spec: notCached })).toEqual([
    "spec.paused owner",
  ]);
});

describe("deviations", () => {
  const one = (kind: "value" | "owner", live: string): Deviations => new Map([["x", { in: kind, live }]]);

  test("are the same only if paths, kinds and values are", () => {
    expect(sameDeviations(one("value", "1"), one("value", "1"))).toBe(true);
    expect(sameDeviations(one("value", "1"), one("value", "2"))).toBe(false);
    expect(sameDeviations(one("value", "1"), one("owner", "1"))).toBe(false);
    expect(sameDeviations(one("value", "1"), new Map())).toBe(false);
    expect(sameDeviations(new Map(), one("value", "1"))).toBe(false);
  });

  test("are final if the apply found them as it left them", () => {
    expect(isFinal(new Map(), one("value", "1"))).toBe(true);
    expect(isFinal(one("value", "1"), one("owner", "1"))).toBe(true);
    expect(isFinal(one("value", "1"), one("value", "2"))).toBe(false);
    expect(isFinal(one("value", ""), new Map())).toBe(false);
  });
});
