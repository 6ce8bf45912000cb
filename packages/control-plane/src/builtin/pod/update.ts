import { clone, equal, identityText, isObject, type JsonObject } from "../../json.ts";
import { hasAt, itemsAt, numberAt, objectAt, specOf, statusOf, textAt } from "../../json-fields.ts";
import type { Steps } from "../../steps.ts";
import { Faults, immutable } from "../../validation/faults.ts";
import { put } from "../../validation/fill.ts";
import { dnsSubdomain, ipAddress } from "../../validation/names.ts";
import { qosClass } from "./resources.ts";
import { checkPodSpec } from "./spec.ts";

const mostSeconds = 2147483647;
const onlyThese =
  "pod updates may not change fields other than `spec.containers[*].image`,`spec.initContainers[*].image`,`spec.activeDeadlineSeconds`,`spec.tolerations` (only additions to existing tolerations),`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)";

/** What may change of a pod that is there: images, deadlines, more tolerations, fewer gates. */
export function* podUpdateFaults(next: JsonObject, live: JsonObject): Steps<Faults> {
  const faults = new Faults();
  const [now, before] = [specOf(next), specOf(live)];
  yield* checkPodSpec(faults, "spec", now);
  for (const list of ["containers", "initContainers"]) {
    if (itemsAt(now, list).length !== itemsAt(before, list).length) {
      faults.forbidden(`spec.${list}`, "pod updates may not add or remove containers");
      return faults;
    }
  }
  if (!checkDeadline(faults, now, before)) return faults;
  checkAddedTolerations(faults, now, before);
  checkRemovedGates(faults, now, before);
  const munged = withAllowed(now, before);
  if (itemsAt(before, "schedulingGates").length > 0) allowGatedChanges(faults, munged, before);
  if (!equal(munged, before)) faults.forbidden("spec", `${onlyThese}\n${differing(munged, before)}`);
  return faults;
}

/** @returns whether the rest is worth looking at */
function checkDeadline(faults: Faults, now: JsonObject, before: JsonObject): boolean {
  const at = "spec.activeDeadlineSeconds";
  const [wanted, had] = [numberAt(now, "activeDeadlineSeconds"), numberAt(before, "activeDeadlineSeconds")];
  if (wanted !== undefined) {
    if (wanted < 0 || wanted > mostSeconds) {
      faults.invalid(at, wanted, `must be between 0 and ${mostSeconds}, inclusive`);
      return false;
    }
    if (had !== undefined && had < wanted) {
      faults.invalid(at, wanted, "must be less than or equal to previous value");
      return false;
    }
  } else if (had !== undefined) {
    faults.invalid(at, null, "must not update from a positive integer to nil value");
  }
  return true;
}

function checkAddedTolerations(faults: Faults, now: JsonObject, before: JsonObject): void {
  const identity = (toleration: JsonObject) => identityText(withoutSeconds(toleration));
  const kept = new Set(itemsAt(now, "tolerations").map(identity));
  const all = itemsAt(before, "tolerations").every((old) => kept.has(identity(old)));
  if (!all) {
    faults.forbidden(
      "spec.tolerations",
      "existing toleration can not be modified except its tolerationSeconds",
    );
  }
}

function withoutSeconds(toleration: JsonObject): JsonObject {
  const { tolerationSeconds: _seconds, ...rest } = toleration;
  return rest;
}

function checkRemovedGates(faults: Faults, now: JsonObject, before: JsonObject): void {
  const had = new Set(itemsAt(before, "schedulingGates").map((gate) => textAt(gate, "name")));
  for (const [index, gate] of itemsAt(now, "schedulingGates").entries()) {
    const name = textAt(gate, "name");
    if (!had.has(name)) {
      faults.forbidden(
        `spec.schedulingGates[${index}].name`,
        `only deletion is allowed, but found new scheduling gate '${name}'`,
      );
    }
  }
}

/** The new spec with every change that is allowed taken back: what differs then may not. */
function withAllowed(now: JsonObject, before: JsonObject): JsonObject {
  const munged = clone(now);
  for (const list of ["containers", "initContainers"]) {
    const old = itemsAt(before, list);
    for (const [index, container] of itemsAt(munged, list).entries()) {
      put(container, "image", old[index]?.image);
    }
  }
  for (const part of ["activeDeadlineSeconds", "tolerations", "schedulingGates"])
    put(munged, part, before[part]);
  const had = numberAt(before, "terminationGracePeriodSeconds");
  if (had !== undefined && had < 0 && munged.terminationGracePeriodSeconds === 1) {
    munged.terminationGracePeriodSeconds = had;
  }
  return munged;
}

