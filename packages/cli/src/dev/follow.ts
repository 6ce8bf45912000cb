import { setTimeout as delay } from "node:timers/promises";
import {
  type AnyKind,
  type AnyObject,
  type Client,
  controllerOf,
  groupOf,
  statusOf,
  TransportError,
} from "@windlass/client";
import {
  ConfigMap,
  CronJob,
  DaemonSet,
  Deployment,
  HorizontalPodAutoscaler,
  Ingress,
  Job,
  NetworkPolicy,
  PersistentVolumeClaim,
  Pod,
  PodDisruptionBudget,
  ReplicaSet,
  Secret,
  Service,
  StatefulSet,
} from "@windlass/runtime/kinds";
import { describe } from "./describe.ts";

/**
 * Tells what is of interest: objects of the operator's kinds, what was made for them, and for that.
 * A cluster has much else.
 */
export class Descendants {
  /** What operators make of their objects, and the state of that. */
  static readonly kinds: readonly AnyKind[] = [
    ConfigMap,
    CronJob,
    DaemonSet,
    Deployment,
    HorizontalPodAutoscaler,
    Ingress,
    Job,
    NetworkPolicy,
    PersistentVolumeClaim,
    Pod,
    PodDisruptionBudget,
    ReplicaSet,
    Secret,
    Service,
    StatefulSet,
  ];
  readonly #kinds = new Set<string>();
  readonly #uids = new Set<string>();

  /** Objects of this kind are where it begins. */
  begin({ group, kind }: Pick<AnyKind, "group" | "kind">): void {
    this.#kinds.add(`${group}/${kind}`);
  }

  /** Whether an object is to be shown. */
  has(kind: AnyKind, object: AnyObject): boolean {
    const owner = controllerOf(object);
    const isOne =
      this.#kinds.has(`${kind.group}/${kind.kind}`) ||
      (owner !== undefined &&
        (this.#uids.has(owner.uid) || this.#kinds.has(`${groupOf(owner.apiVersion)}/${owner.kind}`)));
    const { uid } = object.metadata;
    if (isOne && uid !== undefined) this.#uids.add(uid);
    // Between a Deployment and its pods, and says nothing that they do not.
    return isOne && kind.kind !== "ReplicaSet";
  }
}

/**
 * How long after an API server could not be reached, or could not answer yet, it is tried again.
 */
export const retryMs = 1_000;

/** Something that happened to an object. */
export interface Change {
  readonly object: AnyObject;
  /** In a few words: `2 of 3 available`. */
  readonly words: string;
}

/**
 * Reports each object of a kind when it appears, goes, or when there is something else to say
 * about it. Ends when aborted.
 *
 * @throws ApiError if this is not allowed
 */
export async function follow(
  client: Client,
  kind: AnyKind,
  signal: AbortSignal,
  onChange: (change: Change) => void,
): Promise<void> {
  const last = new Map<string, string>();
  while (!signal.aborted) {
    try {
      // A watch ends now and then. The next one begins with what is there, of which nothing is said
      // twice.
      for await (const event of client.watch(kind, { signal })) {
        if (event.type === "BOOKMARK" || event.type === "ERROR") continue;
        const object = { kind: kind.kind, ...(event.object as AnyObject) };
        const { namespace = "", name } = object.metadata;
        const words = event.type === "DELETED" ? "is gone" : describe(object);
        const key = `${namespace}/${name}`;
        if (last.get(key) === words) continue;
        if (event.type === "DELETED") last.delete(key);
        else last.set(key, words);
        onChange({ object, words });
      }
    } catch (error) {
      if (signal.aborted) return;
      if (!isTransient(error)) throw error;
      await delay(retryMs, undefined, { signal }).catch(() => undefined);
    }
  }
}

/**
 * Whether the next try may go well. A server answers 429 for a second after a definition was
 * installed, and 404 once it was deleted: it is installed again with the next change.
 */
function isTransient(error: unknown): boolean {
  const code = statusOf(error)?.code ?? 0;
  return error instanceof TransportError || code === 404 || code === 410 || code === 429 || code >= 500;
}
