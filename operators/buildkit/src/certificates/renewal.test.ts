import { ManualClock } from "@windlass/clock";
import { expect, test } from "vitest";
import { addAuthority, signingAuthority } from "./authorities.ts";
import { gatewayNames } from "./names.ts";
import { gatewayCertificate } from "./profiles.ts";
import { certificateStep, type WantedCertificate } from "./renewal.ts";

const start = Date.UTC(2026, 0, 1);
const minute = 60_000;
const pool = { namespace: "builds", name: "ci" };
const names = gatewayNames(pool, ["buildkit.example.com", "2001:db8::7"]);

function authority() {
  const clock = new ManualClock(start);
  const found = signingAuthority(addAuthority([], "clients", clock), clock);
  if (!found) throw new Error("an authority that signs");
  return found;
}

const signer = authority();
const wanted: WantedCertificate = { names, issuer: signer.certificate };
const present = gatewayCertificate(signer, { pool, names, validFor: 10 * minute });

test("a certificate is replaced so long before its end as was asked for", () => {
  const asked: WantedCertificate = { ...wanted, rotateBefore: "4m" };
  expect(certificateStep(present, asked, start)).toEqual({ do: "keep", until: start + 6 * minute });
  expect(certificateStep(present, asked, start + 6 * minute - 1).do).toBe("keep");
  expect(certificateStep(present, asked, start + 6 * minute)).toEqual({ do: "issue", why: "due" });
});

test("a certificate is not due as soon as it is made, however long before its end it should be replaced", () => {
  const asked: WantedCertificate = { ...wanted, rotateBefore: "720h" };
  const step = certificateStep(present, asked, start);
  expect(step).toEqual({ do: "keep", until: start + 2.5 * minute });
});

test("a certificate is replaced after two thirds of its life unless said otherwise", () => {
  expect(certificateStep(present, wanted, start)).toEqual({ do: "keep", until: start + 5 * minute });
});

test.for<[string, Parameters<typeof certificateStep>[0], Partial<WantedCertificate>, number]>([
  ["missing", undefined, {}, start],
  ["unusable", { certificate: "x", key: present.key }, {}, start],
  ["unusable", { certificate: present.certificate, key: "x" }, {}, start],
  ["unusable", { certificate: present.certificate, key: signer.key }, {}, start],
  ["expired", present, {}, start + 11 * minute],
  ["expired", present, {}, start - 6 * minute],
  ["names", present, { names: gatewayNames(pool, ["other.example.com", "2001:db8::7"]) }, start],
  ["names", present, { names: gatewayNames(pool, ["buildkit.example.com", "2001:db8::8"]) }, start],
  ["names", present, { names: gatewayNames(pool) }, start],
  ["issuer", present, { issuer: authority().certificate }, start],
])("a certificate is replaced at once: %s", ([why, pair, change, now]) => {
  expect(certificateStep(pair, { ...wanted, ...change }, now)).toEqual({ do: "issue", why });
});