/** While it waits behind gates, where a pod may run can be narrowed. */
function allowGatedChanges(faults: Faults, munged: JsonObject, before: JsonObject): void {
  const [now, old] = [objectAt(munged, "nodeSelector"), objectAt(before, "nodeSelector")];
  if (!equal(now, old)) {
    if (Object.entries(old).some(([key, value]) => now[key] !== value)) {
      faults.invalid(
        "spec.nodeSelector",
        now,
        "only additions to spec.nodeSelector are allowed (no mutations or deletions)",
      );
    }
    put(munged, "nodeSelector", before.nodeSelector);
  }
  const term = "requiredDuringSchedulingIgnoredDuringExecution";
  const nodes = objectAt(objectAt(munged, "affinity"), "nodeAffinity");
  const oldNodes = objectAt(objectAt(before, "affinity"), "nodeAffinity");
  if (equal(nodes, oldNodes)) return;
  const oldTerms = itemsAt(objectAt(oldNodes, term), "nodeSelectorTerms");
  const terms = itemsAt(objectAt(nodes, term), "nodeSelectorTerms");
  if (oldTerms.length > 0) {
    const path = `spec.affinity.nodeAffinity.${term}.nodeSelectorTerms`;
    if (terms.length !== oldTerms.length) {
      faults.invalid(path, terms, "no additions/deletions to non-empty NodeSelectorTerms list are allowed");
    }
    for (const [index, old] of oldTerms.entries()) {
      if (!narrows(terms[index] ?? {}, old)) {
        faults.invalid(
          `${path}[${index}]`,
          terms[index] ?? null,
          "only additions are allowed (no mutations or deletions)",
        );
      }
    }
  }
  put(munged, "affinity", before.affinity);
}

function narrows(now: JsonObject, old: JsonObject): boolean {
  return ["matchExpressions", "matchFields"].every((list) => {
    const had = itemsAt(old, list);
    return had.every((expression, index) => equal(itemsAt(now, list)[index], expression));
  });
}

/** The names of the fields that differ: the real server prints a diff in its own notation here. */
function differing(now: JsonObject, before: JsonObject): string {
  const names = new Set([...Object.keys(now), ...Object.keys(before)]);
  return [...names].filter((name) => !equal(now[name], before[name])).join(", ");
}

/** What the kubelet may report. */
export function podStatusFaults(next: JsonObject, live: JsonObject): Faults {
  const faults = new Faults();
  const [now, before] = [statusOf(next), statusOf(live)];
  const nominated = textAt(now, "nominatedNodeName");
  if (nominated !== "") faults.each("status.nominatedNodeName", nominated, dnsSubdomain(nominated));
  for (const list of ["containerStatuses", "initContainerStatuses"])
    checkTransitions(faults, list, next, live);
  for (const [part, field] of [
    ["podIPs", "ip"],
    ["hostIPs", "ip"],
  ] as const) {
    const seen = new Set<string>();
    for (const [index, entry] of itemsAt(now, part).entries()) {
      const ip = textAt(entry, field);
      faults.each(`status.${part}[${index}]`, ip, ipAddress(ip));
      if (seen.has(ip)) faults.duplicate(`status.${part}[${index}]`, ip);
      seen.add(ip);
    }
  }
  if (textAt(now, "qosClass") !== textAt(before, "qosClass")) {
    faults.invalid("status.qosClass", textAt(now, "qosClass"), immutable);
  }
  return faults;
}

/** A container that ended does not come back to life unless it is restarted. */
function checkTransitions(faults: Faults, list: string, next: JsonObject, live: JsonObject): void {
  const policy = textAt(specOf(live), "restartPolicy");
  if (policy === "Always" || list !== "containerStatuses") return;
  const now = new Map(itemsAt(statusOf(next), list).map((status) => [textAt(status, "name"), status]));
  for (const [index, old] of itemsAt(statusOf(live), list).entries()) {
    const ended = objectAt(old, "state").terminated;
    if (!isObject(ended)) continue;
    if (policy === "OnFailure" && ended.exitCode !== 0) continue;
    const status = now.get(textAt(old, "name"));
    if (status && !hasAt(objectAt(status, "state"), "terminated")) {
      faults.forbidden(`status.${list}[${index}].state`, "may not be transitioned to non-terminated state");
    }
  }
}

/** Ephemeral containers can be added, but not changed or removed. */
export function* ephemeralFaults(next: JsonObject, live: JsonObject): Steps<Faults> {
  const faults = new Faults();
  yield* checkPodSpec(faults, "spec", specOf(next));
  const now = new Map(itemsAt(specOf(next), "ephemeralContainers").map((one) => [textAt(one, "name"), one]));
  for (const old of itemsAt(specOf(live), "ephemeralContainers")) {
    const name = textAt(old, "name");
    const kept = now.get(name);
    if (!kept) {
      faults.forbidden(
        "spec.ephemeralContainers",
        `existing ephemeral containers ${JSON.stringify(name)} may not be removed\n`,
      );
    } else if (!equal(kept, old)) {
      faults.forbidden(
        "spec.ephemeralContainers",
        `existing ephemeral containers ${JSON.stringify(name)} may not be changed\n`,
      );
    }
  }
  return faults;
}

/** Resizing changes amounts, and not the class they make. */
export function* resizeFaults(next: JsonObject, live: JsonObject): Steps<Faults> {
  const faults = new Faults();
  yield* checkPodSpec(faults, "spec", specOf(next));
  const before = qosClass(live);
  if (qosClass(next) !== before) {
    faults.invalid("spec", before, "Pod QOS Class may not change as a result of resizing");
  }
  return faults;
}
