import { compareResourceVersions, type KubernetesObject } from "@windlass/client";

/**
 * What this process has written and the watch has not brought yet: an object's newer version, or
 * that it is gone.
 */
export interface OwnWrite {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  /**
   * The version that the write gave; for a delete, the last one known. Empty if the server did not
   * say.
   */
  readonly version: string;
  /** Undefined where the write took the object out of what the informer holds. */
  readonly object: KubernetesObject | undefined;
  /**
   * What the tracked field managers own of that object, as `FieldManagers` keeps it.
   *
   * @default nothing
   */
  readonly owned?: string;
  /**
   * For a delete: the server said that the object no longer exists, so nothing that the watch may
   * still bring of it counts.
   */
  readonly isCertain?: boolean;
}

/** A write that is pending, with its place among all writes. */
type Pending = OwnWrite & { readonly order: number };

/** What the watch has brought so far, as far as one write is concerned. */
export interface Known {
  /** What is held under the write's name. */
  readonly held: { readonly uid: string; readonly resourceVersion: string } | undefined;
  /** The newest version seen of anything of the kind. */
  readonly seen: string | undefined;
}

/**
 * Our own writes, laid over what the watch has brought, so that the next read sees them.
 *
 * Keeps the last write to each name. A write goes as soon as the watch can be shown to have passed
 * it: by the same or a newer version of the object, by an event or bookmark of the same or a newer
 * version, or by a list of the same or a newer version or that was asked for later. So what others
 * wrote after us is never hidden; what they wrote before us is, as it should be.
 *
 * Where versions are not numbers (some aggregated APIs) they cannot be ordered. Then any event of
 * the object that comes after the write counts as having passed it, and so does any list.
 */
export class Overlay {
  readonly #writes = new Map<string, Pending>();
  /**
   * Deletes, by uid: an object of the same name may have been recreated before the delete's echo is
   * there.
   */
  readonly #tombs = new Map<string, Pending>();
  /**
   * The last delete of each name: what the watch brings of earlier objects of that name is over
   * too.
   */
  readonly #lastTombs = new Map<string, Pending>();
  #lastWrite = 0;
  /** Those who wait for a write to pass, by its key in the maps above. */
  readonly #waiters = new Map<string, (() => void)[]>();

  get size(): number {
    return this.#writes.size + this.#tombs.size;
  }

  /** The last of our writes so far, for {@link sawList}. */
  get lastWrite(): number {
    return this.#lastWrite;
  }

