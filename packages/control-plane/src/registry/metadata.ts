import type { Clock, Random } from "@windlass/clock";
import { uuid } from "@windlass/clock";
import { append } from "../append.ts";
import { equal, isObject, type Json, type JsonObject, textOf } from "../json.ts";
import { metadataOf } from "../json-fields.ts";
import type { Cause } from "../status.ts";
import { dnsSubdomain, nameFaults, subdomainWords } from "./name-faults.ts";
import type { Strategy } from "./strategy.ts";

/** Kubernetes' timestamps: UTC, whole seconds. */
export function timestamp(clock: Clock): string {
  return `${new Date(clock.now()).toISOString().slice(0, 19)}Z`;
}

/** Lease times: UTC, exactly six fractional digits. */
export function microTimestamp(clock: Clock): string {
  return `${new Date(clock.now()).toISOString().slice(0, -1)}000Z`;
}

const alphabet = "bcdfghjklmnpqrstvwxz2456789";

/** The five characters that `generateName` appends. */
export function nameSuffix(random: Random, length = 5): string {
  let suffix = "";
  for (let i = 0; i < length; i++) suffix += alphabet[Math.floor(random.next() * alphabet.length)];
  return suffix;
}

/** A name from `generateName`: the prefix cut so that 63 characters suffice. */
export function generateName(random: Random, prefix: string): string {
  return `${prefix.slice(0, 58)}${nameSuffix(random)}`;
}

/**
 * Removes the deletion fields of the metadata. The real server does so of what is posted, and of
 * nothing else.
 */
export function withoutDeletion(object: JsonObject): void {
  const metadata = metadataOf(object);
  delete metadata.deletionTimestamp;
  delete metadata.deletionGracePeriodSeconds;
}

/** Sets the identity of a new object, and clears fields that only the server may set. */
export function stampNew(object: JsonObject, strategy: Strategy, clock: Clock, random: Random): void {
  const metadata = metadataOf(object);
  delete metadata.selfLink;
  metadata.uid = uuid(random);
  metadata.creationTimestamp = timestamp(clock);
  if (strategy.generation) metadata.generation = 1;
}

