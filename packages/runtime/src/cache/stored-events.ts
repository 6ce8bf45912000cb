import type { KubernetesObject } from "@windlass/client";
import type { ObjectReader } from "./object-reader.ts";
import type { StoredObject } from "./stored-object.ts";

// Changes that read their objects on access: most handlers want the key alone.
// Classes, for there is one per object of a large list.

/** An object was added. It is decoded when it is first read. */
export class Added {
  readonly type = "added";
  readonly initial: boolean;
  readonly #reader: ObjectReader;
  readonly #stored: StoredObject;

  constructor(reader: ObjectReader, stored: StoredObject, initial: boolean) {
    this.#reader = reader;
    this.#stored = stored;
    this.initial = initial;
  }

  get object(): KubernetesObject {
    return this.#reader.read(this.#stored);
  }
}

/** An object was changed. Both states are decoded when they are first read. */
export class Updated {
  readonly type = "updated";
  readonly #reader: ObjectReader;
  readonly #stored: StoredObject;
  readonly #before: StoredObject;

  constructor(reader: ObjectReader, stored: StoredObject, before: StoredObject) {
    this.#reader = reader;
    this.#stored = stored;
    this.#before = before;
  }

  get object(): KubernetesObject {
    return this.#reader.read(this.#stored);
  }

  get old(): KubernetesObject {
    return this.#reader.read(this.#before);
  }
}

/** An object was deleted. Its last state is decoded when it is first read. */
export class Gone {
  readonly type = "deleted";
  readonly #reader: ObjectReader;
  readonly #stored: StoredObject;

  constructor(reader: ObjectReader, stored: StoredObject) {
    this.#reader = reader;
    this.#stored = stored;
  }

  get object(): KubernetesObject {
    return this.#reader.read(this.#stored);
  }
}
