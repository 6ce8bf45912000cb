import { describe, expect, test } from "vitest";
import { clone, type Json, type JsonObject } from "../json.ts";
import { finish, finishNow } from "../steps.ts";
import { ConversionError, managersAfter, noOp, trackUpdate } from "./index.ts";
import { owners, SAMPLE, sample, T1, T2, T3, VERSION } from "./merging.fixture.ts";
import { OBJECT_META } from "./object-meta.ts";

const by = (manager: string, time = T1) => ({ schema: SAMPLE, apiVersion: VERSION, manager, time });
const created = (object: JsonObject, manager = "m1") => trackUpdate({ ...by(manager), next: object });

function changed(live: JsonObject, spec: JsonObject): JsonObject {
  return { ...live, spec: { ...(live.spec as JsonObject), ...spec } };
}

function withEntries(object: JsonObject, managedFields: Json): JsonObject {
  return { ...object, metadata: { ...(object.metadata as JsonObject), managedFields } };
}

describe("a create", () => {
  test("owns every field it sets, and what contains them", () => {
    const object = sample({
      name: "x",
      map: [{ k: "1", v: 1 }],
      set: ["a"],
      plain: ["p"],
      struct: {},
      whole: { w: "1" },
    });
    expect(owners(created(object))).toEqual([
      'm1 Update: .spec .spec.map .spec.map[k="1",p="TCP"] .spec.map[k="1",p="TCP"].k .spec.map[k="1",p="TCP"].v .spec.name .spec.plain .spec.set .spec.set[="a"] .spec.struct .spec.whole @01',
    ]);
  });

  test("owns no field that says which object it is", () => {
    const metadata = {
      name: "s",
      namespace: "d",
      uid: "u",
      generation: 1,
      resourceVersion: "1",
      selfLink: "/",
    };
    const object: JsonObject = {
      apiVersion: VERSION,
      kind: "Sample",
      metadata: { ...metadata, creationTimestamp: T1, labels: { a: "b" } },
    };
    expect(owners(created(object))).toEqual(["m1 Update: .metadata.labels .metadata.labels.a @01"]);
  });

  test("owns nothing that the empty object of its kind has too", () => {
    const next = sample({ name: "x", struct: {} });
    const tracked = trackUpdate({ ...by("m1"), empty: { ...sample({ struct: {} }) }, next });
    expect(owners(tracked)).toEqual(["m1 Update: .spec.name @01"]);
  });

  test("may bring entries along, which lose what the create sets", () => {
    const entry = {
      manager: "x",
      operation: "Update",
      apiVersion: VERSION,
      fieldsType: "FieldsV1",
      fieldsV1: { "f:spec": { "f:name": {}, "f:gone": {} } },
    };
    expect(owners(created(withEntries(sample({ name: "x" }), [entry])))).toEqual([
      "x Update: .spec.gone @never",
      "m1 Update: .spec .spec.name @01",
    ]);
  });

  test("knows the metadata of an embedded resource", () => {
    const pod = {
      apiVersion: "v1",
      kind: "Pod",
      metadata: { finalizers: ["x/y"], ownerReferences: [{ uid: "u", name: "n" }] },
    };
    expect(owners(created(sample({ pod })))).toEqual([
      'm1 Update: .spec .spec.pod .spec.pod.apiVersion .spec.pod.kind .spec.pod.metadata .spec.pod.metadata.finalizers .spec.pod.metadata.finalizers[="x/y"] .spec.pod.metadata.ownerReferences .spec.pod.metadata.ownerReferences[uid="u"] @01',
    ]);
  });
});