const qualifiedName = /^([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]$/;
const labelValue = /^(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?$/;

const qualifiedWords =
  "name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')";
const labelValueWords =
  "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')";

function qualifiedNameFaults(name: string): string[] {
  const slash = name.indexOf("/");
  const faults: string[] = [];
  const [prefix, part] = slash < 0 ? [undefined, name] : [name.slice(0, slash), name.slice(slash + 1)];
  if (part.includes("/")) {
    return [
      "a valid label key must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]') with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')",
    ];
  }
  if (prefix === "") faults.push("prefix part must be non-empty");
  else if (prefix !== undefined) {
    if (prefix.length > 253) faults.push("prefix part must be no more than 253 bytes");
    if (!dnsSubdomain.test(prefix)) faults.push(`prefix part ${subdomainWords}`);
  }
  if (part === "") faults.push("name part must be non-empty");
  else if (part.length > 63) faults.push("name part must be no more than 63 bytes");
  if (!qualifiedName.test(part)) faults.push(qualifiedWords);
  return faults;
}

function invalidValue(field: string, value: Json | undefined, why: string): Cause {
  return { reason: "FieldValueInvalid", message: `Invalid value: ${JSON.stringify(value)}: ${why}`, field };
}

/** What is wrong with an object's metadata, before the kind's own validation. */
export function metadataFaults(
  object: JsonObject,
  strategy: Strategy,
  namespaced: boolean,
  origin: "builtin" | "custom" = "builtin",
): Cause[] {
  const metadata = metadataOf(object);
  const causes: Cause[] = [];
  const generated = metadata.generateName;
  if (typeof generated === "string" && generated !== "") {
    for (const why of nameFaults(maskTrailingDash(generated), strategy.names)) {
      causes.push(invalidValue("metadata.generateName", generated, why));
    }
  }
  const name = metadata.name;
  if (name === undefined || name === "") {
    causes.push({
      reason: "FieldValueRequired",
      message: "Required value: name or generateName is required",
      field: "metadata.name",
    });
  } else {
    for (const why of nameFaults(textOf(name), strategy.names))
      causes.push(invalidValue("metadata.name", name, why));
  }
  const namespace = metadata.namespace;
  if (namespaced && namespace) {
    for (const why of nameFaults(textOf(namespace), "label")) {
      causes.push(invalidValue("metadata.namespace", namespace, why));
    }
  } else if (!namespaced && namespace) {
    causes.push({
      reason: "FieldValueForbidden",
      message: "Forbidden: not allowed on this type",
      field: "metadata.namespace",
    });
  }
  append(causes, mapFaults(metadata));
  append(causes, ownerFaults(metadata.ownerReferences));
  append(causes, finalizerFaults(metadata.finalizers, origin === "builtin"));
  return causes;
}

function maskTrailingDash(prefix: string): string {
  return prefix.length > 1 && prefix.endsWith("-") ? `${prefix.slice(0, -1)}a` : prefix;
}

/**
 * The faults of labels and annotations: syntax, and the 256 KiB that annotations may take in all.
 */
function mapFaults(metadata: JsonObject): Cause[] {
  const causes: Cause[] = [];
  const { labels = {}, annotations = {} } = metadata as { labels?: JsonObject; annotations?: JsonObject };
  // By keys: the entries of a large map take twice as long.
  for (const key of Object.keys(labels ?? {})) {
    for (const why of qualifiedNameFaults(key)) causes.push(invalidValue("metadata.labels", key, why));
    const text = textOf(labels[key]);
    if (text.length > 63) causes.push(invalidValue("metadata.labels", text, "must be no more than 63 bytes"));
    if (!labelValue.test(text)) causes.push(invalidValue("metadata.labels", text, labelValueWords));
  }
  let size = 0;
  for (const key of Object.keys(annotations ?? {})) {
    for (const why of qualifiedNameFaults(key.toLowerCase())) {
      causes.push(invalidValue("metadata.annotations", key, why));
    }
    size += Buffer.byteLength(key) + Buffer.byteLength(textOf(annotations[key]));
  }
  if (size > 256 * 1024) {
    causes.push({
      reason: "FieldValueTooLong",
      message: "Too long: may not be more than 262144 bytes",
      field: "metadata.annotations",
    });
  }
  return causes;
}

function ownerFaults(references: Json | undefined): Cause[] {
  const causes: Cause[] = [];
  let controller: string | undefined;
  for (const reference of Array.isArray(references) ? references : []) {
    if (!isObject(reference)) continue;
    for (const part of ["apiVersion", "kind", "name", "uid"]) {
      if (reference[part]) continue;
      const why = part === "apiVersion" ? "version must not be empty" : "must not be empty";
      causes.push(invalidValue(`metadata.ownerReferences.${part}`, reference[part] ?? "", why));
    }
    if (reference.controller !== true) continue;
    const own = `${textOf(reference.kind)}/${textOf(reference.name)}`;
    if (controller !== undefined) {
      causes.push(
        invalidValue(
          "metadata.ownerReferences",
          references as Json,
          `Only one reference can have Controller set to true. Found "true" in references for ${controller} and ${own}`,
        ),
      );
    }
    controller = own;
  }
  return causes;
}

const wellKnownFinalizers = new Set(["orphan", "foregroundDeletion", "kubernetes"]);

/**
 * @param isKnown whether the kind comes with the server: custom kinds may have finalizers of any
 *   name.
 */
function finalizerFaults(finalizers: Json | undefined, isKnown: boolean): Cause[] {
  const causes: Cause[] = [];
  for (const [index, finalizer] of (Array.isArray(finalizers) ? finalizers : []).entries()) {
    const name = textOf(finalizer);
    for (const why of qualifiedNameFaults(name)) causes.push(invalidValue("metadata.finalizers", name, why));
    if (isKnown && !name.includes("/") && !wellKnownFinalizers.has(name) && qualifiedName.test(name)) {
      causes.push(
        invalidValue(
          `metadata.finalizers[${index}]`,
          name,
          "name is neither a standard finalizer name nor is it fully qualified",
        ),
      );
    }
  }
  return causes;
}

/** What an update may not change in metadata. */
export function metadataUpdateFaults(next: JsonObject, live: JsonObject): Cause[] {
  const [now, before] = [metadataOf(next), metadataOf(live)];
  const causes: Cause[] = [];
  for (const part of [
    "name",
    "namespace",
    "uid",
    "creationTimestamp",
    "deletionTimestamp",
    "deletionGracePeriodSeconds",
  ]) {
    if (!equal(now[part], before[part])) {
      causes.push(invalidValue(`metadata.${part}`, now[part] ?? null, "field is immutable"));
    }
  }
  if (before.deletionTimestamp) {
    const had = new Set((before.finalizers as string[] | undefined) ?? []);
    const added = ((now.finalizers as string[] | undefined) ?? []).filter((name) => !had.has(name));
    if (added.length > 0) {
      causes.push({
        reason: "FieldValueForbidden",
        message: `Forbidden: no new finalizers can be added if the object is being deleted, found new finalizers []string{${added.map((name) => JSON.stringify(name)).join(", ")}}`,
        field: "metadata.finalizers",
      });
    }
  }
  return causes;
}
