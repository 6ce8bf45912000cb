import type { KubernetesObject } from "@windlass/client";
import { type Arena, type Chunk, nowhere } from "./arena.ts";
import { type Scan, scanObject } from "./scan.ts";

/** One version of an object as the cache holds it: its JSON as bytes, and what must be known without parsing it. */
export class StoredObject {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  readonly resourceVersion: string;
  /** The uids of its owners. */
  readonly owners: readonly string[];
  /** Its labels as JSON; empty where it has none. Kept apart, for lists by label that parse only what they select. */
  readonly labels: string;

  // Where its bytes are; the arena moves them.
  chunk: Chunk = nowhere;
  start = 0;
  length = 0;
  isHeld = false;

  /** The values that the store's indexes gave for it, index by index. */
  indexed: readonly (readonly string[])[] = [];

  // The parsed object while it is kept (see ObjectReader).
  parsed: KubernetesObject | undefined = undefined;
  generation = 0;

  constructor(scan: Scan, owners: readonly string[], labels: string) {
    this.namespace = scan.namespace;
    this.name = scan.name;
    this.uid = scan.uid;
    this.resourceVersion = scan.resourceVersion;
    this.owners = owners;
    this.labels = labels;
  }
}

const noOwners: readonly string[] = [];

/** The server sent something that is not a Kubernetes object. The connection it came by is not to be trusted further. */
export class MalformedObjectError extends Error {
  override readonly name = "MalformedObjectError";
  readonly code = "MALFORMED_OBJECT";
}

/** Changes an object before it is stored. Gets a copy of its own, and may change and return that. */
export type Transform = (object: KubernetesObject) => KubernetesObject;

/** Where an object's bytes are put. */
export type Storage = Pick<Arena, "store">;

export interface Intake {
  readonly arena: Storage;
  /** Keep `metadata.managedFields`. */
  readonly keepManagedFields: boolean;
  readonly transform: Transform | undefined;
}

/**
 * Stores the object that stands in `bytes` from `start` to `end`. `known` says what is already held under a name: where that is the
 * same version, it is given back and nothing is copied.
 *
 * @throws MalformedObjectError
 */
export function takeIn(
  intake: Intake,
  bytes: Buffer,
  start: number,
  end: number,
  known: (namespace: string, name: string) => StoredObject | undefined,
): StoredObject {
  const scan = scanObject(bytes, start, end);
  if (!scan) return rewrite(intake, parse(bytes, start, end), known);
  const held = known(scan.namespace, scan.name);
  if (held && isSameVersion(held, scan)) return held;
  if (intake.transform) return rewrite(intake, parse(bytes, start, end), known);
  const object = new StoredObject(scan, ownersOf(bytes, scan), labelsOf(bytes, scan));
  if (intake.keepManagedFields) intake.arena.store(object, bytes, start, end, 0, 0);
  else intake.arena.store(object, bytes, start, end, scan.cutStart, scan.cutEnd);
  return object;
}

function rewrite(
  intake: Intake,
  parsed: unknown,
  known: (namespace: string, name: string) => StoredObject | undefined,
): StoredObject {
  if (!isObject(parsed)) throw new MalformedObjectError("the server sent an object without metadata.name");
  const before = parsed.metadata;
  const held = known(before.namespace ?? "", before.name);
  if (held && held.uid === (before.uid ?? "") && held.resourceVersion === (before.resourceVersion ?? ""))
    return held;
  const object = prepare(intake, parsed);
  const bytes = Buffer.from(JSON.stringify(object));
  const scan = scanObject(bytes, 0, bytes.length);
  if (!scan || scan.name !== before.name || scan.namespace !== (before.namespace ?? ""))
    throw new MalformedObjectError(
      `${before.namespace ?? ""}/${before.name}: a transform must keep metadata.name and metadata.namespace as they are`,
    );
  const stored = new StoredObject(scan, ownersOf(bytes, scan), labelsOf(bytes, scan));
  intake.arena.store(stored, bytes, 0, bytes.length, 0, 0);
  return stored;
}

/** An object as it would read once stored: without managedFields, and transformed. Does not change the one given. */
export function prepare(intake: Intake, object: KubernetesObject): KubernetesObject {
  let prepared = object;
  if (!intake.keepManagedFields && object.metadata.managedFields !== undefined) {
    const { managedFields: _, ...metadata } = object.metadata;
    prepared = { ...object, metadata };
  }
  if (!intake.transform) return prepared;
  return intake.transform(structuredClone(prepared));
}

function parse(bytes: Buffer, start: number, end: number): unknown {
  try {
    return JSON.parse(bytes.toString("utf8", start, end));
  } catch {
    // The text itself is not quoted: it may hold a Secret.
    throw new MalformedObjectError(`the server sent ${end - start} bytes that are not JSON`);
  }
}

function ownersOf(bytes: Buffer, scan: Scan): readonly string[] {
  if (scan.ownersEnd - scan.ownersStart <= 2) return noOwners;
  const references = parse(bytes, scan.ownersStart, scan.ownersEnd);
  if (!Array.isArray(references)) return noOwners;
  return references.flatMap((reference: unknown) =>
    typeof reference === "object" &&
    reference !== null &&
    "uid" in reference &&
    typeof reference.uid === "string"
      ? [reference.uid]
      : [],
  );
}

/** Labels that were seen lately, so that objects that carry the same share one text. */
const seenLabels = new Map<string, string>();
const SEEN_LABELS = 4096;

function labelsOf(bytes: Buffer, scan: Scan): string {
  if (scan.labelsEnd - scan.labelsStart <= 2) return "";
  const text = bytes.toString("utf8", scan.labelsStart, scan.labelsEnd);
  const seen = seenLabels.get(text);
  if (seen !== undefined) return seen;
  if (seenLabels.size >= SEEN_LABELS) seenLabels.clear();
  seenLabels.set(text, text);
  return text;
}

function isSameVersion(held: StoredObject, scan: Scan): boolean {
  return (
    held.uid === scan.uid && held.resourceVersion === scan.resourceVersion && scan.resourceVersion !== ""
  );
}

/** Whether a value has what every Kubernetes object has. */
export function isObject(value: unknown): value is KubernetesObject {
  if (typeof value !== "object" || value === null || !("metadata" in value)) return false;
  const { metadata } = value;
  return (
    typeof metadata === "object" &&
    metadata !== null &&
    "name" in metadata &&
    typeof metadata.name === "string" &&
    metadata.name !== ""
  );
}