describe("an update", () => {
  test("takes what it changes or adds from everybody, and nothing else", () => {
    const live = created(sample({ name: "x", replicas: 1 }));
    const next = trackUpdate({ ...by("m2", T2), live, next: changed(live, { name: "y", port: 80 }) });
    expect(owners(next)).toEqual([
      "m1 Update: .spec .spec.replicas @01",
      "m2 Update: .spec.name .spec.port @02",
    ]);
  });

  test("an update that only removes has no owner, and the field leaves all owners", () => {
    const live = created(sample({ name: "x", replicas: 1 }));
    const next = trackUpdate({ ...by("m2", T2), live, next: { ...live, spec: { name: "x" } } });
    expect(owners(next)).toEqual(["m1 Update: .spec .spec.name @01"]);
  });

  test("by the same manager is one entry, with the new time", () => {
    const live = created(sample({ name: "x" }));
    const next = trackUpdate({ ...by("m1", T2), live, next: changed(live, { replicas: 1 }) });
    expect(owners(next)).toEqual(["m1 Update: .spec .spec.name .spec.replicas @02"]);
  });

  test("that changes nothing changes no entry and no time", () => {
    const live = created(sample({ name: "x" }));
    const next = trackUpdate({ ...by("m2", T2), live, next: clone(live) });
    expect(next).toEqual(live);
    expect(noOp(live, next)).toBe(true);
  });

  test("through another version or a subresource is another entry", () => {
    const live = created(sample({ name: "x" }));
    const status = trackUpdate({
      ...by("m1", T2),
      subresource: "status",
      live,
      next: { ...live, status: { ready: true } },
    });
    const next = trackUpdate({
      ...by("m1", T3),
      apiVersion: "example.com/v2",
      convert: (object) => object,
      live: status,
      next: changed(status, { name: "y" }),
    });
    expect(owners(next)).toEqual([
      "m1 Update: .spec @01",
      "m1 Update/status: .status .status.ready @02",
      "m1 Update: .spec.name @03",
    ]);
  });

  test("owns nothing that its endpoint does not write", () => {
    const live = created(sample({ name: "x" }));
    const next = trackUpdate({
      ...by("m2", T2),
      resetFields: [["status"]],
      live,
      next: { ...changed(live, { name: "y" }), status: { ready: true } },
    });
    expect(owners(next)).toEqual(["m1 Update: .spec @01", "m2 Update: .spec.name @02"]);
  });

  test("of items that share a key owns them as one", () => {
    const live = created(sample({ map: [{ k: "1", v: 1 }] }));
    const next = trackUpdate({
      ...by("m2", T2),
      live,
      next: changed(live, {
        map: [
          { k: "1", v: 1 },
          { k: "1", v: 2 },
        ],
      }),
    });
    expect(owners(next)).toEqual([
      "m1 Update: .spec .spec.map @01",
      'm2 Update: .spec.map[k="1",p="TCP"] @02',
    ]);
  });

  test("from a value to a map, in free-form data, owns the map", () => {
    const live = created(sample({ free: { a: 1 } }));
    const next = trackUpdate({ ...by("m2", T2), live, next: changed(live, { free: { a: { b: 1 } } }) });
    expect(owners(next)).toEqual([
      "m1 Update: .spec .spec.free @01",
      "m2 Update: .spec.free.a .spec.free.a.b @02",
    ]);
  });
});

describe("entries that the writer sends", () => {
  const live = created(sample({ name: "x" }));
  const sent = (entries: Json) =>
    owners(trackUpdate({ ...by("m2", T2), live, next: withEntries(changed(live, { name: "y" }), entries) }));

  test.each([[[]], [[{}]]])("%j removes all entries, and tracking rests", (entries) => {
    expect(sent(entries)).toEqual([]);
    const bare = trackUpdate({ ...by("m2", T2), live, next: withEntries(live, entries) });
    expect(owners(trackUpdate({ ...by("m2", T3), live: bare, next: changed(bare, { name: "z" }) }))).toEqual(
      [],
    );
  });

  test.each<[Json]>([
    [[{ manager: "x" }]],
    [[{ manager: "x", operation: "Other", apiVersion: VERSION, fieldsType: "FieldsV1" }]],
    [[{ manager: "x", operation: "Update", apiVersion: VERSION, fieldsType: "FieldsV2" }]],
    [[{ manager: "x", operation: "Update", apiVersion: "", fieldsType: "FieldsV1" }]],
    [
      [
        {
          manager: "x",
          operation: "Update",
          apiVersion: VERSION,
          fieldsType: "FieldsV1",
          fieldsV1: { f: {} },
        },
      ],
    ],
    [null],
    ["text"],
  ])("%j are ignored", (entries) => {
    expect(sent(entries)).toEqual(["m1 Update: .spec @01", "m2 Update: .spec.name @02"]);
  });

  test("through a subresource are ignored", () => {
    const next = trackUpdate({ ...by("m2", T2), subresource: "status", live, next: withEntries(live, [{}]) });
    expect(owners(next)).toEqual(owners(live));
  });
});

