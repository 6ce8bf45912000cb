import { equal, type JsonObject } from "../../json.ts";
import { timestamp } from "../../registry/metadata.ts";
import type { Strategy } from "../../registry/strategy.ts";
import { Faults, immutable } from "../../validation/faults.ts";
import { has, items, number, own, specOf, statusOf, text, texts } from "../../validation/fields.ts";
import { ensure, put } from "../../validation/fill.ts";
import { dnsSubdomain } from "../../validation/names.ts";

const usages = [
  "any",
  "cert sign",
  "client auth",
  "code signing",
  "content commitment",
  "crl sign",
  "data encipherment",
  "decipher only",
  "digital signature",
  "email protection",
  "encipher only",
  "ipsec end system",
  "ipsec tunnel",
  "ipsec user",
  "key agreement",
  "key encipherment",
  "microsoft sgc",
  "netscape sgc",
  "ocsp signing",
  "s/mime",
  "server auth",
  "signing",
  "timestamping",
];
const decisions = ["Approved", "Denied"];

/** Who asks is put down by admission, which knows the user. */
export const certificateSigningRequest: Strategy = {
  selectableFields: ["spec.signerName"],
  prepareCreate: (object) => {
    object.status = {};
  },
  prepareUpdate: (next, live, { subresource, clock }) => {
    const status = ensure(next, "status");
    const before = statusOf(live);
    if (subresource === "approval") {
      // Only conditions, and of the rest nothing.
      put(next, "spec", live.spec);
      next.status = { ...before, conditions: items(status, "conditions") };
    } else if (subresource === "status") {
      const decided = items(before, "conditions").filter((one) => decisions.includes(text(one, "type")));
      const others = items(status, "conditions").filter((one) => !decisions.includes(text(one, "type")));
      if (decided.length + others.length > 0) status.conditions = [...decided, ...others];
    } else put(next, "spec", live.spec);
    stampConditions(statusOf(next), before, timestamp(clock));
  },
  validate: (object) => requestFaults(object).causes,
  validateUpdate: (next, live, { subresource }) => {
    const faults = new Faults();
    if (subresource === undefined) return faults.causes;
    checkConditions(faults, next, live);
    return faults.causes;
  },
};

function stampConditions(status: JsonObject, before: JsonObject, now: string): void {
  for (const condition of items(status, "conditions")) {
    if (text(condition, "status") === "") condition.status = "True";
    const old = items(before, "conditions").find((one) => text(one, "type") === text(condition, "type"));
    if (!has(condition, "lastUpdateTime")) condition.lastUpdateTime = now;
    if (has(condition, "lastTransitionTime")) continue;
    const unchanged = old && text(old, "status") === text(condition, "status");
    condition.lastTransitionTime = unchanged ? (own(old, "lastTransitionTime") ?? now) : now;
  }
}

function checkConditions(faults: Faults, next: JsonObject, live: JsonObject): void {
  const types = items(statusOf(next), "conditions").map((one) => text(one, "type"));
  if (types.includes("Approved") && types.includes("Denied")) {
    faults.invalid("status.conditions", "Denied", "Approved and Denied conditions are mutually exclusive");
  }
  for (const decision of [...decisions, "Failed"]) {
    const had = items(statusOf(live), "conditions").some((one) => text(one, "type") === decision);
    if (had && !types.includes(decision)) {
      faults.forbidden(
        "status.conditions",
        `updates may not remove a condition of type ${JSON.stringify(decision)}`,
      );
    }
  }
  const issued = text(statusOf(live), "certificate");
  if (issued !== "" && !equal(text(statusOf(next), "certificate"), issued)) {
    faults.forbidden("status.certificate", immutable);
  }
}

function requestFaults(object: JsonObject): Faults {
  const faults = new Faults();
  const spec = specOf(object);
  const request = Buffer.from(text(spec, "request"), "base64").toString();
  if (!request.includes("-----BEGIN CERTIFICATE REQUEST-----")) {
    faults.invalid(
      "spec.request",
      own(spec, "request") ?? null,
      "PEM block type must be CERTIFICATE REQUEST",
    );
  }
  const wanted = texts(spec, "usages");
  if (wanted.length === 0) faults.required("spec.usages");
  for (const [index, usage] of wanted.entries()) {
    faults.oneOf(`spec.usages[${index}]`, usage, usages);
    if (wanted.indexOf(usage) < index) faults.duplicate(`spec.usages[${index}]`, usage);
  }
  const signer = text(spec, "signerName");
  checkSigner(faults, "spec.signerName", signer);
  if (signer === "kubernetes.io/legacy-unknown")
    faults.invalid("spec.signerName", signer, "the legacy signerName is not allowed via this API version");
  const seconds = number(spec, "expirationSeconds");
  if (seconds !== undefined && seconds < 600) {
    faults.invalid(
      "spec.expirationSeconds",
      seconds,
      "may not specify a duration less than 600 seconds (10 minutes)",
    );
  }
  return faults;
}

function checkSigner(faults: Faults, at: string, name: string): void {
  if (name === "") {
    faults.required(at);
    return;
  }
  const [domain = "", path, ...more] = name.split("/");
  if (path === undefined || more.length > 0) {
    faults.invalid(
      at,
      name,
      "must be a fully qualified domain and path of the form 'example.com/signer-name'",
    );
    return;
  }
  for (const why of dnsSubdomain(domain))
    faults.invalid(at, domain, `validating label ${JSON.stringify(domain)}: ${why}`);
  if (!domain.includes("."))
    faults.invalid(at, domain, "should be a domain with at least two segments separated by dots");
  for (const why of dnsSubdomain(path))
    faults.invalid(at, path, `validating label ${JSON.stringify(path)}: ${why}`);
}
