import { ManualClock } from "@windlass/clock";
import { expect, test } from "vitest";
import { createAuthority, type LeafInit, provesServer } from "./index.ts";
import { odd } from "./odd-certificates.fixture.ts";

const hour = 3_600_000;
const now = Date.UTC(2027, 0, 1);
const clock = new ManualClock(now);
const authority = createAuthority({ commonName: "ca", validFor: 100 * hour, clock });
const der = (pem: string) => Buffer.from(pem.replaceAll(/-----[^-]+-----/g, ""), "base64");
const issued = (usages: LeafInit["usages"], by = authority) =>
  by.issue({ commonName: "server", usages, validFor: hour }).certificate;
const proves = (chain: readonly string[], roots = authority.certificate, at = now) =>
  provesServer(chain.map(der), { roots, now: at });

test("a certificate for servers, for anything, or for nothing in particular proves a server", () => {
  for (const usages of [["server"], ["server", "client"], []] as const)
    expect(proves([issued(usages)])).toBe(true);
  expect(proves([issued(["client"])])).toBe(false);
  expect(proves([odd.anything], odd.root)).toBe(true);
});

test("an authority that is trusted proves itself", () => {
  expect(proves([authority.certificate])).toBe(true);
  const namesake = createAuthority({ commonName: "ca", validFor: hour, clock });
  expect(proves([namesake.certificate])).toBe(false);
});

test("those that signed it may come with it, in any order", () => {
  expect(proves([odd.byServersRoot], odd.root)).toBe(false);
  expect(proves([odd.anything, odd.version1, odd.root], odd.root)).toBe(true);
  expect(proves([odd.byLeaf, odd.leaf], odd.leaf)).toBe(false);
});

test("it must hold, and be signed with what is not broken", () => {
  expect(proves([issued(["server"])], authority.certificate, now + 2 * hour)).toBe(false);
  expect(proves([odd.sha1], odd.root)).toBe(false);
  expect(proves([odd.unknownCritical], odd.root)).toBe(false);
});

test("what is no certificate proves nothing", () => {
  expect(provesServer([], { roots: authority.certificate, now })).toBe(false);
  expect(provesServer([new Uint8Array(9)], { roots: authority.certificate, now })).toBe(false);
  expect(proves([issued(["server"])], "nonsense")).toBe(false);
});
