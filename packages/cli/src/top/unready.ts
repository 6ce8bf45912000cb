import { setTimeout as delay } from "node:timers/promises";
import { type AnyKind, type Client, isForbidden, isNotFound, type KubernetesObject } from "@windlass/client";
import type { Operator } from "../generate/resolve.ts";

/** An object whose condition Ready is False. */
export interface UnreadyObject {
  readonly kind: string;
  readonly key: string;
  readonly reason: string;
  readonly message: string;
}

/** The objects that are not ready now. */
export interface Unready {
  readonly objects: readonly UnreadyObject[];
  /** Kinds that may not be listed, with the namespace where there is one: `shops in acme`. */
  readonly hidden: readonly string[];
}

interface Conditions {
  readonly conditions?: readonly {
    readonly type: string;
    readonly status: string;
    readonly reason: string;
    readonly message: string;
  }[];
}

/** How many objects are asked for at a time. */
const pageSize = 500;
/** How long after a failure it is tried again. */
const retryMs = 1_000;

/**
 * The operator's objects that are not ready, with the reason that their condition gives. Metrics do
 * not name objects: there may be any number, so they are listed once, page by page, and watched
 * from then on. Of those that are ready nothing is kept.
 */
export class UnreadyObjects implements AsyncDisposable {
  readonly #end = new AbortController();
  readonly #places: readonly Place[];
  readonly #running: Promise<unknown>;

  constructor(client: Client, { kinds, namespaces }: Pick<Operator, "kinds" | "namespaces">) {
    this.#places = kinds.flatMap((kind) => {
      const where = kind.scope === "Cluster" ? [undefined] : (namespaces ?? [undefined]);
      return where.map((namespace) => new Place(client, kind, namespace));
    });
    this.#running = Promise.all(this.#places.map((one) => one.run(this.#end.signal)));
  }

  /**
   * Those of now, once all have been looked at.
   *
   * @throws what kept one of them from being listed
   */
  async now(): Promise<Unready> {
    const looks = await Promise.all(this.#places.map((one) => one.look()));
    return {
      objects: looks.flatMap(({ objects }) => objects),
      hidden: looks.flatMap(({ hidden }) => hidden),
    };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#end.abort();
    await this.#running;
  }
}

/** A kind in a namespace, or everywhere. */
class Place {
  readonly #client: Client;
  readonly #kind: AnyKind;
  readonly #namespace: string | undefined;
  readonly #unready = new Map<string, UnreadyObject>();
  /** Resolves once there is something to say. */
  readonly #first = Promise.withResolvers<void>();
  /** Undefined while all is well. */
  #fault: unknown;
  #isHidden = false;

  constructor(client: Client, kind: AnyKind, namespace: string | undefined) {
    this.#client = client;
    this.#kind = kind;
    this.#namespace = namespace;
  }

  async look(): Promise<Unready> {
    await this.#first.promise;
    if (this.#fault !== undefined) throw this.#fault;
    const { plural } = this.#kind;
    const where = this.#namespace === undefined ? plural : `${plural} in ${this.#namespace}`;
    return { objects: [...this.#unready.values()], hidden: this.#isHidden ? [where] : [] };
  }

  /** Follows what happens until it is aborted. */
  async run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted && !this.#isHidden) {
      try {
        await this.#follow(await this.#list(signal), signal);
        continue;
      } catch (error) {
        if (signal.aborted) return;
        this.#isHidden = isForbidden(error);
        // A kind that is not installed has no objects.
        this.#fault = this.#isHidden || isNotFound(error) ? undefined : error;
        this.#unready.clear();
        this.#first.resolve();
      }
      await delay(retryMs, undefined, { signal }).catch(() => undefined);
    }
  }

  /** @returns the version from which to watch */
  async #list(signal: AbortSignal): Promise<string | undefined> {
    const where = this.#where(signal);
    const found = new Map<string, UnreadyObject>();
    let version: string | undefined;
    for await (const { items, metadata } of this.#client.pages(this.#kind, { ...where, limit: pageSize })) {
      for (const object of items) note(found, this.#kind, object);
      version = metadata.resourceVersion;
    }
    this.#unready.clear();
    for (const [key, one] of found) this.#unready.set(key, one);
    this.#fault = undefined;
    this.#first.resolve();
    return version;
  }

  async #follow(resourceVersion: string | undefined, signal: AbortSignal): Promise<void> {
    const from = resourceVersion === undefined ? {} : { resourceVersion };
    for await (const event of this.#client.watch(this.#kind, { ...this.#where(signal), ...from })) {
      // The history is gone: it is listed again.
      if (event.type === "ERROR") return;
      if (event.type === "BOOKMARK") continue;
      if (event.type === "DELETED") this.#unready.delete(keyOf(event.object));
      else note(this.#unready, this.#kind, event.object);
    }
  }

  #where(signal: AbortSignal) {
    return this.#namespace === undefined ? { signal } : { namespace: this.#namespace, signal };
  }
}

/** Takes down why an object is not ready, or that it is. */
function note(unready: Map<string, UnreadyObject>, { kind }: AnyKind, object: KubernetesObject): void {
  const { conditions = [] } = ((object as { readonly status?: Conditions }).status ?? {}) as Conditions;
  const ready = conditions.find(({ type, status }) => type === "Ready" && status === "False");
  const key = keyOf(object);
  if (ready === undefined) unready.delete(key);
  else unready.set(key, { kind, key, reason: ready.reason, message: ready.message });
}

function keyOf({ metadata: { namespace, name } }: KubernetesObject): string {
  return namespace === undefined ? name : `${namespace}/${name}`;
}
