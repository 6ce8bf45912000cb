import fc from "fast-check";
import { expect, test } from "vitest";
import { scanEvent, scanList, scanObject } from "./scan.ts";

function cut(bytes: Buffer, start = 0, end?: number) {
  const scan = scanObject(bytes, start, end);
  if (!scan) return undefined;
  const json = Buffer.concat([
    bytes.subarray(scan.start, scan.cutStart || scan.start),
    bytes.subarray(scan.cutEnd || scan.start, scan.end),
  ]);
  return { scan, object: JSON.parse(json.toString("utf8")) as unknown };
}

const name = fc.stringMatching(/^[a-z0-9.-]{1,20}$/);
const metadata = fc.record(
  {
    annotations: fc.dictionary(fc.string({ unit: "binary" }), fc.string({ unit: "binary", maxLength: 200 })),
    labels: fc.dictionary(name, name),
    managedFields: fc.jsonValue(),
    namespace: name,
    ownerReferences: fc.array(fc.record({ uid: name, kind: fc.string() })),
    resourceVersion: fc.stringMatching(/^[1-9][0-9]{0,8}$/),
    uid: fc.uuid(),
    finalizers: fc.array(fc.string()),
  },
  { requiredKeys: [] },
);
const object = fc
  .tuple(
    metadata,
    name,
    fc.dictionary(fc.string(), fc.jsonValue(), { maxKeys: 4 }),
    fc.integer(),
    fc.constantFrom(0, 1, 2),
  )
  .map(([meta, called, rest, seed, indent]) => {
    delete rest.metadata;
    const members = Object.entries({ ...meta, name: called });
    const turned = seed % members.length;
    const value = {
      ...(seed % 2 ? rest : {}),
      metadata: Object.fromEntries([...members.slice(turned), ...members.slice(0, turned)]),
      ...(seed % 2 ? {} : rest),
    };
    return { value, json: JSON.stringify(value, undefined, indent) };
  });

test("what is left after the cut parses to the object without managedFields, wherever its members stand", () => {
  fc.assert(
    fc.property(object, ({ value, json }) => {
      const { managedFields: _, ...kept } = value.metadata as Record<string, unknown>;
      const result = cut(Buffer.from(json));
      // Keys with escapes are left to the slow path.
      if (!result) {
        expect(json).toMatch(/\\/);
        return;
      }
      const reference: unknown = JSON.parse(JSON.stringify({ ...value, metadata: kept }));
      expect(result.object).toEqual(reference);
      const { scan } = result;
      expect(scan.end).toBe(Buffer.byteLength(json));
      expect(scan.name).toBe(kept.name);
      expect(scan.namespace).toBe(kept.namespace ?? "");
      expect(scan.uid).toBe(kept.uid ?? "");
      expect(scan.resourceVersion).toBe(kept.resourceVersion ?? "");
      if (scan.labelsEnd > 0)
        expect(JSON.parse(Buffer.from(json).toString("utf8", scan.labelsStart, scan.labelsEnd))).toEqual(
          JSON.parse(JSON.stringify(kept.labels)),
        );
    }),
    { numRuns: 500 },
  );
});

test("an object in the middle of other bytes is found to its end, or up to a known one", () => {
  fc.assert(
    fc.property(object, ({ value }) => {
      const line = Buffer.from(`${JSON.stringify({ type: "MODIFIED", object: value })}`);
      const event = scanEvent(line);
      expect(event?.type).toBe("MODIFIED");
      if (!event) return;
      const open = cut(line, event.start);
      const known = cut(line, event.start, event.end);
      if (open && known) expect(known).toEqual(open);
    }),
  );
});

test("the items of a list are found without being parsed", () => {
  fc.assert(
    fc.property(fc.array(object, { maxLength: 5 }), fc.constantFrom(0, 2), (items, indent) => {
      const list = {
        kind: "List",
        metadata: { resourceVersion: "17", continue: 'a"b' },
        items: items.map((item) => item.value),
      };
      const bytes = Buffer.from(JSON.stringify(list, undefined, indent));
      const scanned = scanList(bytes);
      expect(scanned?.resourceVersion).toBe("17");
      expect(scanned?.continue).toBe('a"b');
      const found: unknown[] = [];
      for (let at = 0; at < (scanned?.items.length ?? 0); at += 2)
        found.push(JSON.parse(bytes.toString("utf8", scanned?.items[at], scanned?.items[at + 1])));
      expect(found).toEqual(JSON.parse(JSON.stringify(list.items)));
    }),
  );
});

test("an empty list, and one whose items are null, has none", () => {
  expect(scanList(Buffer.from('{"metadata":{"resourceVersion":"5"},"items":[]}'))).toEqual({
    resourceVersion: "5",
    continue: "",
    items: [],
  });
  expect(scanList(Buffer.from('{"items":null,"metadata":{"resourceVersion":"5"}}'))?.items).toEqual([]);
});

test("bytes that are no JSON never crash it", () => {
  const cutShort = object.chain(({ json }) => fc.nat(json.length).map((end) => json.slice(0, end)));
  const spoilt = fc.tuple(object, fc.nat(), fc.nat(255)).map(([{ json }, at, byte]) => {
    const bytes = Buffer.from(json);
    bytes[at % bytes.length] = byte;
    return bytes;
  });
  fc.assert(
    fc.property(
      fc.oneof(
        cutShort.map((s) => Buffer.from(s)),
        spoilt,
        fc.uint8Array().map((a) => Buffer.from(a)),
      ),
      (bytes) => {
        scanObject(bytes, 0);
        scanObject(bytes, 0, bytes.length);
        scanEvent(bytes);
        scanList(bytes);
      },
    ),
    { numRuns: 1000 },
  );
});

test("long strings, escapes and multi-byte characters do not lead it astray", () => {
  const value = {
    data: { long: `${"x".repeat(60)}\\"}{[]"${"\\".repeat(99)}`, wide: "日本語 🚀".repeat(30) },
    metadata: {
      managedFields: [{ fieldsV1: { 'k:{"a":"}"}': {} } }],
      name: "n",
      annotations: { a: '"metadata":{' },
    },
    zeta: [1, true, null, -1.5e3],
  };
  const result = cut(Buffer.from(JSON.stringify(value)));
  expect(result?.object).toEqual({
    ...value,
    metadata: { name: "n", annotations: { a: '"metadata":{' } },
  });
});
