import { MalformedMessageError } from "@windlass/client/protobuf";
import fc from "fast-check";
import { expect, test } from "vitest";
import { boolean, bytes, double, integer, message, nested, repeated, text, textMap } from "./message.ts";

const Inner = message({ name: [1, text], count: [2, integer] });
const Everything = message({
  flag: [1, boolean],
  count: [2, integer],
  ratio: [3, double],
  name: [4, text],
  data: [5, bytes],
  inner: [6, nested(Inner)],
  names: [7, repeated(text)],
  inners: [16, repeated(Inner)],
  labels: [2_000, textMap],
});

const inner = fc.record({ name: fc.string({ unit: "binary" }), count: fc.maxSafeInteger() });
const everything = fc.record({
  flag: fc.boolean(),
  count: fc.maxSafeInteger(),
  ratio: fc.double({ noNaN: true }),
  name: fc.string({ unit: "binary" }),
  data: fc.uint8Array().map((data) => Buffer.from(data)),
  inner: fc.option(inner, { nil: undefined }),
  names: fc.array(fc.string()),
  inners: fc.array(inner),
  labels: fc.dictionary(fc.string(), fc.string(), { noNullPrototype: true }),
});

test("what is written is read again, every field of it", () => {
  fc.assert(
    fc.property(everything, (value) => {
      expect(Everything.decode(Everything.encode(value))).toEqual(value);
    }),
  );
});

test("a message of any bytes is read or refused, never anything else", () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 80, size: "max" }), (data) => {
      try {
        Everything.decode(data);
      } catch (error) {
        expect(error).toBeInstanceOf(MalformedMessageError);
      }
    }),
    { numRuns: 3_000 },
  );
});

test("a damaged message is read or refused, never anything else", () => {
  const damage = fc.array(fc.tuple(fc.nat(), fc.nat(255)), { minLength: 1, maxLength: 5 });
  fc.assert(
    fc.property(everything, damage, fc.nat(), (value, changes, cut) => {
      const data = Everything.encode({ ...value, flag: true });
      for (const [at, byte] of changes) data[at % data.length] = byte;
      try {
        Everything.decode(data.subarray(0, cut % 2 === 0 ? cut % data.length : data.length));
      } catch (error) {
        expect(error).toBeInstanceOf(MalformedMessageError);
      }
    }),
    { numRuns: 1_000 },
  );
});

test("fields that are not known are passed over", () => {
  const data = Everything.encode({ count: 7, ratio: 0.5, name: "a", inners: [{ name: "b", count: 1 }] });
  expect(message({ name: [4, text] }).decode(data)).toEqual({ name: "a" });
});

test("what is left out has its default; an empty message within a message is there", () => {
  const empty = {
    flag: false,
    count: 0,
    ratio: 0,
    name: "",
    data: Buffer.alloc(0),
    names: [],
    inners: [],
    labels: {},
  };
  expect(Everything.decode(Buffer.alloc(0))).toEqual({ ...empty, inner: undefined });
  expect(Everything.decode(Buffer.from([0x32, 0x00]))).toEqual({ ...empty, inner: { name: "", count: 0 } });
});

test("the bytes are those of protobuf", () => {
  // Values of the format's own documentation.
  expect(
    message({ a: [1, integer] })
      .encode({ a: 150 })
      .toString("hex"),
  ).toBe("089601");
  expect(
    message({ b: [2, text] })
      .encode({ b: "testing" })
      .toString("hex"),
  ).toBe("120774657374696e67");
  expect(
    message({ a: [1, integer] })
      .encode({ a: -2 })
      .toString("hex"),
  ).toBe("08feffffffffffffffff01");
});

test("a list of many is read in a time that grows with their number", () => {
  const List = message({ names: [1, repeated(text)] });
  const names = Array.from({ length: 200_000 }, (_, index) => String(index));
  expect(List.decode(List.encode({ names })).names).toHaveLength(200_000);
});
