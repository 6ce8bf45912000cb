import {
  type AnyKind,
  apiVersionOf,
  type KubernetesObject,
  type ObjectKey,
  type ObjectOf,
  type Patch,
} from "@windlass/client";
import { isRecord } from "@windlass/kinds/json";
import type { CacheListOptions, CacheReader } from "../cache/contract.ts";
import { parseLabels } from "../cache/selector.ts";
import type { DeclaredIndex } from "../controller/indexes.ts";
import { keyId, keyOf, notFound, type ReconcileClient } from "../reconcile/client.ts";

/** A write that a reconciler made through its client. */
export interface RecordedWrite {
  readonly verb: "create" | "update" | "patch" | "apply" | "delete" | "deleteCollection";
  readonly kind: AnyKind;
  readonly key: ObjectKey;
  /** What was sent: the object, or the patch. */
  readonly body?: unknown;
  readonly subresource?: string;
  readonly fieldManager?: string;
}

interface KindAndObject {
  readonly kind: AnyKind;
  readonly object: KubernetesObject;
}

/**
 * Objects for a test of a reconciler: a cache to read, and a client whose writes are recorded. Not
 * an API server.
 */
export class ObjectsInMemory implements CacheReader {
  readonly writes: RecordedWrite[] = [];
  readonly client: ReconcileClient;
  readonly #objects = new Map<string, KindAndObject>();
  readonly #namespace: string | undefined;
  readonly #indexes: readonly DeclaredIndex[];

  /** @param namespace Where objects are that do not say so. */
  constructor(
    given: readonly KindAndObject[],
    namespace: string | undefined,
    indexes: readonly DeclaredIndex[],
  ) {
    this.#namespace = namespace;
    this.#indexes = indexes;
    this.client = this.#makeClient();
    for (const { kind, object } of given) this.#put(kind, object);
  }

  get<K extends AnyKind>(kind: K, key: ObjectKey): ObjectOf<K> | undefined {
    return this.#objects.get(identify(kind, key))?.object as ObjectOf<K> | undefined;
  }

  list<K extends AnyKind>(kind: K, options: CacheListOptions = {}): readonly ObjectOf<K>[] {
    const { namespace, labelSelector } = options;
    const selects = labelSelector === undefined ? () => true : parseLabels(labelSelector);
    const prefix = identify(kind, { name: "" }).slice(0, -1);
    return [...this.#objects]
      .filter(([id]) => id.startsWith(prefix))
      .map(([, { object }]) => object as ObjectOf<K>)
      .filter(({ metadata }) => namespace === undefined || metadata.namespace === namespace)
      .filter(({ metadata }) => selects(metadata.labels ?? {}));
  }

  byIndex<K extends AnyKind>(kind: K, index: string, value: string): readonly ObjectOf<K>[] {
    const declared = this.#indexes.find(
      (one) => one.name === index && one.kind.kind === kind.kind && one.kind.group === kind.group,
    );
    if (!declared) throw new TypeError(`the controller declares no index "${index}" of ${kind.kind}`);
    return this.list(kind).filter((object) => declared.values(object).includes(value));
  }

  ownedBy<K extends AnyKind>(kind: K, ownerUid: string): readonly ObjectOf<K>[] {
    return this.list(kind).filter(({ metadata }) =>
      metadata.ownerReferences?.some(({ uid }) => uid === ownerUid),
    );
  }

  /** Lays an object over the one that is there, if there is one. @returns what is there then. */
  merge(kind: AnyKind, object: KubernetesObject): KubernetesObject {
    const placed = withDefaults(kind, object, this.#namespace);
    const before = this.get(kind, keyOf(placed));
    const after = before === undefined ? placed : (merged(before, object) as KubernetesObject);
    this.#put(kind, after);
    return after;
  }

  #put(kind: AnyKind, object: KubernetesObject): void {
    const placed = withDefaults(kind, object, this.#namespace);
    this.#objects.set(identify(kind, keyOf(placed)), { kind, object: placed });
  }

  #makeClient(): ReconcileClient {
    const record = (write: RecordedWrite) => void this.writes.push(write);
    const read = <K extends AnyKind>(kind: K, key: ObjectKey): ObjectOf<K> => {
      const found = this.get(kind, key);
      if (!found) throw notFound(kind, key);
      return found;
    };
    const reader = {
      get: async <K extends AnyKind>(kind: K, key: ObjectKey) => read(kind, key),
      list: async <K extends AnyKind>(kind: K, options?: CacheListOptions) => ({
        metadata: {},
        items: this.list(kind, options),
      }),
    };
    const write =
      (verb: "create" | "update" | "apply") =>
      async <K extends AnyKind>(
        kind: K,
        object: unknown,
        options?: RecordedOptions,
      ): Promise<ObjectOf<K>> => {
        record({ verb, kind, key: keyOf(object), body: object, ...recorded(options) });
        return this.merge(kind, object as KubernetesObject) as ObjectOf<K>;
      };
    return {
      ...reader,
      live: reader,
      create: write("create"),
      update: write("update"),
      apply: write("apply"),
      patch: async <K extends AnyKind>(kind: K, key: ObjectKey, patch: Patch, options?: RecordedOptions) => {
        const before = read(kind, key);
        record({ verb: "patch", kind, key, body: patch.patch, ...recorded(options) });
        if (patch.type === "json") return before;
        this.#put(kind, merged(before, patch.patch) as KubernetesObject);
        return read(kind, key);
      },
      delete: async <K extends AnyKind>(kind: K, key: ObjectKey) => {
        const object = read(kind, key);
        record({ verb: "delete", kind, key });
        this.#objects.delete(identify(kind, key));
        return { is: "object", object };
      },
      deleteCollection: async (kind, options) => {
        record({ verb: "deleteCollection", kind, key: { name: "", namespace: options?.namespace } });
        for (const object of this.list(kind, options)) this.#objects.delete(identify(kind, keyOf(object)));
      },
    };
  }
}

interface RecordedOptions {
  readonly subresource?: string;
  readonly fieldManager?: string;
}

function recorded({ subresource, fieldManager }: RecordedOptions = {}): RecordedOptions {
  return {
    ...(subresource === undefined ? {} : { subresource }),
    ...(fieldManager === undefined ? {} : { fieldManager }),
  };
}

/** What every stored object has, filled in where a test left it out. */
export function withDefaults<T extends KubernetesObject>(
  kind: AnyKind,
  object: T,
  namespace: string | undefined,
): T {
  const { metadata } = object;
  const place = kind.scope === "Namespaced" ? (metadata.namespace ?? namespace) : undefined;
  return {
    ...object,
    apiVersion: apiVersionOf(kind),
    kind: kind.kind,
    metadata: {
      ...metadata,
      ...(place === undefined ? {} : { namespace: place }),
      uid: metadata.uid ?? `uid of ${kind.kind} ${metadata.name}`,
      resourceVersion: metadata.resourceVersion ?? "1",
    },
  };
}

function identify(kind: AnyKind, key: ObjectKey): string {
  return `${kind.group}/${kind.kind} ${keyId(key)}`;
}

/** Maps are merged, null removes, everything else is replaced. */
function merged(before: unknown, change: unknown): unknown {
  if (!isRecord(change)) return change;
  // A map takes any name for a field, `__proto__` too.
  const after = new Map(isRecord(before) ? Object.entries(before) : []);
  for (const [field, value] of Object.entries(change)) {
    if (value === null) after.delete(field);
    else if (value !== undefined) after.set(field, merged(after.get(field), value));
  }
  return Object.fromEntries(after);
}
