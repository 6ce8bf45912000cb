import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { clone, type Json, type JsonObject } from "../json.ts";
import { StatusError } from "../status.ts";
import { noOp, serverSideApply, trackUpdate } from "./index.ts";
import { owners, SAMPLE, sample, T1, T2, T3, VERSION } from "./merging.fixture.ts";

interface Options {
  live?: JsonObject | undefined;
  force?: boolean;
  time?: string;
  metadata?: JsonObject;
}

function apply(manager: string, spec: JsonObject, options: Options = {}): JsonObject {
  const { live, force = false, time = T1, metadata } = options;
  return serverSideApply({
    schema: SAMPLE,
    apiVersion: VERSION,
    manager,
    time,
    force,
    live,
    config: sample(spec, metadata),
  });
}

function update(manager: string, live: JsonObject, spec: JsonObject, time = T2): JsonObject {
  const next = { ...live, spec: { ...(live.spec as JsonObject), ...spec } };
  return trackUpdate({ schema: SAMPLE, apiVersion: VERSION, manager, time, live, next });
}

function refusal(action: () => unknown): StatusError {
  try {
    action();
  } catch (error) {
    if (error instanceof StatusError) return error;
    throw error;
  }
  throw new Error("was accepted");
}

describe("an apply that creates", () => {
  test("owns leaves, items and keys, but no structs", () => {
    const object = apply("m1", {
      name: "x",
      map: [{ k: "1", v: 1 }],
      labels: { a: "1" },
      struct: { a: "1" },
    });
    expect(owners(object)).toEqual([
      'm1 Apply: .spec.labels.a .spec.map[k="1",p="TCP"] .spec.map[k="1",p="TCP"].k .spec.map[k="1",p="TCP"].v .spec.name .spec.struct.a @01',
    ]);
  });

  test("owns what is empty or null, except empty lists", () => {
    expect(owners(apply("m1", { struct: {}, labels: {}, set: [], maybe: null, plain: [] }))).toEqual([
      "m1 Apply: .spec.labels .spec.maybe .spec.plain .spec.struct @01",
    ]);
  });
});

