import { readFileSync } from "node:fs";
import type { AnyKind } from "@windlass/kinds";
import fc from "fast-check";
import { expect, test } from "vitest";
import { openEnvelope } from "./envelope.ts";
import { loadMessages, type MessageType, messageNamed, messageOf } from "./message-types.ts";
import { readMessage } from "./read-message.ts";
import { MalformedMessageError } from "./wire.ts";

await loadMessages();

/**
 * Objects as Kubernetes' own Go library encodes them, in base64, with the JSON it makes of them
 * again.
 */
const golden = JSON.parse(
  readFileSync(new URL("../../../control-plane/src/protobuf/messages-golden.json", import.meta.url), "utf8"),
) as [encoded: string, object: { apiVersion: string; kind: string }][];

const objects = golden.flatMap(([encoded, object]) => {
  const [version = "", group = ""] = object.apiVersion.split("/").reverse();
  const kind: AnyKind = { group, version, kind: object.kind, plural: "", scope: "Namespaced" };
  const message = messageOf(kind);
  return message ? [{ message, bytes: Buffer.from(encoded, "base64"), object }] : [];
});

/**
 * The Go library forgets the kind of objects within others, as protobuf does; a server puts it
 * back.
 */
function asServed(object: { kind: string; spec?: { volumeClaimTemplates?: object[] } }): object {
  if (object.kind !== "StatefulSet") return object;
  const volumeClaimTemplates = object.spec?.volumeClaimTemplates?.map((claim) => ({
    kind: "PersistentVolumeClaim",
    apiVersion: "v1",
    ...claim,
  }));
  return { ...object, spec: { ...object.spec, volumeClaimTemplates } };
}

function readNoting(message: MessageType, bytes: Buffer, start = 0, end = bytes.length) {
  let hasUnknown = false;
  const onUnknownField = () => {
    hasUnknown = true;
  };
  return { object: readMessage(message, bytes, start, end, { onUnknownField }), hasUnknown };
}

test("what the Go library encodes is read as the JSON it writes", () => {
  expect(objects.length).toBeGreaterThan(60);
  for (const { message, bytes, object } of objects) {
    const { start, end, kind } = openEnvelope(bytes, 0, bytes.length);
    expect(kind).toBe(object.kind);
    const { object: read, hasUnknown } = readNoting(message, bytes, start, end);
    expect({ kind: object.kind, apiVersion: object.apiVersion, ...read }).toEqual(asServed(object));
    expect(hasUnknown).toBe(false);
  }
});

const status = messageNamed("meta.v1.Status");

test("a field that is not known is left out, and reported", () => {
  const bytes = Buffer.from([0x1a, 1, 0x61, 0xf8, 0x07, 5, 0xfa, 0x07, 2, 0, 0, 0x30, 0x90, 0x03]);
  expect(readNoting(status, bytes)).toEqual({
    object: { metadata: {}, message: "a", code: 400 },
    hasUnknown: true,
  });
});

test("numbers below zero and beyond 32 bits are read as they were meant", () => {
  const probe = messageNamed("core.v1.PodSpec");
  const read = (...value: number[]) => readMessage(probe, Buffer.from([0x20, ...value]), 0, value.length + 1);
  expect(read(0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01)).toMatchObject({
    terminationGracePeriodSeconds: -1,
  });
  expect(read(0x80, 0x80, 0x80, 0x80, 0x10)).toMatchObject({ terminationGracePeriodSeconds: 2 ** 32 });
  expect(read(0x85, 0x80, 0x00)).toMatchObject({ terminationGracePeriodSeconds: 5 });
});

test("a key named after a prototype is a key like any other", () => {
  const entry = Buffer.from("\x0a\x09__proto__\x12\x01x", "latin1");
  const configMap = Buffer.concat([Buffer.from([0x12, entry.length]), entry]);
  const { data } = readMessage(messageNamed("core.v1.ConfigMap"), configMap, 0, configMap.length);
  expect(Object.entries(data as object)).toEqual([["__proto__", "x"]]);
  expect(Object.getPrototypeOf(data)).toBe(Object.prototype);
});

test("bytes that are damaged are read as something, or refused with the documented error", () => {
  const change = fc.record({
    object: fc.nat(),
    at: fc.nat(),
    byte: fc.integer({ min: 0, max: 255 }),
    cut: fc.nat(),
  });
  fc.assert(
    fc.property(change, ({ object, at, byte, cut }) => {
      const { message, bytes } = objects[object % objects.length] as (typeof objects)[number];
      const damaged = Buffer.from(bytes);
      damaged[at % damaged.length] = byte;
      const end = damaged.length - (cut % 3 === 0 ? cut % damaged.length : 0);
      try {
        const envelope = openEnvelope(damaged, 0, end);
        readMessage(message, damaged, envelope.start, envelope.end);
      } catch (error) {
        expect(error).toBeInstanceOf(MalformedMessageError);
      }
    }),
    { numRuns: 5_000 },
  );
});
