/** A place in a queue. It is in at most one queue, at most once. */
export class Place<T> {
  readonly value: T;
  /** Where it is, as the queue keeps it. */
  queue: HoldQueue<T> | undefined;
  before: Place<T> | undefined;
  after: Place<T> | undefined;

  constructor(value: T) {
    this.value = value;
  }
}

/** First in, first out; and each may leave from any place, at the same cost. */
export class HoldQueue<T> {
  #first: Place<T> | undefined;
  #last: Place<T> | undefined;
  #size = 0;

  get size(): number {
    return this.#size;
  }

  get first(): Place<T> | undefined {
    return this.#first;
  }

  get last(): Place<T> | undefined {
    return this.#last;
  }

  push(place: Place<T>): void {
    this.#insert(place, this.#last, undefined);
  }

  /** For one that has waited before, and was let through in vain. */
  pushFirst(place: Place<T>): void {
    this.#insert(place, undefined, this.#first);
  }

  shift(): Place<T> | undefined {
    const first = this.#first;
    if (first) this.remove(first);
    return first;
  }

  /** @returns whether it was here. */
  remove(place: Place<T>): boolean {
    if (place.queue !== this) return false;
    if (place.before) place.before.after = place.after;
    else this.#first = place.after;
    if (place.after) place.after.before = place.before;
    else this.#last = place.before;
    place.queue = undefined;
    place.before = undefined;
    place.after = undefined;
    this.#size -= 1;
    return true;
  }

  #insert(place: Place<T>, before: Place<T> | undefined, after: Place<T> | undefined): void {
    if (place.queue) throw new Error("the place is already in a queue");
    place.queue = this;
    place.before = before;
    place.after = after;
    if (before) before.after = place;
    else this.#first = place;
    if (after) after.before = place;
    else this.#last = place;
    this.#size += 1;
  }
}