describe("an apply to what exists", () => {
  const live = apply("m1", {
    name: "x",
    set: ["a", "b"],
    map: [
      { k: "1", v: 1 },
      { k: "2", v: 2 },
    ],
    labels: { a: "1" },
  });

  test("adds to lists and maps, and leaves what others have", () => {
    const object = apply("m2", { set: ["c"], map: [{ k: "3" }], labels: { b: "2" } }, { live });
    expect(object.spec).toEqual({
      name: "x",
      set: ["a", "b", "c"],
      map: [{ k: "1", v: 1 }, { k: "2", v: 2 }, { k: "3" }],
      labels: { a: "1", b: "2" },
    });
  });

  test("removes what its manager no longer applies", () => {
    const object = apply("m1", { set: ["b"], map: [{ k: "2", v: 2 }] }, { live, time: T2 });
    expect(object.spec).toEqual({ set: ["b"], map: [{ k: "2", v: 2 }] });
    expect(owners(object)).toEqual([
      'm1 Apply: .spec.map[k="2",p="TCP"] .spec.map[k="2",p="TCP"].k .spec.map[k="2",p="TCP"].v .spec.set[="b"] @02',
    ]);
  });

  test("keeps what another manager owns too", () => {
    const shared = apply("m2", { name: "x" }, { live });
    const object = apply("m1", { set: ["a", "b"] }, { live: shared });
    expect(object.spec).toEqual({ name: "x", set: ["a", "b"] });
    expect(owners(object)).toEqual([
      "m2 Apply: .spec.name @never",
      'm1 Apply: .spec.set[="a"] .spec.set[="b"] @01',
    ]);
  });

  test("an apply removes what has no owner below a struct that it gives up", () => {
    const bare = update("u", apply("m1", { struct: { a: "1" } }), { struct: { a: "1", b: "2" } });
    const entries = (bare.metadata as JsonObject).managedFields as JsonObject[];
    const unowned = { ...bare, metadata: { name: "s", managedFields: entries.slice(0, 1) } };
    expect(apply("m1", {}, { live: unowned }).spec).toBeUndefined();
  });

  test("that gives up all of a struct or map leaves none of it", () => {
    const held = update("u", apply("m1", { struct: { a: "1" } }), { struct: { a: "1", b: "2" }, port: 1 });
    const object = apply("m1", {}, { live: update("u", held, { struct: { a: "1" } }) });
    expect(object.spec).toEqual({ port: 1 });
    const keyed = update("u", apply("m1", { labels: { a: "1" } }), { port: 1 });
    expect(apply("m1", {}, { live: keyed }).spec).toEqual({ port: 1 });
  });

  test("again, is no write at all", () => {
    const again = apply(
      "m1",
      {
        name: "x",
        set: ["a", "b"],
        map: [
          { k: "1", v: 1 },
          { k: "2", v: 2 },
        ],
        labels: { a: "1" },
      },
      { live, time: T3 },
    );
    expect(again).toEqual(live);
    expect(noOp(live, again)).toBe(true);
  });

  test("in another order is a write, with a new time", () => {
    const object = apply("m2", { set: ["b", "a"] }, { live, time: T2 });
    expect((object.spec as JsonObject).set).toEqual(["b", "a"]);
    expect(owners(object)[1]).toBe('m2 Apply: .spec.set[="a"] .spec.set[="b"] @02');
  });

  test("of the same value shares it, without a time", () => {
    expect(owners(apply("m2", { name: "x" }, { live, time: T2 }))[0]).toBe("m2 Apply: .spec.name @never");
  });

  test("of nothing gives up the entry", () => {
    const object = apply("m2", {}, { live: apply("m2", { port: 1 }, { live }) });
    expect(owners(object)).toEqual(owners(live));
    expect(object.spec).toEqual(live.spec);
  });

  test("without entries files what is there as before the first apply", () => {
    const object = serverSideApply({
      schema: SAMPLE,
      apiVersion: VERSION,
      manager: "m1",
      time: T2,
      force: false,
      live: sample({ name: "x" }),
      config: sample({ port: 1 }),
    });
    expect(owners(object)).toEqual([
      "m1 Apply: .spec.port @02",
      "before-first-apply Update: .spec .spec.name @02",
    ]);
  });
});

describe("a conflict", () => {
  const live = apply("m1", { name: "x", plain: ["p"], whole: { a: "1" }, map: [{ k: "1", v: 1 }] });

  test("names every field and its owner", () => {
    const { code, reason, message, details } = refusal(() =>
      apply("m2", { plain: ["q"], whole: { a: "2" }, map: [{ k: "1", v: 9 }] }, { live }),
    );
    expect({ code, reason }).toEqual({ code: 409, reason: "Conflict" });
    expect(message).toBe(
      'Apply failed with 3 conflicts: conflicts with "m1":\n- .spec.plain\n- .spec.whole\n- .spec.map[k="1",p="TCP"].v',
    );
    expect(details?.causes?.[2]).toEqual({
      reason: "FieldManagerConflict",
      message: 'conflict with "m1"',
      field: '.spec.map[k="1",p="TCP"].v',
    });
  });

  test("a conflict of one field is reported in one line, with the version of an updater", () => {
    const updated = update("kubectl-edit", live, { name: "y" });
    expect(refusal(() => apply("m2", { name: "z" }, { live: updated })).message).toBe(
      'Apply failed with 1 conflict: conflict with "kubectl-edit" using example.com/v1: .spec.name',
    );
  });

  test("with several managers lists them one after the other", () => {
    const updated = update("u", live, { port: 1 });
    expect(refusal(() => apply("m2", { name: "z", port: 2 }, { live: updated })).message).toBe(
      'Apply failed with 2 conflicts: conflicts with "m1":\n- .spec.name\nconflicts with "u" using example.com/v1:\n- .spec.port',
    );
  });

  test("forced, takes the field over", () => {
    const object = apply("m2", { name: "z" }, { live, force: true, time: T2 });
    expect((object.spec as JsonObject).name).toBe("z");
    expect(owners(object)[1]).toBe("m2 Apply: .spec.name @02");
    expect(owners(object)[0]).not.toContain(".spec.name");
  });

  test("is none where values agree", () => {
    expect(apply("m2", { name: "x", whole: { a: "1" } }, { live }).spec).toEqual(live.spec);
  });
});

