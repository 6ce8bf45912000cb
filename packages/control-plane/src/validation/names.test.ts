import fc from "fast-check";
import { expect, test } from "vitest";
import { nameFaults } from "../registry/name-faults.ts";
import { addressNumber, ipAddress, parseCidr, portName, qualifiedName } from "./names.ts";

test("an IPv4 address is its four bytes", () => {
  fc.assert(
    fc.property(fc.ipV4(), (address) => {
      const bytes = address.split(".").map(Number);
      expect(addressNumber(address)).toBe(BigInt(Buffer.from(bytes).readUInt32BE()));
    }),
  );
});

test("an IPv6 address is the same number however it is written", () => {
  expect(addressNumber("::1")).toBe(1n);
  expect(addressNumber("1::")).toBe(1n << 112n);
  expect(addressNumber("::ffff:1.2.3.4")).toBe(addressNumber("::ffff:102:304"));
  fc.assert(fc.property(fc.ipV6(), (address) => typeof addressNumber(address) === "bigint"));
});

test("any text is a CIDR or is none", () => {
  fc.assert(
    fc.property(fc.oneof(fc.string(), fc.stringMatching(/^[0-9a-f:.]{0,20}\/\d{0,4}$/)), (text) => {
      const parsed = parseCidr(text);
      if (parsed) expect(ipAddress(text.split("/")[0] as string)).toEqual([]);
    }),
  );
});

test.each([
  ["a", []],
  ["example.com/a_b", []],
  ["", ["name part must be non-empty", expect.stringContaining("name part must consist of")]],
  ["/a", ["prefix part must be non-empty"]],
  ["a/b/c", [expect.stringContaining("a qualified name must consist of")]],
])("%j as a qualified name", (name, faults) => {
  expect(qualifiedName(name)).toEqual(faults);
});

test("the names of ports are short, lower case, and have a letter", () => {
  expect(portName("http")).toEqual([]);
  expect(portName("80")).toEqual(["must contain at least one letter (a-z)"]);
  expect(portName("a--b")).toEqual(["must not contain consecutive hyphens"]);
});

test.each([
  ["1.2.3.4", []],
  ["fe80::42:1dff:fe84:f9e2", []],
  ["foo", ["must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)"]],
  ["10.0.0.01", ["must not have leading 0s"]],
  ["FE80::1", ['must be in canonical form ("fe80::1")']],
  ["fe80:0::1", ['must be in canonical form ("fe80::1")']],
  ["::ffff:1.2.3.4", ["must not be an IPv4-mapped IPv6 address"]],
])("as the name of an address, %s has the faults %j", (name, faults) => {
  expect(nameFaults(name, "address")).toEqual(faults);
});
