import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Json } from "../json.ts";
import { longestTurn } from "../longest-turn.fixture.ts";
import { StatusError } from "../status.ts";
import { finish, finishNow } from "../steps.ts";
import { applyJsonPatch as patchSteps } from "./json-patch.ts";

const applyJsonPatch = (to: Json, patch: unknown): Json => finishNow(patchSteps(to, patch));

const document = { data: { a: "1", b: "2" }, list: ["x", "y", "z"] };

function code(patch: unknown): number | undefined {
  try {
    applyJsonPatch(document, patch);
    return undefined;
  } catch (error) {
    if (error instanceof StatusError) return error.code;
    throw error;
  }
}

describe("a patch of lists", () => {
  test.each([
    ["-", ["x", "y", "z", "n"]],
    ["3", ["x", "y", "z", "n"]],
    ["0", ["n", "x", "y", "z"]],
    ["+1", ["x", "n", "y", "z"]],
    ["01", ["x", "n", "y", "z"]],
    ["-0", ["n", "x", "y", "z"]],
    ["-1", ["x", "y", "z", "n"]],
    ["-2", ["x", "y", "n", "z"]],
    ["-4", ["n", "x", "y", "z"]],
  ])("adds at index %s", (index, list) => {
    expect(applyJsonPatch(document, [{ op: "add", path: `/list/${index}`, value: "n" }])).toEqual({
      ...document,
      list,
    });
  });

  test.each(["4", "-5", "1.0", "x", ""])("refuses to add at index %j", (index) => {
    expect(code([{ op: "add", path: `/list/${index}`, value: "n" }])).toBe(422);
  });

  test("removes and replaces by indices from either end, but not at the end", () => {
    expect(applyJsonPatch(document, [{ op: "remove", path: "/list/-1" }])).toMatchObject({
      list: ["x", "y"],
    });
    expect(applyJsonPatch(document, [{ op: "replace", path: "/list/-3", value: "n" }])).toMatchObject({
      list: ["n", "y", "z"],
    });
    expect(code([{ op: "remove", path: "/list/-" }])).toBe(422);
    expect(code([{ op: "replace", path: "/list/3", value: "n" }])).toBe(422);
  });

  test("moves an item within its list", () => {
    expect(applyJsonPatch(document, [{ op: "move", from: "/list/0", path: "/list/2" }])).toMatchObject({
      list: ["y", "z", "x"],
    });
  });
});

describe("where the API server is more lenient than the RFC", () => {
  test("replace adds a member that is missing", () => {
    expect(applyJsonPatch(document, [{ op: "replace", path: "/data/c", value: "3" }])).toMatchObject({
      data: { c: "3" },
    });
  });

  test("a missing member copies as null and equals null", () => {
    expect(applyJsonPatch(document, [{ op: "copy", from: "/data/q", path: "/data/c" }])).toMatchObject({
      data: { c: null },
    });
    expect(applyJsonPatch(document, [{ op: "test", path: "/data/q", value: null }])).toEqual(document);
    expect(applyJsonPatch(document, [{ op: "test", path: "/data/q" }])).toEqual(document);
  });

  test("what stands before the first slash is ignored", () => {
    expect(applyJsonPatch(document, [{ op: "add", path: "any/data/c", value: "3" }])).toMatchObject({
      data: { c: "3" },
    });
  });

  test("no patch at all changes nothing", () => {
    expect(applyJsonPatch(document, null)).toEqual(document);
    expect(applyJsonPatch(document, [])).toEqual(document);
  });
});