describe("kubectl, coming from client-side apply", () => {
  const annotation = "kubectl.kubernetes.io/last-applied-configuration";
  const last = (spec: JsonObject) => ({ annotations: { [annotation]: JSON.stringify(sample(spec)) } });
  const live = trackUpdate({
    schema: SAMPLE,
    apiVersion: VERSION,
    manager: "kubectl-client-side-apply",
    time: T1,
    next: sample({ name: "x", port: 1 }, last({ name: "x" })),
  });

  test("takes over what its annotation says it applied, and keeps the annotation in step", () => {
    const object = apply("kubectl", { name: "<y>" }, { live, time: T2 });
    expect((object.spec as JsonObject).name).toBe("<y>");
    expect((object.metadata as JsonObject).annotations).toEqual({
      [annotation]:
        '{"apiVersion":"example.com/v1","kind":"Sample","metadata":{"name":"s"},"spec":{"name":"\\u003cy\\u003e"}}\n',
    });
  });

  test("conflicts over the rest, and so does every other manager over all of it", () => {
    expect(refusal(() => apply("kubectl", { name: "y", port: 2 }, { live })).message).toBe(
      'Apply failed with 1 conflict: conflict with "kubectl-client-side-apply" using example.com/v1: .spec.port',
    );
    expect(refusal(() => apply("other", { name: "y", port: 2 }, { live })).message).toContain("2 conflicts");
  });

  test.each([
    "not json",
    "[]",
    "{}",
    '{"apiVersion":"example.com/v0"}',
    '{"apiVersion":"example.com/v1","zzz":1}',
  ])("cannot take over anything with the annotation %j", (text) => {
    const metadata = { ...(live.metadata as JsonObject), annotations: { [annotation]: text } };
    expect(refusal(() => apply("kubectl", { name: "y" }, { live: { ...live, metadata } })).code).toBe(409);
  });
});

describe("a configuration that does not fit", () => {
  const prefix = "failed to create typed patch object (/s; example.com/v1, Kind=Sample): ";

  test.each<[JsonObject, string]>([
    [{ zzz: 1 }, ".spec.zzz: field not declared in schema"],
    [{ map: [{ k: "1" }, { k: "1" }] }, '.spec.map: duplicate entries for key [k="1",p="TCP"]'],
    [{ set: ["a", "a"] }, '.spec.set: duplicate entries for key [="a"]'],
    [
      { set: [null] },
      ".spec.set: element 0: associative list without keys has an element that's an explicit null",
    ],
    [{ set: [{}] }, ".spec.set: element 0: associative list without keys has an element that's a map type"],
    [{ set: [[]] }, ".spec.set: element 0: not supported: associative list with lists as elements"],
    [{ map: [1] }, ".spec.map: element 0: associative list with keys may not have non-map elements"],
    [{ map: [null] }, ".spec.map: element 0: associative list with keys may not have a null element"],
    [{ map: "x" }, ".spec.map: expected list, got &{x}"],
    [{ map: { a: 1 } }, ".spec.map: expected list, got &{map[a:1]}"],
    [{ labels: [1] }, ".spec.labels: expected map, got &{[1]}"],
    [{ replicas: "x" }, ".spec.replicas: expected numeric (int or float), got string"],
    [{ name: 1 }, ".spec.name: expected string, got &value.valueUnstructured{Value:1}"],
    [
      { name: { a: ["b"] } },
      '.spec.name: expected string, got &value.valueUnstructured{Value:map[string]interface {}{"a":[]interface {}{"b"}}}',
    ],
    [
      { name: 1, labels: { a: 1 } },
      "errors:\n  .spec.labels.a: expected string, got &value.valueUnstructured{Value:1}\n  .spec.name: expected string, got &value.valueUnstructured{Value:1}",
    ],
    [{ pod: { metadata: { zzz: 1 } } }, ".spec.pod.metadata.zzz: field not declared in schema"],
  ])("%j is a 500", (spec, message) => {
    const error = refusal(() => apply("m1", spec));
    expect(error.toStatus()).toEqual({
      kind: "Status",
      apiVersion: "v1",
      metadata: {},
      status: "Failure",
      message: prefix + message,
      code: 500,
    });
  });

  test("in its version or with entries is a 400", () => {
    const config = { ...sample({}), apiVersion: "example.com/v2" };
    const base = { schema: SAMPLE, apiVersion: VERSION, manager: "m1", time: T1, force: false };
    expect(refusal(() => serverSideApply({ ...base, config })).code).toBe(400);
    expect(refusal(() => apply("m1", {}, { metadata: { managedFields: [] } })).message).toBe(
      "metadata.managedFields must be nil",
    );
  });
});

