import { X509Certificate } from "node:crypto";
import { createAuthority } from "@windlass/certificates";
import { expect, test } from "vitest";
import { certificateCondition, validityOf } from "./validity.ts";

const hour = 3_600_000;
const day = 24 * hour;
const start = Date.parse("2026-06-01T00:00:00Z");
const clock = { now: () => start };
const authorityFor = (validFor: number) => createAuthority({ commonName: "authority", validFor, clock });
const name = "the certificate";

/** What is reported of a certificate some time after it was signed. */
function said(
  { authority: authorityMs = 3_650 * day, leaf: leafMs = 90 * day, refusal = "" },
  after: number,
) {
  const authority = authorityFor(authorityMs);
  const leaf = authority.issue({
    commonName: "set",
    dnsNames: ["set"],
    usages: ["server"],
    validFor: leafMs,
  });
  const others = authorityFor(day).certificate;
  const validity = validityOf(
    name,
    new X509Certificate(leaf.certificate),
    `no certificate\n${others}\n${authority.certificate}`,
  );
  return certificateCondition(validity, refusal === "" ? {} : { refusal }, start + after);
}

test.for<readonly [string, Parameters<typeof said>[0], number, object]>([
  ["is valid", {}, day, { status: "True", message: `${name} is valid until 2026-08-30T00:00:00.000Z` }],
  ["is still valid when cert-manager renews it", {}, 60 * day, { status: "True" }],
  [
    "should have been renewed in its last sixth",
    {},
    76 * day,
    {
      status: "False",
      reason: "CertificateExpiring",
      message: `${name} runs out at 2026-08-30T00:00:00.000Z, and has not been renewed`,
    },
  ],
  ["of a day is short-lived, and is left alone", { leaf: day }, 19 * hour, { status: "True" }],
  ["of a day that is not renewed", { leaf: day }, 21 * hour, { reason: "CertificateExpiring" }],
  [
    "of ten years is left alone for all but its last month",
    { leaf: 3_650 * day },
    3_600 * day,
    { status: "True" },
  ],
  ["of ten years in its last month", { leaf: 3_650 * day }, 3_630 * day, { reason: "CertificateExpiring" }],
  ["has run out", {}, 91 * day, { status: "False", reason: "CertificateExpired" }],
  [
    "is refused",
    { refusal: "UNABLE_TO_VERIFY_LEAF_SIGNATURE" },
    day,
    {
      reason: "CertificateRefused",
      message: `others of the set do not take ${name}: UNABLE_TO_VERIFY_LEAF_SIGNATURE`,
    },
  ],
])("a certificate %s", ([, given, after, wanted]) => {
  expect(said(given, after)).toMatchObject(wanted);
});

test("an authority that runs out before the certificate is named", () => {
  const old = authorityFor(90 * day);
  // Certificates made here never outlive their authority: its own is made to end first.
  const [leaf, authority] = [
    { validFrom: "2026-06-01T00:00:00Z", validTo: "2027-06-01T00:00:00Z", checkIssued: () => true },
    old.certificate,
  ];
  const validity = validityOf(name, leaf as unknown as X509Certificate, authority);
  expect(validity).toMatchObject({
    of: `the authority that signed ${name}`,
    untilMs: start + 90 * day,
  });
});
