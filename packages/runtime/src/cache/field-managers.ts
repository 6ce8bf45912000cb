import type { KubernetesObject, ManagedFieldsEntry } from "@windlass/client";
import { WireCursor } from "@windlass/client/protobuf";
import type { FieldsV1, OwnedFields } from "./contract.ts";
import { type Scan, scanArray } from "./scan.ts";
import type { MessageScan } from "./scan-message.ts";

// The numbers of the fields of a ManagedFieldsEntry.
const MANAGER = 1;
const OPERATION = 2;
const API_VERSION = 3;
const FIELDS_V1 = 7;
const SUBRESOURCE = 8;

/**
 * When an entry was last changed. Nothing else of an entry has this form: the fields have objects
 * for values.
 */
const time = /,"time":"[^"]*"|"time":"[^"]*",/;

const OPEN_BRACKET = 0x5b;
const SHARED_TEXTS = 4096;
const PARSED_TEXTS = 64;

/**
 * The field managers whose entries of `metadata.managedFields` the cache keeps, while it drops all
 * others: with them a controller knows what it owns of an object, and that no other manager has
 * changed it since.
 *
 * An object's entries are kept as one text, which objects of the same shape share: it has no times,
 * and numbers for the uids of the object's owners. Only what was applied counts; what the same
 * manager wrote by update is another's.
 */
export class FieldManagers {
  readonly #names = new Map<string, Buffer>();
  readonly #shared = new Map<string, string>();
  readonly #parsed = new Map<string, readonly ManagedFieldsEntry[]>();

  track(name: string): void {
    this.#names.set(name, Buffer.from(`"manager":${JSON.stringify(name)}`));
  }

  /** The entries in an object's JSON; empty if none is of a manager that is tracked. */
  inJson(bytes: Buffer, { cutStart, cutEnd }: Scan, owners: readonly string[]): string {
    if (cutEnd === cutStart || this.#names.size === 0) return "";
    const cut = bytes.subarray(cutStart, cutEnd);
    if (!this.#isNamedIn(cut)) return "";
    const entries: string[] = [];
    const spans = scanArray(cut, cut.indexOf(OPEN_BRACKET));
    for (let index = 0; index < spans.length; index += 2) {
      const entry = cut.subarray(spans[index], spans[index + 1]);
      if (!this.#isNamedIn(entry)) continue;
      const text = entry.toString("utf8");
      if (text.includes('"operation":"Apply"')) entries.push(text.replace(time, ""));
    }
    return this.#share(entries, owners);
  }

  /** The entries in an object's message. @throws MalformedMessageError */
  inMessage(bytes: Buffer, { cutStart, cutEnd, owners }: MessageScan): string {
    if (cutEnd === cutStart || this.#names.size === 0) return "";
    const entries: string[] = [];
    const cursor = new WireCursor(bytes);
    cursor.at = cutStart;
    while (cursor.next(cutEnd) !== 0) {
      const end = cursor.fieldEnd;
      const entry = this.#entryIn(cursor, end);
      if (entry !== undefined) entries.push(entry);
      cursor.at = end;
    }
    return this.#share(entries, owners);
  }

  /** The entries of an object that is parsed already. */
  inObject({ metadata }: KubernetesObject): string {
    if (metadata.managedFields === undefined || this.#names.size === 0) return "";
    const entries = metadata.managedFields
      .filter(({ manager = "", operation }) => operation === "Apply" && this.#names.has(manager))
      .map(({ manager, operation, apiVersion, fieldsV1, subresource }) =>
        JSON.stringify({ manager, operation, apiVersion, fieldsV1, subresource }),
      );
    return this.#share(entries, ownersOf(metadata));
  }

  #isNamedIn(bytes: Buffer): boolean {
    for (const name of this.#names.values()) if (bytes.includes(name)) return true;
    return false;
  }

  #entryIn(cursor: WireCursor, end: number): string | undefined {
    const { bytes } = cursor;
    let manager = "";
    let operation = "";
    let apiVersion = "";
    let fieldsV1 = "{}";
    let subresource = "";
    for (let number = cursor.next(end); number !== 0; number = cursor.next(end)) {
      const to = cursor.fieldEnd;
      if (number === MANAGER) {
        manager = bytes.toString("utf8", cursor.at, to);
        if (!this.#names.has(manager)) return undefined;
      } else if (number === OPERATION) operation = bytes.toString("latin1", cursor.at, to);
      else if (number === API_VERSION) apiVersion = bytes.toString("latin1", cursor.at, to);
      else if (number === SUBRESOURCE) subresource = bytes.toString("latin1", cursor.at, to);
      // The JSON is raw bytes within a message of its own.
      else if (number === FIELDS_V1) fieldsV1 = cursor.text(1, to);
      cursor.at = to;
    }
    if (operation !== "Apply" || !this.#names.has(manager)) return undefined;
    const head = JSON.stringify({ manager, operation, apiVersion, ...(subresource ? { subresource } : {}) });
    return `${head.slice(0, -1)},"fieldsV1":${fieldsV1}}`;
  }

  /** What a manager owns through an endpoint, of what was kept of an object. */
  ownedFields({ owned, owners }: KeptFields, manager: string, subresource: string): OwnedFields | undefined {
    if (owned === "") return undefined;
    for (const entry of this.#parse(owned))
      if (entry.manager === manager && (entry.subresource ?? "") === subresource)
        return {
          apiVersion: entry.apiVersion ?? "",
          fields: withOwners((entry.fieldsV1 ?? {}) as FieldsV1, owners),
          version: owned,
        };
    return undefined;
  }

  /** Nothing, if the server sent something else than JSON: then an apply sets it right. */
  #parse(text: string): readonly ManagedFieldsEntry[] {
    const known = this.#parsed.get(text);
    if (known) return known;
    let entries: readonly ManagedFieldsEntry[] = [];
    try {
      entries = JSON.parse(text) as readonly ManagedFieldsEntry[];
    } catch (error) {
      if (!(error instanceof SyntaxError)) throw error;
    }
    if (this.#parsed.size >= PARSED_TEXTS) this.#parsed.clear();
    this.#parsed.set(text, entries);
    return entries;
  }

  #share(entries: readonly string[], owners: readonly string[]): string {
    if (entries.length === 0) return "";
    let text = `[${entries.join(",")}]`;
    for (const [index, uid] of owners.entries())
      text = text.replaceAll(quotedOwnerKey(uid), quotedOwnerKey(numbered(index)));
    const shared = this.#shared.get(text);
    if (shared !== undefined) return shared;
    if (this.#shared.size >= SHARED_TEXTS) this.#shared.clear();
    this.#shared.set(text, text);
    return text;
  }
}

/** The uids of an object's owners, in their order. */
export function ownersOf({ ownerReferences = [] }: KubernetesObject["metadata"]): readonly string[] {
  return ownerReferences.map(({ uid }) => uid);
}

/** What {@link FieldManagers} kept of an object, and whose uids stand behind the numbers in it. */
export interface KeptFields {
  readonly owned: string;
  readonly owners: readonly string[];
}

/** How an owner is named among the fields of an object. */
function ownerKey(uid: string): string {
  return `k:${JSON.stringify({ uid })}`;
}

/** The same within a text that is JSON itself. */
function quotedOwnerKey(uid: string): string {
  return `"k:{\\"uid\\":\\"${uid}\\"}"`;
}

function numbered(index: number): string {
  return `#${index}`;
}

/** The fields with the owners' uids in the place of their numbers. */
function withOwners(fields: FieldsV1, owners: readonly string[]): FieldsV1 {
  const references = fields["f:metadata"]?.["f:ownerReferences"];
  if (!references) return fields;
  const named = { ...references };
  for (const [index, uid] of owners.entries()) {
    const key = ownerKey(numbered(index));
    const below = named[key];
    if (below === undefined) continue;
    delete named[key];
    named[ownerKey(uid)] = below;
  }
  return { ...fields, "f:metadata": { ...fields["f:metadata"], "f:ownerReferences": named } };
}