describe("entries of other versions", () => {
  const live = withEntries(created(sample({ name: "x" })), [
    {
      manager: "old",
      operation: "Update",
      apiVersion: "example.com/v0",
      fieldsType: "FieldsV1",
      fieldsV1: { "f:spec": { "f:name": {} } },
    },
    {
      manager: "m1",
      operation: "Update",
      apiVersion: VERSION,
      fieldsType: "FieldsV1",
      fieldsV1: { "f:spec": { "f:name": {} } },
    },
  ]);
  const next = changed(live, { replicas: 1 });

  test("are dropped when there is no such version", () => {
    expect(owners(trackUpdate({ ...by("m2", T2), live, next }))).toEqual([
      "m1 Update: .spec.name @never",
      "m2 Update: .spec.replicas @02",
    ]);
  });

  test("lose what changes in their version", () => {
    const convert = ({ spec, ...rest }: JsonObject, apiVersion: string): JsonObject => {
      const { name, replicas, ...others } = spec as JsonObject;
      return { ...rest, apiVersion, spec: { ...others, name: JSON.stringify([name, replicas]) } };
    };
    expect(owners(trackUpdate({ ...by("m2", T2), live, next, convert }))).toEqual([
      "m1 Update: .spec.name @never",
      "m2 Update: .spec.replicas @02",
    ]);
  });

  test("take all entries with them when the object cannot be converted", () => {
    const convert = () => {
      throw new ConversionError("no such version");
    };
    expect(owners(trackUpdate({ ...by("m2", T2), live, next, convert }))).toEqual([]);
  });

  test("are waited for where a webhook converts the object, and a failure takes all entries with it", async () => {
    const update = { ...by("m2", T2), live, next };
    const atOnce = (object: JsonObject, apiVersion: string): JsonObject => ({ ...object, apiVersion });
    const later = async (object: JsonObject, apiVersion: string) => atOnce(object, apiVersion);
    const failing = async (): Promise<JsonObject> => {
      throw new ConversionError("the webhook is gone");
    };
    const expected = finishNow(managersAfter({ ...update, convert: atOnce }));
    expect(expected.size).toBeGreaterThan(0);
    expect(await finish(managersAfter({ ...update, convert: later }))).toEqual(expected);
    expect(await finish(managersAfter({ ...update, convert: failing }))).toEqual(new Map());
  });
});

test("a field that became atomic belongs to the owners of its parts", () => {
  const live = created(sample({ map: [{ k: "1", v: 1 }], labels: { a: "1" } }));
  const spec = SAMPLE.properties?.spec?.properties ?? {};
  const schema = {
    type: "object" as const,
    properties: {
      spec: {
        type: "object" as const,
        properties: {
          ...spec,
          map: { ...spec.map, "x-kubernetes-list-type": "atomic" as const },
          labels: { ...spec.labels, "x-kubernetes-map-type": "atomic" as const },
        },
      },
    },
  };
  const next = trackUpdate({ ...by("m2", T2), schema, live, next: changed(live, { name: "x" }) });
  expect(owners(next)).toEqual(["m1 Update: .spec .spec.labels .spec.map @01", "m2 Update: .spec.name @02"]);
});

test("beyond ten updaters, the oldest become ancient changes", () => {
  let live = created(sample({ labels: { k0: "1" } }), "u0");
  for (let at = 1; at < 14; at++) {
    const labels = { ...((live.spec as JsonObject).labels as JsonObject), [`k${at}`]: "1" };
    const time = `2026-01-01T00:00:${String(at).padStart(2, "0")}Z`;
    live = trackUpdate({ ...by(`u${at}`, time), live, next: changed(live, { labels }) });
  }
  const [first, ...rest] = owners(live);
  expect(first).toBe(
    "ancient-changes Update: .spec .spec.labels .spec.labels.k0 .spec.labels.k1 .spec.labels.k2 .spec.labels.k3 .spec.labels.k4 @04",
  );
  expect(rest).toHaveLength(9);
});

test("entries come by operation, then time, then name", () => {
  const entry = (manager: string, operation: string, time?: string) => ({
    manager,
    operation,
    apiVersion: VERSION,
    ...(time === undefined ? {} : { time }),
    fieldsType: "FieldsV1",
    fieldsV1: { "f:spec": { "f:other": {} } },
  });
  const live = withEntries(sample({ name: "x" }), [
    entry("c", "Update", T2),
    entry("b", "Update", T2),
    entry("z", "Apply", T3),
    entry("d", "Update"),
  ]);
  const next = trackUpdate({ ...by("a", T1), live, next: changed(live, { name: "y" }) });
  expect(owners(next).map((line) => line.split(":")[0])).toEqual([
    "z Apply",
    "d Update",
    "a Update",
    "b Update",
    "c Update",
  ]);
});

test("writes that differ in times alone are no writes, and others are", () => {
  const live = created(sample({ name: "x" }));
  expect(noOp(live, trackUpdate({ ...by("m1", T2), next: sample({ name: "x" }) }))).toBe(true);
  expect(noOp(live, trackUpdate({ ...by("m2", T1), next: sample({ name: "x" }) }))).toBe(false);
  expect(noOp(live, changed(live, { name: "y" }))).toBe(false);
});

test("the standard metadata stands even where a schema narrows it", () => {
  const schema = { ...SAMPLE, properties: { ...SAMPLE.properties, metadata: { type: "object" as const } } };
  const object = sample({}, { labels: { a: "b" }, finalizers: ["x/y"] });
  const narrow = trackUpdate({ ...by("m1"), schema, next: object });
  const full = trackUpdate({
    ...by("m1"),
    schema: { ...schema, properties: { ...schema.properties, metadata: OBJECT_META } },
    next: object,
  });
  expect(owners(narrow)).toEqual(owners(full));
});
