import type { AnyKind, KubernetesObject } from "@windlass/client";
import { apiVersionOf } from "@windlass/client";
import { MalformedMessageError } from "@windlass/client/protobuf";
import type { Arenas } from "./arena.ts";
import { MalformedObjectError } from "./received.ts";
import { isJson } from "./scan.ts";
import { readLabels } from "./scan-message.ts";
import type { Intake, StoredObject } from "./stored-object.ts";

/**
 * Keeps the objects that were read lately in parsed form, up to a budget, and drops the rest.
 * Shared by all kinds of a cache.
 *
 * Works in two generations: an object read in the present one stays; when the present one is full
 * it becomes the past one, and what was not read since then is let go.
 */
export class ParsedObjects {
  readonly #budgetBytes: number;
  #generation = 1;
  #present = new Set<StoredObject>();
  #past = new Set<StoredObject>();
  #presentBytes = 0;

  /**
   * @param budgetBytes how much JSON may be held in parsed form, of which the present generation
   *   takes half.
   */
  constructor(budgetBytes: number) {
    this.#budgetBytes = budgetBytes / 2;
  }

  touch(stored: StoredObject): void {
    if (stored.generation === this.#generation) return;
    stored.generation = this.#generation;
    this.#present.add(stored);
    this.#presentBytes += stored.length;
    if (this.#presentBytes > this.#budgetBytes) this.#turn();
  }

  /**
   * The object is no longer cached: what is kept of it would only be in the way. It can still be
   * read.
   */
  forget(stored: StoredObject): void {
    if (stored.generation === 0) return;
    if (this.#present.delete(stored)) this.#presentBytes -= stored.length;
    this.#past.delete(stored);
    stored.parsed = undefined;
    stored.generation = 0;
  }

  #turn(): void {
    for (const stored of this.#past) {
      if (stored.generation === this.#generation) continue;
      stored.parsed = undefined;
      stored.generation = 0;
    }
    this.#past = this.#present;
    this.#present = new Set();
    this.#presentBytes = 0;
    this.#generation += 1;
  }
}

const noLabels: Readonly<Record<string, string>> = {};

/** Turns what is stored of one kind into objects. */
export class ObjectReader {
  readonly #kind: AnyKind;
  readonly #apiVersion: string;
  readonly #parsed: ParsedObjects;
  readonly #arena: Pick<Arenas, "read">;
  readonly #readMessage: Intake["readMessage"];
  readonly #freeze: boolean;

  constructor(options: {
    readonly kind: AnyKind;
    readonly arena: Pick<Arenas, "read">;
    readonly parsed: ParsedObjects;
    readonly readMessage: Intake["readMessage"];
    readonly freeze: boolean;
  }) {
    this.#kind = options.kind;
    this.#apiVersion = apiVersionOf(options.kind);
    this.#arena = options.arena;
    this.#parsed = options.parsed;
    this.#readMessage = options.readMessage;
    this.#freeze = options.freeze;
  }

  /** @throws MalformedObjectError if what the server sent turns out not to be an object. */
  read(stored: StoredObject): KubernetesObject {
    let object = stored.parsed;
    if (!object) {
      object = this.finish(this.#open(stored) as KubernetesObject);
      stored.parsed = object;
    }
    // What is no longer held is read by a handler that was late; it is not worth a place.
    if (stored.isHeld) this.#parsed.touch(stored);
    return object;
  }

  /** Labels, without parsing the rest. */
  labels(stored: StoredObject): Readonly<Record<string, string>> {
    if (stored.parsed) return stored.parsed.metadata.labels ?? noLabels;
    if (stored.labels === undefined) return this.#explained(stored, readLabels);
    if (stored.labels === "") return noLabels;
    return JSON.parse(stored.labels) as Readonly<Record<string, string>>;
  }

  /**
   * Gives an object its kind where the server left it out (it does in lists of built-in kinds) or
   * named the form instead (metadata only), and freezes it if asked to.
   */
  finish(object: KubernetesObject): KubernetesObject {
    const named =
      object.kind === this.#kind.kind && object.apiVersion === this.#apiVersion
        ? object
        : { ...object, apiVersion: this.#apiVersion, kind: this.#kind.kind };
    return this.#freeze ? deepFreeze(named) : named;
  }

  #open(stored: StoredObject): unknown {
    return this.#explained(stored, (bytes) =>
      isJson(bytes, 0) ? JSON.parse(bytes.toString("utf8")) : this.#readMessage(bytes, 0, bytes.length),
    );
  }

  #explained<T>(stored: StoredObject, read: (bytes: Buffer) => T): T {
    try {
      return read(this.#arena.read(stored));
    } catch (error) {
      if (!(error instanceof SyntaxError || error instanceof MalformedMessageError)) throw error;
      const place = stored.namespace === "" ? stored.name : `${stored.namespace}/${stored.name}`;
      throw new MalformedObjectError(`${this.#kind.kind} ${place}: what the server sent is not an object`);
    }
  }
}

function deepFreeze<T>(value: T): T {
  if (typeof value !== "object" || value === null || Object.isFrozen(value)) return value;
  for (const inner of Object.values(value)) deepFreeze(inner);
  return Object.freeze(value);
}
