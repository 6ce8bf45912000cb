import { ManualClock } from "@windlass/clock";
import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { CertificateError, createAuthority, expired, inspect, needsRenewal, splitBundle } from "./index.ts";

const hour = 3_600_000;
const start = Date.UTC(2026, 0, 1);
const clock = new ManualClock(start);
const authority = createAuthority({ commonName: "ca", validFor: 100 * hour, clock });
const { certificate } = authority.issue({
  commonName: "builder, O=system:masters",
  organizations: ["a+b", "c=d"],
  dnsNames: ["a.example", "*.b.example"],
  ipAddresses: ["10.0.0.1", "2001:db8::1"],
  uris: ['spiffe://x/a,DNS:b"c'],
  usages: ["client", "server"],
  validFor: 30 * hour,
});

describe("inspect", () => {
  test("shows what was asked for, syntax in names included", () => {
    expect(inspect(certificate)).toMatchObject({
      subject: { commonName: "builder, O=system:masters", organizations: ["a+b", "c=d"] },
      issuer: { commonName: "ca", organizations: [] },
      dnsNames: ["a.example", "*.b.example"],
      ipAddresses: ["10.0.0.1", "2001:DB8:0:0:0:0:0:1"],
      uris: ['spiffe://x/a,DNS:b"c'],
      usages: ["server", "client"],
      notBefore: start - 5 * 60_000,
      notAfter: start + 30 * hour,
    });
  });

  test("reads PEM with text around it, and DER", () => {
    const der = Buffer.from(certificate.replaceAll(/-----[^-]+-----/g, ""), "base64");
    expect(inspect(`subject: x\n${certificate}trailing`)).toEqual(inspect(certificate));
    expect(inspect(der)).toEqual(inspect(certificate));
  });

  test("fails with its one error on whatever is not a certificate", () => {
    const lines = certificate.split("\n");
    const mangled = fc.oneof(
      fc.string({ unit: "binary" }),
      fc.uint8Array({ maxLength: 600, size: "max" }),
      fc.integer({ min: 0, max: certificate.length }).map((cut) => certificate.slice(0, cut)),
      fc
        .tuple(fc.nat(certificate.length - 1), fc.string({ minLength: 1, maxLength: 3 }))
        .map(([at, text]) => certificate.slice(0, at) + text + certificate.slice(at + text.length)),
      fc.shuffledSubarray(lines).map((some) => some.join("\n")),
      fc.tuple(fc.nat(400), fc.nat(255)).map(([at, octet]) => {
        const der = Buffer.from(lines.slice(1, -2).join(""), "base64");
        if (at < der.length) der[at] = octet;
        return new Uint8Array(der);
      }),
    );
    fc.assert(
      fc.property(mangled, (input) => {
        try {
          expect(inspect(input)).toHaveProperty("subject");
        } catch (error) {
          expect(error).toBeInstanceOf(CertificateError);
        }
      }),
      { numRuns: 3_000 },
    );
  });
});

describe("renewal", () => {
  const seen = inspect(certificate);

  test("is due when two thirds of the life are over", () => {
    expect(needsRenewal(seen, start)).toBe(false);
    expect(needsRenewal(seen, seen.renewAt - 1)).toBe(false);
    expect(needsRenewal(seen, seen.renewAt)).toBe(true);
  });

  test("is due for a certificate that has not begun, whose clock was wrong", () => {
    expect(expired(seen, start - hour)).toBe(true);
    expect(needsRenewal(seen, start - hour)).toBe(true);
  });

  test("is due when it is over", () => {
    expect(expired(seen, seen.notAfter)).toBe(false);
    expect(expired(seen, seen.notAfter + 1)).toBe(true);
  });
});

test("a bundle splits into its certificates", () => {
  const bundle = `# old\n${authority.certificate}\n# new\n${certificate}`;
  expect(splitBundle(bundle)).toEqual([authority.certificate, certificate]);
  expect(splitBundle("nothing here")).toEqual([]);
});
