import type { AnyKind, KubernetesObject, ObjectKey, ObjectOf } from "@windlass/client";
import type { Informer } from "../cache/contract.ts";
import { kindIdOf } from "../cache/kind-id.ts";
import { describe, keyId, keyOf } from "../reconcile/client.ts";
import { ReconcileOverError } from "../reconcile/errors.ts";

/** What one reconcile follows. */
export interface FollowSession {
  /** The object, once its kind is cached; its changes ask for a reconcile from now on. */
  follow<K extends AnyKind>(kind: K, key: ObjectKey): Promise<ObjectOf<K> | undefined>;
  /** The reconcile is over: what it did not follow this time is let go. */
  settle(): void;
}

/** What following depends on. */
export interface FollowDependencies {
  readonly informer: (kind: AnyKind) => Informer<KubernetesObject>;
  /** Told of each kind that begins to be followed. */
  readonly onKind: (kind: AnyKind) => void;
}

interface Watch {
  readonly informer: Informer<KubernetesObject>;
  readonly stop: () => void;
  /** Who follows each object, by the object's key. */
  readonly followers: Map<string, Map<string, ObjectKey>>;
}

const nothing: ReadonlyMap<string, readonly [kind: string, object: string]> = new Map();

/**
 * Watches for kinds that are known only while running, such as the target that an object refers to.
 * A kind is watched for as long as any object of it is followed.
 */
export class Follows {
  readonly #dependencies: FollowDependencies;
  readonly #enqueue: (key: ObjectKey) => void;
  readonly #watches = new Map<string, Watch>();
  /** What each follower follows: `kind id` and `object id`. */
  readonly #followed = new Map<string, Map<string, readonly [kind: string, object: string]>>();

  /** A canceled reconcile may go on for longer than its controller. */
  #isClosed = false;

  constructor(dependencies: FollowDependencies, enqueue: (key: ObjectKey) => void) {
    this.#dependencies = dependencies;
    this.#enqueue = enqueue;
  }

  begin(follower: ObjectKey): FollowSession {
    const followerId = keyId(follower);
    // Most reconciles follow nothing.
    let current: Map<string, readonly [kind: string, object: string]> | undefined;
    return {
      follow: async (kind, key) => {
        if (this.#isClosed) throw new ReconcileOverError(`follow ${describe(kind, key)}`);
        const kindId = kindIdOf(kind);
        const watch = this.#watches.get(kindId) ?? this.#open(kind, kindId);
        const objectId = keyId(key);
        const followers = watch.followers.get(objectId) ?? new Map<string, ObjectKey>();
        followers.set(followerId, follower);
        watch.followers.set(objectId, followers);
        current ??= new Map();
        current.set(`${kindId} ${objectId}`, [kindId, objectId]);
        const before = this.#followed.get(followerId);
        this.#followed.set(followerId, new Map([...(before ?? []), ...current]));
        await watch.informer.synced;
        return watch.informer.get(key) as ObjectOf<typeof kind> | undefined;
      },
      settle: () => this.#keep(followerId, current ?? nothing),
    };
  }

  /** Drops all that a deleted object follows. */
  forget(follower: ObjectKey): void {
    this.#keep(keyId(follower), nothing);
  }

  close(): void {
    this.#isClosed = true;
    for (const { informer, stop } of this.#watches.values()) {
      stop();
      informer.release();
    }
    this.#watches.clear();
    this.#followed.clear();
  }

  #open(kind: AnyKind, kindId: string): Watch {
    this.#dependencies.onKind(kind);
    const informer = this.#dependencies.informer(kind);
    const followers = new Map<string, Map<string, ObjectKey>>();
    const stop = informer.subscribe((change) => {
      for (const follower of followers.get(keyId(keyOf(change.object)))?.values() ?? [])
        this.#enqueue(follower);
    });
    const watch = { informer, stop, followers };
    this.#watches.set(kindId, watch);
    return watch;
  }

  #keep(followerId: string, wanted: ReadonlyMap<string, readonly [string, string]>): void {
    const before = this.#followed.get(followerId);
    if (!before) return;
    if (wanted.size === 0) this.#followed.delete(followerId);
    else this.#followed.set(followerId, new Map(wanted));
    for (const [id, [kindId, objectId]] of before) {
      if (wanted.has(id)) continue;
      const watch = this.#watches.get(kindId);
      const followers = watch?.followers.get(objectId);
      followers?.delete(followerId);
      if (followers?.size === 0) watch?.followers.delete(objectId);
      if (watch?.followers.size !== 0) continue;
      this.#watches.delete(kindId);
      watch.stop();
      watch.informer.release();
    }
  }
}
