import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Json, JsonObject } from "../json.ts";
import type { Schema } from "../schema/schema.ts";
import { StatusError } from "../status.ts";
import { finishNow } from "../steps.ts";
import { applyStrategicMergePatch } from "./strategic-patch.ts";

const text: Schema = { type: "string" };
const env: Schema = {
  type: "array",
  items: { type: "object", properties: { name: text, value: text } },
  "x-kubernetes-patch-strategy": "merge",
  "x-kubernetes-patch-merge-key": "name",
};
const pod: Schema = {
  type: "object",
  properties: {
    containers: {
      type: "array",
      items: {
        type: "object",
        properties: { name: text, image: text, env, args: { type: "array", items: text } },
      },
      "x-kubernetes-patch-strategy": "merge",
      "x-kubernetes-patch-merge-key": "name",
    },
    volumes: {
      type: "array",
      items: {
        type: "object",
        properties: { name: text, emptyDir: { type: "object" }, secret: { type: "object" } },
      },
      "x-kubernetes-patch-strategy": "merge,retainKeys",
      "x-kubernetes-patch-merge-key": "name",
    },
    finalizers: { type: "array", items: text, "x-kubernetes-patch-strategy": "merge" },
    strategy: { type: "object", "x-kubernetes-patch-strategy": "retainKeys" },
    affinity: { type: "object" },
    tolerations: { type: "array", items: { type: "object" } },
    labels: { type: "object", additionalProperties: text },
    exact: { type: "object", "x-kubernetes-patch-strategy": "replace" },
  },
};

const live: JsonObject = {
  containers: [
    {
      name: "c1",
      image: "i1",
      args: ["1", "2"],
      env: [
        { name: "A", value: "1" },
        { name: "B", value: "2" },
      ],
    },
    { name: "c2", image: "i2" },
    { name: "c3", image: "i3" },
  ],
  volumes: [{ name: "v1", emptyDir: {} }],
  finalizers: ["a", "b", "c"],
  labels: { l: "1" },
};

const patch = (change: JsonObject) => finishNow(applyStrategicMergePatch(live, change, pod));
const names = (value: Json | undefined) => (value as JsonObject[]).map((item) => item.name);

describe("lists with a merge key", () => {
  test("an item is merged with the one of its key, new items go first, and the patch's order wins", () => {
    const { containers } = patch({
      containers: [{ name: "c3", image: "x" }, { name: "n", image: "n" }, { name: "c1" }],
    });
    expect(names(containers)).toEqual(["c2", "c3", "n", "c1"]);
    expect((containers as JsonObject[])[3]).toEqual((live.containers as JsonObject[])[0]);
  });

  test("$patch: delete takes out one item, $patch: replace all of them", () => {
    expect(names(patch({ containers: [{ $patch: "delete", name: "c2" }] }).containers)).toEqual(["c1", "c3"]);
    expect(names(patch({ containers: [{ $patch: "replace" }, { name: "n" }] }).containers)).toEqual(["n"]);
  });

  test("$setElementOrder orders what it names, and the rest stays as near as it can", () => {
    const order = [{ name: "c3" }, { name: "n" }, { name: "c1" }];
    const change = { "$setElementOrder/containers": order, containers: [{ name: "n", image: "n" }] };
    expect(names(patch(change).containers)).toEqual(["c2", "c3", "n", "c1"]);
  });

  test("an empty list changes nothing, null removes", () => {
    expect(patch({ containers: [] }).containers).toEqual(live.containers);
    expect(patch({ containers: null })).not.toHaveProperty("containers");
  });

  test("a list without a strategy is replaced", () => {
    const [first] = patch({ containers: [{ name: "c1", args: ["9"] }] }).containers as JsonObject[];
    expect(first?.args).toEqual(["9"]);
  });
});

describe("lists of primitives", () => {
  test("are united, the patch's items in the patch's order", () => {
    expect(patch({ finalizers: ["d", "b"] }).finalizers).toEqual(["d", "a", "b", "c"]);
  });

  test("lose what $deleteFromPrimitiveList names", () => {
    expect(patch({ "$deleteFromPrimitiveList/finalizers": ["b", "q"] }).finalizers).toEqual(["a", "c"]);
  });

  test("can be ordered", () => {
    const change = { "$setElementOrder/finalizers": ["c", "d", "a"], finalizers: ["d"] };
    expect(patch(change).finalizers).toEqual(["b", "c", "d", "a"]);
  });
});