  /** Whether a write up to this one is pending still. */
  hasPending(upTo: number): boolean {
    for (const pending of [this.#writes, this.#tombs])
      for (const { order } of pending.values()) if (order <= upTo) return true;
    return false;
  }

  /** The last write of ours to this name, if the watch has not passed it. */
  get(namespace: string, name: string): OwnWrite | undefined {
    return this.#writes.get(storeKey(namespace, name));
  }

  writes(): Iterable<OwnWrite> {
    return this.#writes.values();
  }

  /** Whether what the watch brought of an object is out of date: overwritten or deleted by us. */
  hides(object: {
    readonly namespace: string;
    readonly name: string;
    readonly uid: string;
    readonly resourceVersion: string;
  }): boolean {
    if (this.#tombs.has(object.uid)) return true;
    const key = storeKey(object.namespace, object.name);
    if (this.#writes.has(key)) return true;
    const tomb = this.#lastTombs.get(key);
    return tomb !== undefined && isOlder(object.resourceVersion, tomb.version);
  }

  /**
   * A write went through, and this is what the server answered. A write that changed nothing leaves
   * nothing.
   */
  wrote(write: OwnWrite, { held, seen }: Known): void {
    const key = storeKey(write.namespace, write.name);
    const earlier = this.#writes.get(key);
    // Answers may overtake each other, and a delete: also one about an earlier object of the name.
    if (earlier && isOlder(write.version, earlier.version)) return;
    const tomb = this.#lastTombs.get(key);
    if (this.#tombs.has(write.uid) || (tomb && isOlder(write.version, tomb.version))) return;
    const isHeld = held?.uid === write.uid && isAtLeast(held.resourceVersion, write.version);
    if (isHeld || (seen !== undefined && isAtLeast(seen, write.version))) this.#pass(this.#writes, key);
    else this.#writes.set(key, { ...write, order: ++this.#lastWrite });
  }

  /** An object no longer exists by our own doing. */
  deleted(tomb: OwnWrite, { held, seen }: Known): void {
    const key = storeKey(tomb.namespace, tomb.name);
    const earlier = this.#writes.get(key);
    let { version } = tomb;
    if (earlier?.uid === tomb.uid && (version === "" || isOlder(version, earlier.version)))
      version = earlier.version;
    // A write to an earlier object of that name is over as well.
    if (earlier && !isOlder(version, earlier.version)) {
      this.#writes.delete(key);
      this.#moveWaiters(key, tomb.uid);
    }
    const isHeld = held?.uid === tomb.uid;
    if (isHeld && isOlder(version, held.resourceVersion)) version = held.resourceVersion;
    // Not held although the watch is past its last version: the watch has seen its end.
    const isOver = !isHeld && (version === "" || (seen !== undefined && isAtLeast(seen, version)));
    if (tomb.uid === "" || isOver) this.#pass(this.#tombs, tomb.uid);
    else {
      const buried = { ...tomb, version, order: ++this.#lastWrite };
      this.#tombs.set(tomb.uid, buried);
      const last = this.#lastTombs.get(key);
      if (!last || !isOlder(version, last.version)) this.#lastTombs.set(key, buried);
    }
  }

  /** The watch brought a version of an object. */
  sawObject(namespace: string, name: string, uid: string, version: string): void {
    if (this.size === 0) return;
    this.#sawChange(namespace, name, version);
    const tomb = this.#tombs.get(uid);
    // Newer than what we deleted: it is there after all.
    if (tomb && !tomb.isCertain && isNewer(version, tomb.version)) this.#pass(this.#tombs, uid);
  }

  /** The watch brought the end of an object, or that it no longer belongs to what is watched. */
  sawDelete(namespace: string, name: string, uid: string, version: string): void {
    if (this.size === 0) return;
    this.#sawChange(namespace, name, version);
    this.#pass(this.#tombs, uid);
  }

  /**
   * The watch has brought everything up to a version.
   *
   * @param isHeld whether the object of a delete is held now
   */
  sawBookmark(version: string, isHeld: (tomb: OwnWrite) => boolean): void {
    if (this.size === 0) return;
    this.#sawVersion(version);
    for (const [uid, tomb] of this.#tombs) {
      if (!isNewer(tomb.version, version) && !isHeld(tomb)) this.#pass(this.#tombs, uid);
    }
  }

  /**
   * A list has replaced everything.
   *
   * @param shownUpTo writes up to this one had been answered before a list was asked for that shows
   *   the server's present state: it has passed them, even if its version is older. Then the server
   *   went back in time, and they never happened.
   */
  sawList(version: string, isHeld: (tomb: OwnWrite) => boolean, shownUpTo = 0): void {
    for (const [key, write] of this.#writes) {
      if (write.order <= shownUpTo || !isCertainlyNewer(write.version, version))
        this.#pass(this.#writes, key);
    }
    for (const [uid, tomb] of this.#tombs) {
      const isOver = !isCertainlyNewer(tomb.version, version) && !isHeld(tomb);
      if (tomb.order <= shownUpTo || isOver) this.#pass(this.#tombs, uid);
    }
  }

  clear(): void {
    for (const key of this.#writes.keys()) this.#pass(this.#writes, key);
    for (const uid of this.#tombs.keys()) this.#pass(this.#tombs, uid);
  }

  /**
   * Resolves once the watch has passed what is pending now.
   *
   * @throws the signal's reason, when it is aborted before.
   */
  async passed(signal?: AbortSignal): Promise<void> {
    signal?.throwIfAborted();
    const keys = [...this.#writes.keys(), ...this.#tombs.keys()];
    if (keys.length === 0) return;
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    let left = keys.length;
    for (const key of keys) {
      const waiters = this.#waiters.get(key) ?? [];
      this.#waiters.set(key, waiters);
      waiters.push(() => {
        left -= 1;
        if (left === 0) resolve();
      });
    }
    const onAbort = () => reject(signal?.reason);
    signal?.addEventListener("abort", onAbort, { once: true });
    try {
      await promise;
    } finally {
      signal?.removeEventListener("abort", onAbort);
    }
  }

  #sawChange(namespace: string, name: string, version: string): void {
    const key = storeKey(namespace, name);
    const write = this.#writes.get(key);
    if (write && !isOlder(version, write.version)) this.#pass(this.#writes, key);
    this.#sawVersion(version);
  }

  /**
   * Events come in the order of versions: a write not newer than the last of them is behind us. If
   * it is not held, it is gone again.
   */
  #sawVersion(version: string): void {
    for (const [key, write] of this.#writes) {
      if (isAtLeast(version, write.version)) this.#pass(this.#writes, key);
    }
  }

  #pass(from: Map<string, Pending>, key: string): void {
    if (from === this.#tombs) {
      const tomb = this.#tombs.get(key);
      const place = tomb && storeKey(tomb.namespace, tomb.name);
      if (place !== undefined && this.#lastTombs.get(place) === tomb) this.#lastTombs.delete(place);
    }
    from.delete(key);
    const waiters = this.#waiters.get(key);
    if (!waiters) return;
    this.#waiters.delete(key);
    for (const notify of waiters) notify();
  }

  #moveWaiters(from: string, to: string): void {
    const waiters = this.#waiters.get(from);
    if (!waiters) return;
    this.#waiters.delete(from);
    this.#waiters.set(to, [...(this.#waiters.get(to) ?? []), ...waiters]);
  }
}

function storeKey(namespace: string, name: string): string {
  return `${namespace}/${name}`;
}

function isAtLeast(a: string, b: string): boolean {
  const order = compareResourceVersions(a, b);
  return order === undefined ? a === b : order >= 0;
}

function isOlder(a: string, b: string): boolean {
  const order = compareResourceVersions(a, b);
  return order !== undefined && order < 0;
}

/** Of versions that cannot be compared, any other than the same counts as newer. */
function isNewer(a: string, b: string): boolean {
  const order = compareResourceVersions(a, b);
  return order === undefined ? a !== b : order > 0;
}

function isCertainlyNewer(a: string, b: string): boolean {
  const order = compareResourceVersions(a, b);
  return order !== undefined && order > 0;
}
