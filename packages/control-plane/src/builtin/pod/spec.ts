import { type JsonObject, textOf } from "../../json.ts";
import { field, hasAt, itemsAt, numberAt, objectAt, textAt, textsAt } from "../../json-fields.ts";
import type { Steps } from "../../steps.ts";
import { checkRequirements, notNegative } from "../../validation/amounts.ts";
import type { Faults } from "../../validation/faults.ts";
import { internal } from "../../validation/go-value.ts";
import {
  checkAnnotations,
  checkLabels,
  dnsLabel,
  dnsSubdomain,
  ipAddress,
  qualifiedName,
} from "../../validation/names.ts";
import { checkContainers } from "./containers.ts";
import { checkAffinity, checkSpread, checkTolerations } from "./scheduling.ts";
import { checkPodSecurity } from "./security-context.ts";
import { checkVolumes } from "./volumes.ts";

const dnsPolicies = ["ClusterFirstWithHostNet", "ClusterFirst", "Default", "None"];
const mostSeconds = 2147483647;

/** A pod's spec, wherever it stands. */
export function* checkPodSpec(faults: Faults, at: string, spec: JsonObject): Steps<void> {
  const volumes = checkVolumes(faults, `${at}.volumes`, itemsAt(spec, "volumes"));
  checkResourceClaims(faults, `${at}.resourceClaims`, itemsAt(spec, "resourceClaims"));
  yield* checkContainers(faults, at, spec, {
    volumes,
    claims: itemsAt(spec, "resourceClaims").map((claim) => textAt(claim, "name")),
    grace: numberAt(spec, "terminationGracePeriodSeconds") ?? 0,
    hostNetwork: spec.hostNetwork === true,
    restartPolicy: textAt(spec, "restartPolicy"),
  });
  if (hasAt(spec, "resources")) checkRequirements(faults, `${at}.resources`, objectAt(spec, "resources"));
  const restart = textAt(spec, "restartPolicy");
  if (restart === "") faults.required(`${at}.restartPolicy`);
  else faults.oneOf(`${at}.restartPolicy`, restart, ["Always", "OnFailure", "Never"]);
  const dns = textAt(spec, "dnsPolicy");
  if (dns === "") faults.required(`${at}.dnsPolicy`);
  else faults.oneOf(`${at}.dnsPolicy`, dns, dnsPolicies);
  checkLabels(faults, `${at}.nodeSelector`, spec, "nodeSelector");
  checkPodSecurity(faults, at, spec);
  checkAffinity(faults, `${at}.affinity`, objectAt(spec, "affinity"));
  checkDns(faults, `${at}.dnsConfig`, spec);
  for (const [index, gate] of itemsAt(spec, "readinessGates").entries()) {
    const type = textAt(gate, "conditionType");
    faults.each(`${at}.readinessGates[${index}].conditionType`, type, qualifiedName(type));
  }
  checkSchedulingGates(faults, `${at}.schedulingGates`, itemsAt(spec, "schedulingGates"));
  checkSpread(faults, `${at}.topologySpreadConstraints`, itemsAt(spec, "topologySpreadConstraints"));
  checkHostUsers(faults, at, spec);
  for (const [part, form] of [
    ["serviceAccountName", dnsSubdomain],
    ["nodeName", dnsSubdomain],
  ] as const) {
    const value = textAt(spec, part);
    if (value !== "") faults.each(`${at}.${part}`, value, form(value));
  }
  const deadline = numberAt(spec, "activeDeadlineSeconds");
  if (deadline !== undefined && (deadline < 1 || deadline > mostSeconds)) {
    faults.invalid(
      `${at}.activeDeadlineSeconds`,
      deadline,
      `must be between 1 and ${mostSeconds}, inclusive`,
    );
  }
  for (const part of ["hostname", "subdomain"]) {
    const value = textAt(spec, part);
    if (value !== "") faults.each(`${at}.${part}`, value, dnsLabel(value));
  }
  checkTolerations(faults, `${at}.tolerations`, itemsAt(spec, "tolerations"));
  checkHostAliases(faults, `${at}.hostAliases`, itemsAt(spec, "hostAliases"));
  for (const part of ["priorityClassName", "runtimeClassName"]) {
    const value = textAt(spec, part);
    if (value !== "") faults.each(`${at}.${part}`, value, dnsSubdomain(value));
  }
  if (hasAt(spec, "preemptionPolicy")) {
    const policy = textAt(spec, "preemptionPolicy");
    if (policy === "") faults.required(`${at}.preemptionPolicy`);
    else faults.oneOf(`${at}.preemptionPolicy`, policy, ["PreemptLowerPriority", "Never"]);
  }
  for (const [name, value] of Object.entries(objectAt(spec, "overhead"))) {
    notNegative(faults, `${at}.overhead[${name}]`, value);
  }
  if (hasAt(spec, "os")) {
    const os = textAt(objectAt(spec, "os"), "name");
    if (os === "") faults.required(`${at}.os.name`);
    else faults.oneOf(`${at}.os`, os, ["linux", "windows"]);
  }
}

