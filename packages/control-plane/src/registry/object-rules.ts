import { clone, equal, type Json, type JsonObject, textOf } from "../json.ts";
import { metadataOf, textsAt } from "../json-fields.ts";
import { conflict, namespaceMismatch } from "../status.ts";
import type { DeleteOptions } from "./deletion.ts";
import type { Resource } from "./resource.ts";

/** The metadata of an object, made if it has none. */
export function ensureMetadata(object: JsonObject): JsonObject {
  const metadata = object.metadata;
  if (typeof metadata === "object" && metadata !== null && !Array.isArray(metadata)) return metadata;
  const created: JsonObject = {};
  object.metadata = created;
  return created;
}

/** Puts an object into the namespace of its request. @throws StatusError 400 if it says another */
export function placeIn(resource: Resource, namespace: string | undefined, metadata: JsonObject): void {
  if (!resource.info.namespaced) {
    delete metadata.namespace;
    return;
  }
  const own = metadata.namespace;
  if (own && own !== namespace) {
    throw namespaceMismatch();
  }
  metadata.namespace = namespace as string;
}

/**
 * Finalizers of custom objects may have any name, but those without a domain may collide: the
 * server warns.
 */
export function warnOfFinalizers(
  next: JsonObject,
  live: JsonObject | undefined,
  warn: (text: string) => void,
): void {
  const of = (object: JsonObject | undefined) => textsAt(object, "metadata", "finalizers");
  const had = new Set(of(live));
  for (const name of of(next)) {
    if (had.has(name) || name.includes("/") || name === "orphan" || name === "foregroundDeletion") continue;
    warn(
      `metadata.finalizers: ${JSON.stringify(name)}: prefer a domain-qualified finalizer name to avoid accidental conflicts with other finalizer writers`,
    );
  }
}

/** What an update need not repeat, and cannot change. */
export function carryOver(next: JsonObject, live: JsonObject): void {
  const metadata = metadataOf(next);
  const before = metadataOf(live);
  for (const part of [
    "uid",
    "creationTimestamp",
    "deletionTimestamp",
    "deletionGracePeriodSeconds",
    "generation",
  ]) {
    const value: Json | undefined = before[part];
    const ours = metadata[part];
    // An update can neither set nor clear the deletion fields.
    const isServers =
      part === "generation" ||
      part === "creationTimestamp" ||
      (part === "deletionTimestamp" && value !== undefined);
    if (isServers || ours === undefined || ours === null || ours === "") {
      if (value === undefined) delete metadata[part];
      else metadata[part] = value;
    }
  }
  delete metadata.selfLink;
  metadata.resourceVersion = before.resourceVersion as string;
}

/** The main endpoint leaves the status alone; a subresource leaves everything else alone. */
export function keepToSubresource(
  resource: Resource,
  next: JsonObject,
  live: JsonObject,
  subresource: string | undefined,
): void {
  if (subresource === "status") {
    const status = next.status;
    const metadata = metadataOf(next);
    const custom = resource.info.origin === "custom";
    for (const part of Object.keys(next)) if (part !== "metadata") delete next[part];
    for (const [part, value] of Object.entries(live)) if (part !== "metadata") next[part] = clone(value);
    if (custom) {
      // managedFields are set again with each write, even to none.
      const { managedFields: _managedFields, ...kept } = metadataOf(live);
      next.metadata = { ...clone(kept), ...pick(metadata, "managedFields", "resourceVersion") };
    } else {
      const labels = metadataOf(live).labels;
      const keepsLabels = resource.bucket === "deployments.apps";
      if (keepsLabels && labels === undefined) delete metadata.labels;
      else if (keepsLabels) metadata.labels = clone(labels as Json);
    }
    if (status === undefined) delete next.status;
    else next.status = status;
  } else if (subresource === undefined && resource.hasStatus) {
    if (live.status === undefined) delete next.status;
    else next.status = clone(live.status);
  }
}

function pick(object: JsonObject, ...parts: string[]): JsonObject {
  return Object.fromEntries(
    parts.filter((part) => object[part] !== undefined).map((part) => [part, object[part] as Json]),
  );
}

/** Increments the generation where the spec changed. */
export function countGeneration(resource: Resource, next: JsonObject, live: JsonObject): void {
  const { specChanged } = resource.strategy;
  const changed = specChanged
    ? specChanged(next, live)
    : resource.info.origin === "custom"
      ? !equal(withoutMetadata(next, resource.hasStatus), withoutMetadata(live, resource.hasStatus))
      : !equal(next.spec, live.spec);
  if (!changed) return;
  const metadata = metadataOf(next);
  metadata.generation = Number(metadataOf(live).generation ?? 0) + 1;
}

function withoutMetadata(object: JsonObject, hasStatus: boolean): JsonObject {
  const { metadata: _metadata, ...rest } = object;
  if (hasStatus) delete rest.status;
  return rest;
}

/** Whether the last finalizer of a deletion was removed. */
export function readyToGo(resource: Resource, object: JsonObject): boolean {
  const metadata = metadataOf(object);
  const finalizers = metadata.finalizers;
  return (
    metadata.deletionTimestamp !== undefined &&
    !(Array.isArray(finalizers) && finalizers.length > 0) &&
    Number(metadata.deletionGracePeriodSeconds ?? 0) === 0 &&
    !resource.strategy.heldBack?.(object)
  );
}

/** @throws StatusError 409 where a deletion was meant for another object, or another state of it */
export function checkPreconditions(
  resource: Resource,
  name: string,
  object: JsonObject,
  options: DeleteOptions,
): void {
  const metadata = metadataOf(object);
  const { uid, resourceVersion } = options.preconditions ?? {};
  if (uid !== undefined && uid !== metadata.uid) {
    throw conflict(
      { group: resource.info.group, resource: resource.info.kind },
      name,
      `the UID in the precondition (${uid}) does not match the UID in record (${textOf(metadata.uid)}). The object might have been deleted and then recreated`,
    );
  }
  if (resourceVersion !== undefined && resourceVersion !== metadata.resourceVersion) {
    throw conflict(
      { group: resource.info.group, resource: resource.info.kind },
      name,
      `the ResourceVersion in the precondition (${resourceVersion}) does not match the ResourceVersion in record (${textOf(metadata.resourceVersion)}). The object might have been modified`,
    );
  }
}