describe("maps", () => {
  test("$retainKeys drops what it does not name", () => {
    const change = {
      volumes: [{ name: "v1", $retainKeys: ["name", "secret"], secret: { secretName: "s" } }],
    };
    expect(patch(change).volumes).toEqual([{ name: "v1", secret: { secretName: "s" } }]);
  });

  test("$patch replaces or empties a map", () => {
    expect(patch({ labels: { $patch: "replace", m: "2" } }).labels).toEqual({ m: "2" });
    expect(patch({ labels: { $patch: "delete", m: "2" } }).labels).toEqual({});
  });

  test("with the replace strategy are replaced", () => {
    expect(finishNow(applyStrategicMergePatch({ exact: { a: 1 } }, { exact: { b: 2 } }, pod))).toEqual({
      exact: { b: 2 },
    });
  });
});

describe("what the patch adds", () => {
  test("comes without nulls, and without maps that carry $patch", () => {
    expect(patch({ affinity: { a: null, b: { c: null, d: 1 } } }).affinity).toEqual({ b: { d: 1 } });
    expect(patch({ affinity: { a: 1, $patch: "replace" } })).not.toHaveProperty("affinity");
    expect(patch({ tolerations: [{ key: "a" }, { key: "b", $patch: "delete" }] }).tolerations).toEqual([
      { key: "a" },
    ]);
    expect(patch({ tolerations: [{ key: "b", $patch: null }] }).tolerations).toEqual([{ key: "b" }]);
  });

  test("stays whole inside an item that is new, less the directives", () => {
    const item = { name: "n", env: [{ name: "A", value: "1", $patch: "delete" }] };
    expect((patch({ containers: [item] }).containers as Json[])[0]).toEqual({
      name: "n",
      env: [{ name: "A", value: "1" }],
    });
  });
});

describe("faults are answered as the real server does", () => {
  test.each<[JsonObject, number, string]>([
    [{ containers: [{ image: "x" }] }, 500, "map: map[image:x] does not contain declared merge key: name"],
    [
      { containers: [{ name: "c", $patch: "foo" }] },
      500,
      "unknown patch type: foo in map: map[$patch:foo name:c]",
    ],
    [
      { containers: [{ name: "c", $patch: "merge" }] },
      500,
      "merging lists cannot yet be specified in the patch",
    ],
    [{ labels: { $patch: "merge" } }, 500, "unknown patch type: merge in map: map[$patch:merge]"],
    [{ finalizers: [1] }, 500, "list element types are not identical: [[a b c] [1]]"],
    [{ "$setElementOrder/finalizers": "x" }, 500, "expected a []interface {}, but received a string"],
    [{ "$setElementOrder/tolerations": [], tolerations: [] }, 500, "no elements in any of the given slices"],
    [{ $setElementOrder: [] }, 400, "invalid patch format of setElementOrder list"],
    [{ $deleteFromPrimitiveList: [] }, 400, "invalid patch format of primitive list"],
    [{ labels: { $retainKeys: "x" } }, 400, "invalid patch format of retainKeys"],
    [{ labels: { $retainKeys: [], m: "1" } }, 400, "invalid patch format of retainKeys"],
    [
      { "$setElementOrder/finalizers": ["c"], finalizers: ["d"] },
      500,
      "The order in patch list:\n[d]\n doesn't match $setElementOrder list:\n[c]\n",
    ],
  ])("%j", (change, code, message) => {
    expect(() => patch(change)).toThrowError(expect.objectContaining({ code, message }));
  });
});

test("any patch of any document applies, or fails with a status; neither is changed", () => {
  const keys = fc.constantFrom(
    "containers",
    "finalizers",
    "name",
    "env",
    "$patch",
    "$retainKeys",
    "$setElementOrder/containers",
    "$setElementOrder/finalizers",
    "$deleteFromPrimitiveList/finalizers",
    "__proto__",
  );
  const leaf = fc.constantFrom<Json>("a", "delete", "replace", "merge", 1, null, true);
  const { value } = fc.letrec<{ value: Json }>((tie) => ({
    value: fc.oneof(
      { maxDepth: 4 },
      leaf,
      fc.array(tie("value"), { maxLength: 3 }),
      fc.dictionary(keys, tie("value"), { maxKeys: 3 }),
    ),
  }));
  fc.assert(
    fc.property(fc.dictionary(keys, value), fc.dictionary(keys, value), (document, change) => {
      const before = JSON.stringify([document, change]);
      try {
        finishNow(applyStrategicMergePatch(document, change, pod));
      } catch (error) {
        expect(error).toBeInstanceOf(StatusError);
      }
      expect(JSON.stringify([document, change])).toBe(before);
    }),
    { numRuns: 500 },
  );
});
