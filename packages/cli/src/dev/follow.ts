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
import { describe, isReady } from "./describe.ts";

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
  /** What is controlled by an object that is not known to be one of them: that may come yet. */
  readonly #waiting = new Map<string, Map<string, Relative>>();

  /**
   * Objects of this kind are where it begins.
   *
   * @returns what was seen before, and is known now to be of interest
   */
  begin({ group, kind }: Pick<AnyKind, "group" | "kind">): readonly Relative[] {
    const id = `${group}/${kind}`;
    this.#kinds.add(id);
    return [...this.#waiting]
      .filter(([, children]) => [...children.values()].some(({ ownerKind }) => ownerKind === id))
      .flatMap(([uid]) => this.#claim(uid));
  }

  /**
   * Takes down what happened to an object. Each kind is watched by itself, so that pods may come
   * before what they are for.
   *
   * @returns what is to be shown now
   */
  see(kind: AnyKind, { object, words, isGone }: Change): readonly Relative[] {
    const controller = controllerOf(object);
    const { uid = "", name, namespace } = object.metadata;
    const relative: Relative = {
      kind: kind.kind,
      name,
      uid,
      ...(namespace === undefined ? {} : { namespace }),
      ...(controller === undefined
        ? {}
        : { ownerKind: `${groupOf(controller.apiVersion)}/${controller.kind}`, ownerUid: controller.uid }),
      words,
      isReady: isReady(object),
    };
    const { ownerKind = "", ownerUid = "" } = relative;
    const isOne =
      this.#kinds.has(`${kind.group}/${kind.kind}`) || this.#uids.has(ownerUid) || this.#kinds.has(ownerKind);
    if (isOne) return [...shown(relative), ...this.#claim(uid)];
    const siblings = this.#waiting.get(ownerUid) ?? new Map<string, Relative>();
    siblings.delete(uid);
    if (ownerUid !== "" && isGone !== true) siblings.set(uid, relative);
    if (siblings.size > 0) this.#waiting.set(ownerUid, siblings);
    else this.#waiting.delete(ownerUid);
    return [];
  }

  /** An object is one of them, and so is whatever waited for it. */
  #claim(uid: string): readonly Relative[] {
    this.#uids.add(uid);
    const children = [...(this.#waiting.get(uid)?.values() ?? [])];
    this.#waiting.delete(uid);
    return children.flatMap((child) => [...shown(child), ...this.#claim(child.uid)]);
  }
}

/** What is shown of an object, and kept of one whose owner is not known yet. */
export interface Relative {
  readonly kind: string;
  readonly namespace?: string;
  readonly name: string;
  readonly uid: string;
  readonly ownerKind?: string;
  readonly ownerUid?: string;
  readonly words: string;
  readonly isReady: boolean;
}

/** A ReplicaSet is between a Deployment and its pods, and says nothing that they do not. */
function shown(relative: Relative): readonly Relative[] {
  return relative.kind === "ReplicaSet" ? [] : [relative];
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
  readonly isGone?: boolean;
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
        onChange({ object, words, isGone: event.type === "DELETED" });
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
