import { equal, type JsonObject } from "../../json.ts";
import { field, hasAt, itemsAt, numberAt, specOf, statusOf, textAt, textsAt } from "../../json-fields.ts";
import { timestamp } from "../../registry/metadata.ts";
import type { Strategy } from "../../registry/strategy.ts";
import { Faults, immutable } from "../../validation/faults.ts";
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
      next.status = { ...before, conditions: itemsAt(status, "conditions") };
    } else if (subresource === "status") {
      const decided = itemsAt(before, "conditions").filter((one) => decisions.includes(textAt(one, "type")));
      const others = itemsAt(status, "conditions").filter((one) => !decisions.includes(textAt(one, "type")));
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
  for (const condition of itemsAt(status, "conditions")) {
    if (textAt(condition, "status") === "") condition.status = "True";
    const old = itemsAt(before, "conditions").find(
      (one) => textAt(one, "type") === textAt(condition, "type"),
    );
    if (!hasAt(condition, "lastUpdateTime")) condition.lastUpdateTime = now;
    if (hasAt(condition, "lastTransitionTime")) continue;
    const unchanged = old && textAt(old, "status") === textAt(condition, "status");
    condition.lastTransitionTime = unchanged ? (field(old, "lastTransitionTime") ?? now) : now;
  }
}

function checkConditions(faults: Faults, next: JsonObject, live: JsonObject): void {
  const types = itemsAt(statusOf(next), "conditions").map((one) => textAt(one, "type"));
  if (types.includes("Approved") && types.includes("Denied")) {
    faults.invalid("status.conditions", "Denied", "Approved and Denied conditions are mutually exclusive");
  }
  for (const decision of [...decisions, "Failed"]) {
    const had = itemsAt(statusOf(live), "conditions").some((one) => textAt(one, "type") === decision);
    if (had && !types.includes(decision)) {
      faults.forbidden(
        "status.conditions",
        `updates may not remove a condition of type ${JSON.stringify(decision)}`,
      );
    }
  }
  const issued = textAt(statusOf(live), "certificate");
  if (issued !== "" && !equal(textAt(statusOf(next), "certificate"), issued)) {
    faults.forbidden("status.certificate", immutable);
  }
}

function requestFaults(object: JsonObject): Faults {
  const faults = new Faults();
  const spec = specOf(object);
  const request = Buffer.from(textAt(spec, "request"), "base64").toString();
  if (!request.includes("-----BEGIN CERTIFICATE REQUEST-----")) {
    faults.invalid(
      "spec.request",
      field(spec, "request") ?? null,
      "PEM block type must be CERTIFICATE REQUEST",
    );
  }
  const wanted = textsAt(spec, "usages");
  if (wanted.length === 0) faults.required("spec.usages");
  for (const [index, usage] of wanted.entries()) {
    faults.oneOf(`spec.usages[${index}]`, usage, usages);
    if (wanted.indexOf(usage) < index) faults.duplicate(`spec.usages[${index}]`, usage);
  }
  const signer = textAt(spec, "signerName");
  checkSigner(faults, "spec.signerName", signer);
  if (signer === "kubernetes.io/legacy-unknown")
    faults.invalid("spec.signerName", signer, "the legacy signerName is not allowed via this API version");
  const seconds = numberAt(spec, "expirationSeconds");
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
