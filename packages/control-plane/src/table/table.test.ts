import { readFileSync } from "node:fs";
import fc from "fast-check";
import { expect, test } from "vitest";
import type { Json, JsonObject } from "../json.ts";
import { builtinKinds, type KindInfo, type PrinterColumn } from "../kinds/index.ts";
import { finishNow } from "../steps.ts";
import { humanDuration, partialMetadata, scaleTable, toTable } from "./index.ts";

/** Objects of a real server with the row it made of each, and the time at which it did. */
interface GoldenRow {
  readonly group: string;
  readonly version: string;
  readonly plural: string;
  readonly now: number;
  readonly object: JsonObject;
  readonly cells: Json[];
  readonly conditions?: Json;
}

function tableOf(...made: Parameters<typeof toTable>): JsonObject {
  return finishNow(toTable(...made));
}

const golden = JSON.parse(
  readFileSync(new URL("./rows-golden.json", import.meta.url), "utf8"),
) as GoldenRow[];

function kindAt(group: string, version: string, plural: string): KindInfo {
  const kind = builtinKinds().byResource(group, version, plural);
  if (!kind) throw new Error(`${plural}.${group}/${version} is not served`);
  return kind;
}

const deployments = kindAt("apps", "v1", "deployments");

test("rows are those the real server makes of the same objects", () => {
  for (const { group, version, plural, now, object, cells, conditions } of golden) {
    const { rows } = tableOf(kindAt(group, version, plural), [object], { now, includeObject: "None" });
    const label = `${plural} ${JSON.stringify(object.metadata)}`;
    expect(rows, label).toEqual([{ cells, object: null, ...(conditions ? { conditions } : {}) }]);
  }
});

test("every kind that is listed has as many cells as columns, even for an empty object", () => {
  for (const kind of builtinKinds().all()) {
    if (!kind.verbs.includes("list")) continue;
    const { columnDefinitions, rows } = tableOf(kind, [{}], { now: 0 }) as {
      columnDefinitions: Json[];
      rows: { cells: Json[] }[];
    };
    const extra = kind.plural === "ipaddresses" ? 1 : 0;
    expect(rows[0]?.cells, kind.plural).toHaveLength(columnDefinitions.length + extra);
  }
});

test("a row carries as much of its object as was asked for", () => {
  const object = { kind: "Deployment", apiVersion: "apps/v1", metadata: { name: "web" }, spec: {} };
  const carried = (includeObject?: "None" | "Metadata" | "Object") => {
    const table = tableOf(deployments, [object], { now: 0, ...(includeObject ? { includeObject } : {}) });
    return (table.rows as JsonObject[])[0]?.object;
  };
  expect(carried("None")).toBeNull();
  expect(carried("Object")).toEqual(object);
  expect(carried("Metadata")).toEqual(partialMetadata(object));
  expect(carried()).toEqual({
    kind: "PartialObjectMetadata",
    apiVersion: "meta.k8s.io/v1",
    metadata: { name: "web" },
  });
});

test("the header can be left out, as later events of a watch do", () => {
  const table = tableOf(deployments, [], { now: 0, columns: "none", listMetadata: { resourceVersion: "7" } });
  expect(table).toMatchObject({ metadata: { resourceVersion: "7" }, columnDefinitions: null, rows: [] });
});

test("a scale has a table of its own", () => {
  const scale = { metadata: { name: "web" }, spec: { replicas: 3 }, status: { replicas: 2 } };
  expect(scaleTable(scale, "builtin", { now: 0, includeObject: "None" }).rows).toEqual([
    { cells: ["web", 3, 2, "<unknown>"], object: null },
  ]);
});

function widgets(printerColumns?: readonly PrinterColumn[]): KindInfo {
  return {
    ...deployments,
    group: "example.com",
    kind: "Widget",
    plural: "widgets",
    origin: "custom",
    ...(printerColumns ? { printerColumns } : {}),
  };
}