describe("appliers of several versions", () => {
  const rename = (object: JsonObject, from: string, to: string): JsonObject => {
    const { [from]: moved, ...rest } = (object.spec ?? {}) as JsonObject;
    return { ...object, spec: moved === undefined ? rest : { ...rest, [to]: moved } };
  };
  const convert = (object: JsonObject, apiVersion: string): JsonObject | undefined => {
    if (apiVersion === "example.com/v2") return { ...rename(object, "name", "title"), apiVersion };
    return apiVersion === VERSION ? { ...rename(object, "title", "name"), apiVersion } : undefined;
  };
  const second = {
    ...SAMPLE,
    properties: {
      spec: {
        type: "object" as const,
        properties: { title: { type: "string" as const }, port: { "x-kubernetes-int-or-string": true } },
      },
    },
  };
  const schemaFor = (apiVersion: string) => (apiVersion === VERSION ? SAMPLE : second);
  const in2 = (manager: string, spec: JsonObject, live?: JsonObject, force = false) =>
    serverSideApply({
      schema: second,
      apiVersion: "example.com/v2",
      manager,
      time: T2,
      force,
      live: live === undefined ? undefined : convert(live, "example.com/v2"),
      config: { ...sample(spec), apiVersion: "example.com/v2" },
      convert,
      schemaFor,
    });

  test("see each other's fields in their own version", () => {
    const live = apply("m1", { name: "x" });
    expect(refusal(() => in2("m2", { title: "y" }, live)).message).toBe(
      'Apply failed with 1 conflict: conflict with "m1": .spec.name',
    );
    expect(owners(in2("m2", { title: "x" }, live))).toEqual([
      "m2 Apply: .spec.title @never",
      "m1 Apply: .spec.name @01",
    ]);
  });

  test("that change version give up what they applied in the old one", () => {
    const live = apply("m1", { name: "x", port: 1 });
    const object = in2("m1", { port: 1 }, live);
    expect(object.spec).toEqual({ port: 1 });
    expect(owners(object)).toEqual(["m1 Apply: .spec.port @02"]);
  });
});

test("an apply to the status owns the status alone", () => {
  const live = apply("m1", { name: "x" });
  const object = serverSideApply({
    schema: SAMPLE,
    apiVersion: VERSION,
    manager: "m1",
    subresource: "status",
    resetFields: [["spec"]],
    time: T2,
    force: false,
    live,
    config: { ...sample({ name: "x" }), status: { ready: true } },
  });
  expect(owners(object)).toEqual(["m1 Apply: .spec.name @01", "m1 Apply/status: .status.ready @02"]);
});

