import fc from "fast-check";
import { expect, test } from "vitest";
import { StatusError } from "../status.ts";
import { golden } from "./golden.fixture.ts";
import { decodeProtobuf } from "./index.ts";

const configMap = { group: "", version: "v1", kind: "ConfigMap" };
const magic = Buffer.from("k8s\0", "latin1");

function refusal(data: Uint8Array): string {
  try {
    decodeProtobuf(data, configMap);
  } catch (error) {
    if (error instanceof StatusError && error.code === 400) return error.message;
    throw error;
  }
  throw new Error("was not refused");
}

/** An envelope of a ConfigMap around a body. */
function enveloped(...body: readonly number[]): Buffer {
  const typeMeta = Buffer.from("\x0a\x0f\x0a\x02v1\x12\x09ConfigMap", "latin1");
  return Buffer.concat([magic, typeMeta, Buffer.from([0x12, body.length, ...body])]);
}

test("what the Go library encodes is read as the JSON it writes, keys in its order", () => {
  for (const [encoded, object] of golden) {
    const [version = "", group = ""] = object.apiVersion.split("/").reverse();
    const expected = { group, version, kind: object.kind };
    const decoded = decodeProtobuf(Buffer.from(encoded, "base64"), expected);
    expect(JSON.stringify(decoded)).toBe(JSON.stringify(object));
  }
});

test("a body that does not say what it is, is what the request is for", () => {
  const body = Buffer.concat([magic, Buffer.from([0x12, 0x05, 0x0a, 0x03, 0x0a, 0x01, 0x61])]);
  expect(decodeProtobuf(body, configMap)).toEqual({
    kind: "ConfigMap",
    apiVersion: "v1",
    metadata: { name: "a" },
  });
});

test("what cannot be opened is refused with an excerpt, in the real server's words", () => {
  const prefix = "the object provided is unrecognized (must be of type ConfigMap): ";
  expect(refusal(Buffer.from("abc"))).toBe(
    `${prefix}provided data does not appear to be a protobuf message, expected prefix [107 56 115 0] (616263)`,
  );
  expect(refusal(Buffer.alloc(0))).toBe(`${prefix}empty data (<empty>)`);
  expect(refusal(magic)).toBe(`${prefix}empty body (6b387300)`);
  expect(refusal(Buffer.concat([magic, Buffer.from([0xff, 0xff])]))).toBe(
    `${prefix}unexpected EOF (6b387300ffff)`,
  );
});

test("what cannot be read is refused by kind", () => {
  const prefix = 'ConfigMap in version "v1" cannot be handled as a ConfigMap: ';
  expect(refusal(enveloped(0x0a, 0x05))).toBe(`${prefix}unexpected EOF`);
  expect(refusal(enveloped(0x08, 0x05))).toBe(`${prefix}proto: wrong wireType = 0 for field ObjectMeta`);
});

test("a schema nested without end is refused before the stack is", () => {
  let schema = Buffer.alloc(0);
  for (let depth = 0; depth < 20_000; depth++) {
    // Field 28 is `not`, a schema itself.
    schema = Buffer.concat([Buffer.from([0xe2, 0x01]), lengthOf(schema), schema]);
    if (schema.length > 40_000) break;
  }
  const wrap = (field: number, inner: Buffer) =>
    Buffer.concat([Buffer.from([field]), lengthOf(inner), inner]);
  const definition = wrap(0x12, wrap(0x3a, wrap(0x22, wrap(0x0a, schema))));
  const data = Buffer.concat([magic, wrap(0x12, definition)]);
  const kind = { group: "apiextensions.k8s.io", version: "v1", kind: "CustomResourceDefinition" };
  expect(() => decodeProtobuf(data, kind)).toThrow("nested too deep");
});

function lengthOf(bytes: Buffer): Buffer {
  const digits: number[] = [];
  for (let rest = bytes.length; ; rest >>>= 7) {
    if (rest < 0x80) return Buffer.from([...digits, rest]);
    digits.push((rest & 0x7f) | 0x80);
  }
}

test("damaged bodies are read or refused with 400, never anything else", () => {
  const damage = fc.array(fc.tuple(fc.nat(), fc.nat(255)), { minLength: 1, maxLength: 6 });
  fc.assert(
    fc.property(fc.constantFrom(...golden), damage, fc.nat(), ([encoded, object], bytes, cut) => {
      const data = Buffer.from(encoded, "base64");
      for (const [at, byte] of bytes) data[4 + (at % (data.length - 4))] = byte;
      const end = cut % 3 === 0 ? cut % data.length : data.length;
      try {
        decodeProtobuf(data.subarray(0, end), { group: "", version: "v1", kind: object.kind });
      } catch (error) {
        expect(error).toBeInstanceOf(StatusError);
        expect(error).toHaveProperty("code", 400);
      }
    }),
    { numRuns: 2_000 },
  );
});

test("any bytes are read or refused", () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 60, size: "max" }), (bytes) => {
      for (const data of [bytes, Buffer.concat([magic, bytes]), enveloped(...bytes)]) {
        try {
          decodeProtobuf(data, configMap);
        } catch (error) {
          expect(error).toBeInstanceOf(StatusError);
        }
      }
    }),
    { numRuns: 500 },
  );
});