/**
 * A template: its labels and annotations, and the spec. The real server leaves `metadata` out of
 * the paths.
 */
export function* checkPodTemplate(faults: Faults, at: string, template: JsonObject): Steps<void> {
  const metadata = objectAt(template, "metadata");
  checkLabels(faults, `${at}.labels`, metadata);
  checkAnnotations(faults, `${at}.annotations`, metadata);
  yield* checkPodSpec(faults, `${at}.spec`, objectAt(template, "spec"));
  if (itemsAt(objectAt(template, "spec"), "ephemeralContainers").length > 0) {
    faults.forbidden(`${at}.spec.ephemeralContainers`, "ephemeral containers not allowed in pod template");
  }
}

function checkResourceClaims(faults: Faults, at: string, claims: readonly JsonObject[]): void {
  const names = new Set<string>();
  for (const [index, claim] of claims.entries()) {
    const path = `${at}[${index}]`;
    const name = textAt(claim, "name");
    if (name === "") faults.required(`${path}.name`);
    else if (names.has(name)) faults.duplicate(`${path}.name`, name);
    else faults.each(`${path}.name`, name, dnsLabel(name));
    names.add(name);
    const used = ["resourceClaimName", "resourceClaimTemplateName"].filter((part) => hasAt(claim, part));
    if (used.length !== 1) {
      faults.invalid(
        path,
        internal("PodResourceClaim", claim),
        used.length === 0
          ? "must specify one of: `resourceClaimName`, `resourceClaimTemplateName`"
          : "at most one of `resourceClaimName` or `resourceClaimTemplateName` may be specified",
      );
    }
  }
}

function checkHostUsers(faults: Faults, at: string, spec: JsonObject): void {
  if (spec.hostUsers !== false) return;
  for (const part of ["hostNetwork", "hostPID", "hostIPC"]) {
    if (spec[part] === true) faults.forbidden(`${at}.${part}`, "when `hostUsers` is false");
  }
}

function checkSchedulingGates(faults: Faults, at: string, gates: readonly JsonObject[]): void {
  const names = new Set<string>();
  for (const [index, gate] of gates.entries()) {
    const name = textAt(gate, "name");
    faults.each(`${at}[${index}]`, name, qualifiedName(name));
    if (names.has(name)) faults.duplicate(`${at}[${index}]`, name);
    names.add(name);
  }
}

function checkHostAliases(faults: Faults, at: string, aliases: readonly JsonObject[]): void {
  for (const [index, alias] of aliases.entries()) {
    const ip = textAt(alias, "ip");
    faults.each(`${at}[${index}].ip`, ip, ipAddress(ip));
    for (const [place, name] of textsAt(alias, "hostnames").entries()) {
      faults.each(`${at}[${index}].hostnames[${place}]`, name, dnsSubdomain(name));
    }
  }
}

const searchPath = /^_?[a-z0-9]([-_a-z0-9]*[a-z0-9])?(\._?[a-z0-9]([-_a-z0-9]*[a-z0-9])?)*$/;
const searchWords =
  "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '_', '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '_?[a-z0-9]([-_a-z0-9]*[a-z0-9])?(\\._?[a-z0-9]([-_a-z0-9]*[a-z0-9])?)*')";

function checkDns(faults: Faults, at: string, spec: JsonObject): void {
  const config = objectAt(spec, "dnsConfig");
  const servers = textsAt(config, "nameservers");
  if (textAt(spec, "dnsPolicy") === "None") {
    if (!hasAt(spec, "dnsConfig")) {
      faults.required(at, "must provide `dnsConfig` when `dnsPolicy` is None");
    } else if (servers.length === 0) {
      faults.required(
        `${at}.nameservers`,
        "must provide at least one DNS nameserver when `dnsPolicy` is None",
      );
    }
  }
  if (servers.length > 3)
    faults.invalid(`${at}.nameservers`, servers, "must not have more than 3 nameservers");
  for (const [index, server] of servers.entries())
    faults.each(`${at}.nameservers[${index}]`, server, ipAddress(server));
  const searches = textsAt(config, "searches");
  if (searches.length > 32)
    faults.invalid(`${at}.searches`, searches, "must not have more than 32 search paths");
  for (const [index, search] of searches.entries()) {
    const bare = search === "." ? search : search.replace(/\.$/, "");
    if (bare !== "." && !searchPath.test(bare)) faults.invalid(`${at}.searches[${index}]`, bare, searchWords);
  }
  for (const [index, option] of itemsAt(config, "options").entries()) {
    if (textOf(field(option, "name")) === "") faults.required(`${at}.options[${index}]`, "must not be empty");
  }
}
