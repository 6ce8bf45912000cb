import type { KubernetesObject } from "@windlass/client";
import { type Arenas, type Chunk, type Content, nowhere, type Placed } from "./arena.ts";
import type { FieldManagers } from "./field-managers.ts";
import {
  explained,
  type Identity,
  isObject,
  MalformedObjectError,
  nameless,
  parse,
  type Received,
  type ReceivedAs,
} from "./received.ts";
import { type Scan, scanObject } from "./scan.ts";
import { copyWithoutCut, lengthWithoutCut, type MessageScan } from "./scan-message.ts";
import type { GuardedTransform } from "./transform.ts";

/**
 * One version of an object as the cache holds it: its JSON or its message as bytes, and what must
 * be known without reading it.
 */
export class StoredObject implements Placed {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  readonly resourceVersion: string;
  /** The uids of its owners. */
  readonly owners: readonly string[];
  /**
   * Its labels as JSON, kept apart for lists by label that parse only what they select; empty where
   * it has none. Undefined for a message, whose labels are found without reading the rest.
   */
  readonly labels: string | undefined;
  /** What the tracked field managers own of it, as `FieldManagers` keeps it. */
  readonly owned: string;

  chunk: Chunk = nowhere;
  start = 0;
  length = 0;
  isHeld = false;

  /** The values that the store's indexes gave for it, index by index. */
  indexed: readonly (readonly string[])[] = [];

  // The parsed object while it is kept (see ObjectReader).
  parsed: KubernetesObject | undefined = undefined;
  generation = 0;

  constructor(scan: Identity, owners: readonly string[], labels: string | undefined, owned: string) {
    this.namespace = scan.namespace;
    this.name = scan.name;
    this.uid = scan.uid;
    this.resourceVersion = scan.resourceVersion;
    this.owners = owners;
    this.labels = labels;
    this.owned = owned;
  }
}

const noOwners: readonly string[] = [];

/** Where an object's bytes are put. */
export type Storage = Pick<Arenas, "store">;

/** What turns the bytes of an object into a stored one. */
export interface Intake {
  readonly arena: Storage;
  /** Keep `metadata.managedFields`. */
  readonly keepManagedFields: boolean;
  readonly fieldManagers: FieldManagers;
  readonly transform: GuardedTransform | undefined;
  /** Reads the message of an object. @throws MalformedMessageError */
  readonly readMessage: (bytes: Buffer, start: number, end: number) => unknown;
}

/**
 * Stores an object that was received. `known` returns what is already held under a name: where that
 * is the same version, it is returned and nothing is copied.
 *
 * @throws MalformedObjectError
 */
export function takeIn(
  intake: Intake,
  received: Received,
  known: (namespace: string, name: string) => StoredObject | undefined,
): StoredObject {
  const { namespace, name } = received.scan;
  const held = known(namespace, name);
  if (held && isSameVersion(held, received.scan)) return held;
  switch (received.as) {
    case "parsed":
      return rewrite(intake, received.object);
    case "json": {
      const { bytes, scan } = received;
      if (intake.transform) return rewrite(intake, parse(bytes, scan.start, scan.end));
      const owners = ownersOf(bytes, scan);
      const owned = intake.fieldManagers.inJson(bytes, scan, owners);
      const object = new StoredObject(scan, owners, labelsOf(bytes, scan), owned);
      intake.arena.store(object, new JsonContent(bytes, scan, intake.keepManagedFields));
      return object;
    }
    case "message":
      return explained(received.scan, () => takeInMessage(intake, received));
  }
}

function takeInMessage(intake: Intake, { bytes, scan }: ReceivedAs<"message">): StoredObject {
  if (intake.transform) return rewrite(intake, intake.readMessage(bytes, scan.start, scan.end));
  const owned = intake.fieldManagers.inMessage(bytes, scan);
  const object = new StoredObject(scan, scan.owners, undefined, owned);
  intake.arena.store(object, new MessageContent(bytes, scan, intake.keepManagedFields));
  return object;
}

/** An object's JSON, without its `managedFields` unless they are to be kept. */
class JsonContent implements Content {
  readonly isJson = true;
  readonly #bytes: Buffer;
  readonly #scan: Scan;
  readonly #isCut: boolean;
  readonly length: number;

  constructor(bytes: Buffer, scan: Scan, keepsManagedFields: boolean) {
    this.#bytes = bytes;
    this.#scan = scan;
    this.#isCut = !keepsManagedFields && scan.cutEnd > scan.cutStart;
    this.length = scan.end - scan.start - (this.#isCut ? scan.cutEnd - scan.cutStart : 0);
  }

  copyTo(into: Buffer, at: number): void {
    const { start, end, cutStart, cutEnd } = this.#scan;
    if (!this.#isCut) this.#bytes.copy(into, at, start, end);
    else {
      const copied = this.#bytes.copy(into, at, start, cutStart);
      this.#bytes.copy(into, at + copied, cutEnd, end);
    }
  }
}

/** An object's message, without its `managedFields` unless they are to be kept. */
class MessageContent implements Content {
  readonly isJson = false;
  readonly #bytes: Buffer;
  readonly #scan: MessageScan;
  readonly #isCut: boolean;
  readonly length: number;

  constructor(bytes: Buffer, scan: MessageScan, keepsManagedFields: boolean) {
    this.#bytes = bytes;
    this.#scan = scan;
    this.#isCut = !keepsManagedFields && scan.cutEnd > scan.cutStart;
    this.length = this.#isCut ? lengthWithoutCut(scan) : scan.end - scan.start;
  }

  copyTo(into: Buffer, at: number): void {
    if (this.#isCut) copyWithoutCut(this.#scan, this.#bytes, into, at);
    else this.#bytes.copy(into, at, this.#scan.start, this.#scan.end);
  }
}

function rewrite(intake: Intake, parsed: unknown): StoredObject {
  if (!isObject(parsed)) throw nameless();
  const before = parsed.metadata;
  const object = prepare(intake, parsed);
  const bytes = Buffer.from(JSON.stringify(object));
  const scan = scanObject(bytes, 0, bytes.length);
  if (!scan || scan.name !== before.name || scan.namespace !== (before.namespace ?? ""))
    throw new MalformedObjectError(
      `${before.namespace ?? ""}/${before.name}: a transform must keep metadata.name and metadata.namespace as they are`,
    );
  const owned = intake.fieldManagers.inObject(parsed);
  const stored = new StoredObject(scan, ownersOf(bytes, scan), labelsOf(bytes, scan), owned);
  intake.arena.store(stored, new JsonContent(bytes, scan, true));
  return stored;
}

/**
 * An object as it would read once stored: without managedFields, and transformed. Does not change
 * the one given.
 */
export function prepare(intake: Intake, object: KubernetesObject): KubernetesObject {
  let prepared = object;
  if (!intake.keepManagedFields && object.metadata.managedFields !== undefined) {
    const { managedFields: _, ...metadata } = object.metadata;
    prepared = { ...object, metadata };
  }
  if (!intake.transform) return prepared;
  return intake.transform(structuredClone(prepared)) ?? prepared;
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

function isSameVersion(held: StoredObject, scan: Identity): boolean {
  return (
    held.uid === scan.uid && held.resourceVersion === scan.resourceVersion && scan.resourceVersion !== ""
  );
}