const letters = fc.constantFrom("a", "b", "c");
const specs = fc.record(
  {
    name: letters,
    replicas: fc.nat({ max: 2 }),
    port: fc.oneof(letters, fc.nat({ max: 2 })),
    plain: fc.array(letters, { maxLength: 3 }),
    set: fc.uniqueArray(letters),
    map: fc.uniqueArray(fc.record({ k: letters, v: fc.nat({ max: 2 }) }), { selector: (item) => item.k }),
    labels: fc.dictionary(letters, letters),
    whole: fc.dictionary(letters, letters),
    struct: fc.record({ a: letters, b: letters }, { requiredKeys: [] }),
    free: fc.dictionary(letters, fc.jsonValue({ maxDepth: 2 })),
  },
  { requiredKeys: [] },
) as fc.Arbitrary<JsonObject>;

describe("whatever is applied", () => {
  test("applying it again changes nothing", () => {
    fc.assert(
      fc.property(specs, specs, (first, second) => {
        const live = apply("m2", first);
        const once = apply("m1", second, { live, force: true, time: T2 });
        expect(noOp(once, apply("m1", second, { live: once, force: true, time: T3 }))).toBe(true);
        expect(noOp(once, apply("m1", second, { live: once, time: T3 }))).toBe(true);
      }),
    );
  });

  test("by force, its manager comes to own all of it, and no other manager any of what changed", () => {
    fc.assert(
      fc.property(specs, specs, (first, second) => {
        const live = apply("m2", first);
        const object = apply("m1", second, { live, force: true, time: T2 });
        const alone = owners(apply("m1", second))[0]?.replace(/@.*/, "");
        expect(
          owners(object)
            .find((line) => line.startsWith("m1"))
            ?.replace(/@.*/, ""),
        ).toBe(alone);
      }),
    );
  });

  test("and then given up, leaves what the others applied", () => {
    fc.assert(
      fc.property(specs, specs, (first, second) => {
        const live = apply("m2", first);
        const both = apply("m1", second, { live, force: true, time: T2 });
        const [entry] = owners(both).filter((line) => line.startsWith("m2"));
        const left = apply("m1", {}, { live: both, time: T3 });
        expect(owners(left).filter((line) => line.startsWith("m2"))).toEqual(
          entry === undefined ? [] : [entry],
        );
        expect(owners(left).filter((line) => line.startsWith("m1"))).toEqual([]);
      }),
    );
  });

  test("no argument is changed, and no prototype", () => {
    const hostile = JSON.parse('{"__proto__":{"x":"1"},"a":{"__proto__":{"y":"2"}}}') as JsonObject;
    const live = apply("m1", { free: hostile });
    const before = JSON.stringify(live);
    const config = { free: { a: { b: 1 } }, labels: JSON.parse('{"__proto__":"v"}') as JsonObject };
    const object = apply("m2", config, { live });
    expect(JSON.stringify(live)).toBe(before);
    expect(JSON.stringify((object.spec as JsonObject).labels)).toBe('{"__proto__":"v"}');
    const free = (object.spec as JsonObject).free as JsonObject;
    expect(Object.getPrototypeOf(free)).toBe(Object.prototype);
    expect(free.x).toBeUndefined();
    expect(owners(object)[1]).toContain(".spec.labels.__proto__");
  });
});

test("any configuration over any object is applied, or refused with a status", () => {
  const values = fc.jsonValue({ maxDepth: 2 });
  const names = fc.constantFrom("name", "set", "map", "labels", "free", "struct", "__proto__", "pod");
  const anySpec = fc.dictionary(
    names,
    fc.oneof(values, fc.array(fc.dictionary(fc.constantFrom("k", "p", "v"), values))),
  );
  fc.assert(
    fc.property(anySpec, anySpec, values, (first, second, entries) => {
      const live = sample(clone(first as JsonObject), { managedFields: entries as Json });
      for (const action of [
        () => apply("m1", second as JsonObject, { live, force: true }),
        () => update("m1", live, second as JsonObject),
        () => update("m1", sample({ name: "x" }, { managedFields: entries as Json }), second as JsonObject),
      ]) {
        try {
          action();
        } catch (error) {
          expect(error).toBeInstanceOf(StatusError);
        }
      }
    }),
    { numRuns: 80 },
  );
});
