import type { ManagedFieldsEntry } from "@windlass/client";
import { describe, expect, test } from "vitest";
import { FieldManagers } from "./field-managers.ts";
import { scanObject } from "./scan.ts";
import { scanMessage } from "./scan-message.ts";
import { setup, Widget } from "./test-cache.fixture.ts";

const fields = (uid: string) => ({
  "f:metadata": { "f:ownerReferences": { [`k:{"uid":"${uid}"}`]: {} } },
  "f:spec": { "f:items": { 'k:{"name":"a"}': { ".": {}, "f:name": {} }, 'v:"<&>"': {} } },
});
const status = { "f:status": { "f:phase": {} } };

const entries = (uid: string, time = "2026-01-01T00:00:00Z"): readonly ManagedFieldsEntry[] => [
  { manager: "kubectl", operation: "Update", apiVersion: "v1", time, fieldsType: "FieldsV1", fieldsV1: {} },
  { manager: "mine", operation: "Update", apiVersion: "v1", time, fieldsType: "FieldsV1", fieldsV1: status },
  {
    manager: "mine",
    operation: "Apply",
    apiVersion: "v1",
    time,
    fieldsType: "FieldsV1",
    fieldsV1: fields(uid),
  },
  {
    manager: "mine",
    operation: "Apply",
    apiVersion: "v2",
    time,
    fieldsType: "FieldsV1",
    fieldsV1: status,
    subresource: "status",
  },
];

const objectWith = (uid: string, managedFields: readonly ManagedFieldsEntry[] = entries(uid)) => ({
  metadata: {
    name: "one",
    namespace: "a",
    ownerReferences: [{ apiVersion: "v1", kind: "Owner", name: "o", uid }],
    managedFields,
  },
});

function varint(value: number): number[] {
  return value < 0x80 ? [value] : [(value % 0x80) | 0x80, ...varint(Math.floor(value / 0x80))];
}

function field(number: number, content: string | Uint8Array): Buffer {
  const bytes = Buffer.from(content as string);
  return Buffer.concat([Buffer.from([...varint(number * 8 + 2), ...varint(bytes.length)]), bytes]);
}

function messageWith(uid: string): Buffer {
  const managed = entries(uid).map(({ manager = "", operation = "", apiVersion = "", ...rest }) =>
    field(
      17,
      Buffer.concat([
        field(1, manager),
        field(2, operation),
        field(3, apiVersion),
        field(6, "FieldsV1"),
        field(7, field(1, JSON.stringify(rest.fieldsV1))),
        ...(rest.subresource ? [field(8, rest.subresource)] : []),
      ]),
    ),
  );
  const owner = field(13, Buffer.concat([field(1, "Owner"), field(4, uid)]));
  return field(1, Buffer.concat([field(1, "one"), field(3, "a"), owner, ...managed]));
}

/** The same object's entries, kept from each form that it comes in. */
function keptFrom(managers: FieldManagers, uid: string): Record<string, string> {
  const json = (text: string) => {
    const bytes = Buffer.from(text);
    const scan = scanObject(bytes, 0, bytes.length);
    if (!scan) throw new Error("it was not scanned");
    return managers.inJson(bytes, scan, [uid]);
  };
  const sorted = JSON.stringify(
    objectWith(
      uid,
      entries(uid).map(
        (entry) =>
          Object.fromEntries(
            Object.entries(entry).toSorted(([a], [b]) => (a < b ? -1 : 1)),
          ) as ManagedFieldsEntry,
      ),
    ),
  );
  const message = messageWith(uid);
  return {
    json: json(JSON.stringify(objectWith(uid))),
    "json with sorted keys": json(sorted),
    message: managers.inMessage(message, scanMessage(message, 0, message.length)),
    object: managers.inObject(objectWith(uid)),
  };
}

function tracking(...names: string[]): FieldManagers {
  const managers = new FieldManagers();
  for (const name of names) managers.track(name);
  return managers;
}

describe("of the managedFields of an object", () => {
  test("what a tracked manager applied is kept, in whatever form the object comes", () => {
    const managers = tracking("mine");
    for (const owned of Object.values(keptFrom(managers, "uid-1"))) {
      const kept = { owned, owners: ["uid-1"] };
      const ownedFields = managers.ownedFields.bind(managers);
      expect(ownedFields(kept, "mine", "")).toEqual({
        apiVersion: "v1",
        fields: fields("uid-1"),
        version: owned,
      });
      expect(ownedFields(kept, "mine", "status")).toEqual({
        apiVersion: "v2",
        fields: status,
        version: owned,
      });
      expect(ownedFields(kept, "mine", "scale")).toBeUndefined();
      expect(ownedFields(kept, "kubectl", "")).toBeUndefined();
      expect(owned).not.toContain("kubectl");
    }
  });

  test("nothing is kept of managers that are not tracked", () => {
    for (const managers of [tracking(), tracking("mine too", "min")])
      expect(Object.values(keptFrom(managers, "uid-1"))).toEqual(["", "", "", ""]);
  });

  test("what is kept is the same text for objects that differ in their owner and in the time", () => {
    const managers = tracking("mine");
    const one = keptFrom(managers, "uid-1");
    expect(keptFrom(managers, "uid-2")).toEqual(one);
    expect(managers.inObject(objectWith("uid-3", entries("uid-3", "2027-01-01T00:00:00Z")))).toBe(one.object);
  });
});

test("a cache knows what a manager owns of what the watch brought, and of what was written since", async () => {
  const { server, cache } = setup();
  cache.trackFieldManager("model");
  server.put("a", "one");
  cache.informer(Widget);
  await cache.waitForSync();
  const key = { namespace: "a", name: "one" };
  expect(cache.ownedFields(Widget, key, "model")).toBeUndefined();
  const applied: ManagedFieldsEntry = {
    manager: "model",
    operation: "Apply",
    apiVersion: "v1",
    fieldsV1: status,
  };
  const written = server.put("a", "one");
  cache.wrote(Widget, { ...written, metadata: { ...written.metadata, managedFields: [applied] } });
  expect(cache.ownedFields(Widget, key, "model")).toMatchObject({ apiVersion: "v1", fields: status });
  expect(cache.get(Widget, key)?.metadata.managedFields).toBeUndefined();
  expect(cache.ownedFields(Widget, { ...key, name: "none" }, "model")).toBeUndefined();
});