describe("a patch that does not apply", () => {
  test.each([
    [[{ op: "add", path: "/labels/x", value: "1" }]],
    [[{ op: "add", path: "/data/a/b", value: "1" }]],
    [[{ op: "remove", path: "/data/q" }]],
    [[{ op: "move", from: "/data/q", path: "/data/c" }]],
    [[{ op: "move", from: "/data", path: "/data/c" }]],
    [[{ op: "test", path: "/data/a", value: "2" }]],
    [[{ op: "test", path: "/list/9", value: null }]],
    [[{ op: "add", path: "", value: {} }]],
    [[{ op: "replace", path: "", value: "text" }]],
    [[{ op: "add", path: "data", value: {} }]],
    [[{ op: "ADD", path: "/data/a", value: "1" }]],
    [[{ path: "/data/a" }]],
    [[{ op: "add" }]],
    [[null]],
  ])("is refused with a 422 that has no causes: %j", (patch) => {
    expect(code(patch)).toBe(422);
    expect(() => applyJsonPatch(document, patch)).toThrowError(
      expect.objectContaining({ reason: "Invalid", details: {} }),
    );
  });

  test.each([[{ op: "add" }], ["text"], [1], [[1]], [[{ op: "add", path: 1 }]], [[{ op: 1, path: "/a" }]]])(
    "is refused with a 400 when it is no list of operations: %j",
    (patch) => {
      expect(code(patch)).toBe(400);
    },
  );

  test("is refused with a 413 above ten thousand operations", () => {
    expect(code(Array.from({ length: 10_001 }, () => ({ op: "test", path: "/data/a", value: "1" })))).toBe(
      413,
    );
  });
});

test("copies of copies are refused before they fill the memory", () => {
  const bomb = Array.from({ length: 40 }, (_, index) => ({
    op: "copy",
    from: "/data",
    path: `/data/${index}`,
  }));
  expect(code(bomb)).toBe(422);
  expect(code(bomb.slice(0, 10))).toBeUndefined();
});

test("a patch that moves many items lets others have their turn", async () => {
  const list = Array.from({ length: 100_000 }, (_, index) => index);
  const patch = Array.from({ length: 5_000 }, () => ({ op: "add", path: "/list/0", value: "x" }));
  let result: Json = null;
  const longest = await longestTurn(async () => {
    result = await finish(patchSteps({ list }, patch));
  });
  expect((result as { list: unknown[] } | null)?.list).toHaveLength(105_000);
  expect(longest).toBeLessThan(100);
});

test("escaped slashes and tildes are part of the key", () => {
  expect(applyJsonPatch({}, [{ op: "add", path: "/a~1b~0c~01", value: 1 }])).toEqual({ "a/b~c~1": 1 });
});

test("a replaced root is the new document", () => {
  expect(applyJsonPatch(document, [{ op: "replace", path: "", value: { c: 1 } }])).toEqual({ c: 1 });
});

test("a value that was added and then changed leaves the patch as it was", () => {
  const patch = [
    { op: "add", path: "/new", value: { deep: [1] } },
    { op: "add", path: "/new/deep/-", value: 2 },
  ];
  expect(applyJsonPatch(document, patch)).toMatchObject({ new: { deep: [1, 2] } });
  expect(patch[0]?.value).toEqual({ deep: [1] });
});

const keys = fc.constantFrom("a", "b", "0", "-1", "-", "__proto__", "constructor", "");
const paths = fc.array(keys, { maxLength: 4 }).map((parts) => parts.map((part) => `/${part}`).join(""));
const operations = fc.record(
  {
    op: fc.constantFrom("add", "remove", "replace", "move", "copy", "test", "other"),
    path: fc.oneof(paths, fc.jsonValue()),
    from: paths,
    value: fc.jsonValue(),
  },
  { requiredKeys: [] },
);

test("any patch of any document applies, or fails with a status; neither is changed, no prototype is touched", () => {
  fc.assert(
    fc.property(
      fc.jsonValue(),
      fc.oneof(fc.array(fc.oneof(operations, fc.jsonValue())), fc.jsonValue()),
      (given, patch) => {
        const before = JSON.stringify([given, patch]);
        try {
          const result = applyJsonPatch(given as Json, patch);
          if (typeof result === "object" && result !== null && !Array.isArray(result)) {
            expect(Object.getPrototypeOf(result)).toBe(Object.prototype);
          }
        } catch (error) {
          expect(error).toBeInstanceOf(StatusError);
        }
        expect(JSON.stringify([given, patch])).toBe(before);
        expect(Object.keys(Object.prototype)).toEqual([]);
      },
    ),
  );
});