test("a custom kind without columns shows its age", () => {
  const object = { metadata: { name: "a", creationTimestamp: "2026-01-01T00:00:00Z" } };
  const table = tableOf(widgets(), [object], { now: Date.UTC(2026, 0, 3), includeObject: "None" });
  expect((table.columnDefinitions as JsonObject[]).map((column) => column.name)).toEqual(["Name", "Age"]);
  expect(table.rows).toEqual([{ cells: ["a", "2d"], object: null }]);
});

test("a custom kind's cells follow the type of their column, and are null where there is nothing to show", () => {
  const column = (type: string, jsonPath: string) => ({ name: jsonPath, type, jsonPath });
  const kind = widgets([
    column("integer", ".spec.size"),
    column("integer", ".spec.text"),
    column("number", ".spec.share"),
    column("boolean", ".spec.on"),
    column("string", ".spec.object"),
    column("string", ".spec.size"),
    column("date", ".spec.since"),
    column("date", ".spec.text"),
    column("string", ".spec.items[*].name"),
    column("string", ".spec.missing"),
    column("string", '.status.conditions[?(@.type=="Ready")].status'),
    column("string", ".spec.["),
  ]);
  const object = {
    metadata: { name: "a" },
    spec: {
      size: 5,
      share: 1.5,
      text: "words",
      on: true,
      object: { a: [1, "x"] },
      since: "2026-01-01T00:00:00Z",
      items: [{ name: "first" }, { name: "second" }],
    },
    status: {
      conditions: [
        { type: "Other", status: "False" },
        { type: "Ready", status: "True" },
      ],
    },
  };
  const table = tableOf(kind, [object], { now: Date.UTC(2026, 0, 1, 0, 0, 7), includeObject: "None" });
  expect((table.rows as JsonObject[])[0]?.cells).toEqual([
    "a",
    5,
    null,
    1.5,
    true,
    '{"a":[1,"x"]}',
    "5",
    "7s",
    "<invalid>",
    "first",
    null,
    "True",
    null,
  ]);
});

const second = 1_000;
const minute = 60 * second;
const hour = 60 * minute;
const day = 24 * hour;

test.for([
  [-5 * second, "<invalid>"],
  [-1 * second, "0s"],
  [0, "0s"],
  [7 * second, "7s"],
  [119 * second, "119s"],
  [2 * minute, "2m"],
  [5 * minute + 3 * second, "5m3s"],
  [10 * minute + 3 * second, "10m"],
  [179 * minute, "179m"],
  [3 * hour, "3h"],
  [7 * hour + 5 * minute, "7h5m"],
  [47 * hour, "47h"],
  [2 * day + 4 * hour, "2d4h"],
  [7 * day, "7d"],
  [45 * day, "45d"],
  [2 * 365 * day, "2y"],
  [3 * 365 * day + 20 * day, "3y20d"],
  [9 * 365 * day + 20 * day, "9y"],
] as const)("%d ms is %s", ([ms, shown]) => {
  expect(humanDuration(ms)).toBe(shown);
});

test("no object, however odd, keeps its list from being shown", () => {
  const kinds = [...builtinKinds().all()];
  const names = [
    "metadata",
    "spec",
    "status",
    "conditions",
    "containers",
    "containerStatuses",
    "state",
    "ports",
  ];
  const odd = fc.letrec((tie) => ({
    value: fc.oneof(
      { depthSize: "small" },
      fc.constantFrom(null, true, 7, "x"),
      fc.array(tie("value"), { maxLength: 3 }),
      fc.dictionary(fc.constantFrom(...names), tie("value"), { maxKeys: 4 }),
    ),
  }));
  fc.assert(
    fc.property(
      fc.constantFrom(...kinds),
      fc.dictionary(fc.constantFrom(...names), odd.value),
      (kind, object) => {
        expect(tableOf(kind, [object as JsonObject], { now: 0 }).rows).toHaveLength(1);
      },
    ),
  );
});
