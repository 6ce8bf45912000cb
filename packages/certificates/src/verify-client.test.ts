import { ManualClock } from "@windlass/clock";
import * as fc from "fast-check";
import { expect, test } from "vitest";
import { createAuthority, type LeafInit, loadAuthority, provesClient } from "./index.ts";
import { odd } from "./odd-certificates.fixture.ts";

const hour = 3_600_000;
const now = Date.UTC(2027, 0, 1);
const clock = new ManualClock(now);
const authority = createAuthority({ commonName: "ca", validFor: 100 * hour, clock });
const der = (pem: string) => Buffer.from(pem.replaceAll(/-----[^-]+-----/g, ""), "base64");
const issued = (usages: LeafInit["usages"], by = authority) =>
  by.issue({ commonName: "jane", usages, validFor: hour }).certificate;
const proves = (certificate: string, roots = authority.certificate, at = now) =>
  provesClient(der(certificate), { roots, now: at });

test("a certificate for clients, for anything, or for nothing in particular proves a client", () => {
  for (const usages of [["client"], ["server", "client"], []] as const)
    expect(proves(issued(usages))).toBe(true);
  expect(proves(issued(["server"]))).toBe(false);
  expect(proves(odd.anything, odd.root)).toBe(true);
});

test("it must hold, and so must the authority", () => {
  expect(proves(issued(["client"]), authority.certificate, now + 2 * hour)).toBe(false);
  expect(proves(issued(["client"]), authority.certificate, now - hour)).toBe(false);
  const later = createAuthority({
    commonName: "later",
    validFor: 100 * hour,
    clock: { now: () => now + 10 * hour },
  });
  const early = loadAuthority(later.certificate, later.key, { clock });
  expect(proves(issued(["client"], early), later.certificate)).toBe(false);
});

test("a certificate that is trusted itself needs no issuer, but must be for clients", () => {
  const stranger = createAuthority({ commonName: "stranger", validFor: hour, clock });
  for (const usages of [["client"], []] as const) {
    const itself = issued(usages, stranger);
    expect(proves(itself)).toBe(false);
    expect(proves(itself, authority.certificate + itself)).toBe(true);
  }
  const server = issued(["server"], stranger);
  expect(proves(server, server)).toBe(false);
});

test("only authorities sign, and only those for clients", () => {
  expect(proves(odd.leaf, odd.leaf)).toBe(true);
  expect(proves(odd.byLeaf, odd.leaf)).toBe(false);
  expect(proves(odd.byVersion1, odd.version1)).toBe(true);
  expect(proves(odd.byServersRoot, odd.serversRoot)).toBe(false);
  const namesake = createAuthority({ commonName: "ca", validFor: hour, clock });
  expect(proves(issued(["client"], namesake))).toBe(false);
  expect(proves(issued(["client"], namesake), authority.certificate + namesake.certificate)).toBe(true);
});

test("broken signatures and unknown critical extensions prove nothing", () => {
  expect(proves(odd.sha1, odd.root)).toBe(false);
  expect(proves(odd.unknownCritical, odd.root)).toBe(false);
});

test("a chain that TLS has found stands for the issuer, and for nothing else", () => {
  const stranger = createAuthority({ commonName: "stranger", validFor: hour, clock });
  const chained = (usages: LeafInit["usages"], at = now) =>
    provesClient(der(issued(usages, stranger)), { roots: authority.certificate, now: at, isChained: true });
  expect(chained(["client"])).toBe(true);
  expect(chained(["server"])).toBe(false);
  expect(chained(["client"], now + 2 * hour)).toBe(false);
});

test("what is no certificate proves nothing, whatever it is", () => {
  const good = der(issued(["client"]));
  const mangled = fc.oneof(
    fc.uint8Array({ maxLength: 600, size: "max" }),
    fc.tuple(fc.nat(good.length - 1), fc.integer({ min: 1, max: 255 })).map(([at, change]) => {
      const bytes = Buffer.from(good);
      bytes[at] = (bytes[at] ?? 0) ^ change;
      return bytes;
    }),
  );
  fc.assert(
    fc.property(mangled, (bytes) => {
      expect(provesClient(bytes, { roots: authority.certificate, now })).toBe(false);
    }),
  );
  expect(provesClient(good, { roots: "", now })).toBe(false);
  expect(
    provesClient(good, { roots: "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n", now }),
  ).toBe(false);
});
