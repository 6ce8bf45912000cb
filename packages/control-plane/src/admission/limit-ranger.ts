import { podTotals } from "../builtin/pod/resources.ts";
import { type Json, type JsonObject, textOf } from "../json.ts";
import { field, itemsAt, objectAt, specOf, textAt } from "../json-fields.ts";
import type { Admission } from "../registry/admission.ts";
import { ObjectTooLargeError } from "../storage/storage-error.ts";
import type { Store } from "../storage/store.ts";
import { amount, compareAmounts } from "../validation/amounts.ts";
import { ensure } from "../validation/fill.ts";
import { aggregate, creationOf, refuse, writeOf } from "./plugin.ts";

const annotation = "kubernetes.io/limit-ranger";

/** A pod with more amounts than this could not be stored. */
const mostAmounts = 100_000;
/** Nobody reads more than so many faults. */
const mostComplaints = 10_000;

/** Containers get a namespace's defaults; what goes beyond its bounds is refused. */
export function limitRanger(store: Store): Admission {
  const limitsOf = (namespace: string | undefined): JsonObject[] =>
    store.count("limitranges") === 0
      ? []
      : store
          .list("limitranges", { prefix: `${namespace ?? ""}/` })
          .entries.flatMap(({ object }) => itemsAt(specOf(object), "limits"));
  return {
    name: "LimitRanger",
    mutate: (request) => {
      const pod = creationOf(request, "", "pods");
      if (!pod) return;
      const limits = limitsOf(request.namespace).filter((limit) => textAt(limit, "type") === "Container");
      if (limits.length > 0) setDefaults(pod, limits);
    },
    validate: (request) => {
      const pod = creationOf(request, "", "pods");
      const claim = pod ? undefined : writeOf(request, "", "persistentvolumeclaims");
      if (!pod && !claim) return;
      const limits = limitsOf(request.namespace);
      if (limits.length === 0) return;
      const found = limits
        .values()
        .flatMap((limit) => (pod ? podComplaints(pod, limit) : claimComplaints(claim as JsonObject, limit)))
        .take(mostComplaints)
        .toArray();
      if (found.length > 0) throw refuse(request, aggregate(found));
    },
  };
}

/** @throws ObjectTooLargeError */
function setDefaults(pod: JsonObject, limits: readonly JsonObject[]): void {
  const notes: string[] = [];
  let given = 0;
  for (const [list, called] of [
    ["containers", "container"],
    ["initContainers", "init container"],
  ] as const) {
    for (const container of itemsAt(specOf(pod), list)) {
      const name = textAt(container, "name");
      for (const [part, from, word] of [
        ["requests", "defaultRequest", "request"],
        ["limits", "default", "limit"],
      ] as const) {
        const set: string[] = [];
        for (const [resource, value] of limits.flatMap((limit) => Object.entries(objectAt(limit, from)))) {
          const amounts = ensure(ensure(container, "resources"), part);
          if (amounts[resource] !== undefined) continue;
          if (++given > mostAmounts) throw new ObjectTooLargeError("etcdserver: request is too large");
          amounts[resource] = value;
          set.push(resource);
        }
        if (set.length > 0) notes.push(`${set.sort().join(", ")} ${word} for ${called} ${name}`);
      }
    }
  }
  if (notes.length === 0) return;
  const annotations = ensure(ensure(pod, "metadata"), "annotations");
  annotations[annotation] = `LimitRanger plugin set: ${notes.join("; ")}`;
}

function* podComplaints(pod: JsonObject, limit: JsonObject): Generator<string> {
  const type = textAt(limit, "type");
  const spec = specOf(pod);
  if (type === "Container") {
    for (const container of [...itemsAt(spec, "containers"), ...itemsAt(spec, "initContainers")]) {
      const resources = objectAt(container, "resources");
      yield* complaints(limit, type, objectAt(resources, "requests"), objectAt(resources, "limits"));
    }
  } else if (type === "Pod") {
    yield* complaints(limit, type, podTotals(spec, "requests"), podTotals(spec, "limits"));
  }
}

function claimComplaints(claim: JsonObject, limit: JsonObject): string[] {
  if (textAt(limit, "type") !== "PersistentVolumeClaim") return [];
  const requested = objectAt(objectAt(specOf(claim), "resources"), "requests");
  const bound = (part: string) => ({ type: "PersistentVolumeClaim", [part]: objectAt(limit, part) });
  return [
    ...complaints(bound("min"), "PersistentVolumeClaim", requested, {}),
    ...complaints(bound("max"), "PersistentVolumeClaim", requested, requested, "request"),
  ];
}

/** @param limitWord what the upper bound is compared with, in words */
function complaints(
  limit: JsonObject,
  type: string,
  requests: JsonObject,
  limits: JsonObject,
  limitWord = "limit",
): string[] {
  const said: string[] = [];
  for (const [name, least] of Object.entries(objectAt(limit, "min"))) {
    const start = `minimum ${name} usage per ${type} is ${textOf(least)}`;
    const [request, most] = [field(requests, name), field(limits, name)];
    if (request === undefined) said.push(`${start}.  No request is specified`);
    else if (compareAmounts(request, least) < 0) said.push(`${start}, but request is ${textOf(request)}`);
    else if (most !== undefined && compareAmounts(most, least) < 0) {
      said.push(`${start}, but limit is ${textOf(most)}`);
    }
  }
  for (const [name, greatest] of Object.entries(objectAt(limit, "max"))) {
    const start = `maximum ${name} usage per ${type} is ${textOf(greatest)}`;
    const [request, most] = [field(requests, name), field(limits, name)];
    if (most === undefined) said.push(`${start}.  No limit is specified`);
    else if (compareAmounts(most, greatest) > 0) said.push(`${start}, but ${limitWord} is ${textOf(most)}`);
    else if (request !== undefined && compareAmounts(request, greatest) > 0) {
      said.push(`${start}, but request is ${textOf(request)}`);
    }
  }
  for (const [name, ratio] of Object.entries(objectAt(limit, "maxLimitRequestRatio"))) {
    const complaint = ratioComplaint(name, type, ratio, field(requests, name), field(limits, name));
    if (complaint !== undefined) said.push(complaint);
  }
  return said;
}

function ratioComplaint(
  name: string,
  type: string,
  ratio: Json,
  request: Json | undefined,
  limit: Json | undefined,
): string | undefined {
  const start = `${name} max limit to request ratio per ${type} is ${textOf(ratio)}, but`;
  const nanos = (value: Json | undefined) => (value === undefined ? 0 : Number(amount(value).nanos));
  if (nanos(request) === 0) return `${start} no request is specified or request is 0`;
  if (nanos(limit) === 0) return `${start} no limit is specified or limit is 0`;
  const actual = nanos(limit) / nanos(request);
  return actual > nanos(ratio) / 1e9 ? `${start} provided ratio is ${actual.toFixed(6)}` : undefined;
}
