import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { jsonPatch, type PatchOperation } from "./json-patch.ts";

const key = fc.oneof(
  fc.constantFrom("a", "b", "c", "a/b", "m~n", "~1", "", "__proto__", "constructor", "0", "-"),
  fc.string({ maxLength: 3 }),
);
const { json } = fc.letrec<{ json: unknown }>((tie) => ({
  json: fc.oneof(
    { depthSize: "small", withCrossShrink: true },
    fc.constantFrom<unknown>(null, true, false, 0, 1, "x", "y"),
    fc.array(tie("json"), { maxLength: 5 }),
    fc
      .array(fc.tuple(key, tie("json")), { maxLength: 4 })
      // By way of text, because that is how "__proto__" becomes a key of its own.
      .map((entries): unknown => JSON.parse(textOf(entries))),
  ),
}));

function textOf(entries: readonly (readonly [string, unknown])[]): string {
  const unique = new Map(entries);
  return `{${[...unique].map(([name, value]) => `${JSON.stringify(name)}:${JSON.stringify(value)}`).join()}}`;
}

describe("a patch", () => {
  test("makes the one of the other, whatever they are", () => {
    fc.assert(
      fc.property(json, json, (before, after) => {
        const text = JSON.stringify(before);
        const patched = applied(JSON.parse(text), jsonPatch(before, after));
        expect(JSON.stringify(sorted(patched))).toBe(JSON.stringify(sorted(after)));
        expect(JSON.stringify(before)).toBe(text);
      }),
    );
  });

  test("of a thing and itself is empty", () => {
    fc.assert(
      fc.property(json, (value) => {
        expect(jsonPatch(value, JSON.parse(JSON.stringify(value)))).toEqual([]);
      }),
    );
  });

  test("touches only what differs", () => {
    expect(
      jsonPatch(
        { metadata: { name: "web" }, spec: { image: "nginx", ports: [{ port: 80 }], old: 1 } },
        {
          metadata: { name: "web", labels: { "app/name": "web" } },
          spec: { image: "nginx:1", ports: [{ port: 80 }] },
        },
      ),
    ).toEqual([
      { op: "add", path: "/metadata/labels", value: { "app/name": "web" } },
      { op: "replace", path: "/spec/image", value: "nginx:1" },
      { op: "remove", path: "/spec/old" },
    ]);
  });

  test("escapes what a path gives a meaning to", () => {
    expect(jsonPatch({ "a/b": 1, "m~n": 1 }, { "a/b": 2, "m~n": 2 })).toEqual([
      { op: "replace", path: "/a~1b", value: 2 },
      { op: "replace", path: "/m~0n", value: 2 },
    ]);
  });

  test("puts an item into a list, or takes one out, without touching its neighbours", () => {
    const items = [{ name: "a" }, { name: "b" }, { name: "c" }];
    const [a, b, c] = items;
    expect(jsonPatch(items, [a, { name: "new" }, b, c])).toEqual([
      { op: "add", path: "/1", value: { name: "new" } },
    ]);
    expect(jsonPatch(items, [a, c])).toEqual([{ op: "remove", path: "/1" }]);
    expect(jsonPatch(items, [...items, { name: "d" }])).toEqual([
      { op: "add", path: "/3", value: { name: "d" } },
    ]);
    expect(jsonPatch(items, [a, { name: "b", more: 1 }, c])).toEqual([
      { op: "add", path: "/1/more", value: 1 },
    ]);
  });
});

/** RFC 6902 as a server does it, for these three operations. */
function applied(document: unknown, operations: readonly PatchOperation[]): unknown {
  let root = document;
  for (const operation of operations) {
    const path = operation.path
      .split("/")
      .slice(1)
      .map((part) => part.replaceAll("~1", "/").replaceAll("~0", "~"));
    const last = path.pop();
    if (last === undefined) {
      root = "value" in operation ? operation.value : undefined;
      continue;
    }
    let holder = root;
    for (const part of path) holder = (holder as Record<string, unknown>)[part];
    if (Array.isArray(holder)) {
      const index = Number(last);
      expect(index).toBeLessThanOrEqual(operation.op === "add" ? holder.length : holder.length - 1);
      if (operation.op === "add") holder.splice(index, 0, operation.value);
      else if (operation.op === "remove") holder.splice(index, 1);
      else if (operation.op === "replace") holder[index] = operation.value;
      continue;
    }
    const object = holder as Record<string, unknown>;
    if (operation.op !== "add") expect(Object.hasOwn(object, last)).toBe(true);
    if (operation.op === "remove") delete object[last];
    else
      Object.defineProperty(object, last, {
        value: operation.value,
        enumerable: true,
        configurable: true,
        writable: true,
      });
  }
  return root;
}

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== "object" || value === null) return value;
  return Object.entries(value)
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, inner]) => [name, sorted(inner)]);
}
