import { type JsonObject, textOf } from "../json.ts";
import type { Registry, RequestContext } from "../registry/registry.ts";
import type { Resource } from "../registry/resource.ts";
import { StatusError } from "../status.ts";
import { field, type LogRecord, type StoredObject } from "../storage/store.ts";

/** What every built-in controller works with. */
export interface ControllerWorld {
  readonly registry: Registry;
  /** Told of what should never happen. */
  readonly onPanic: (error: unknown, where: string) => void;
}

/** A running controller. */
export interface Running {
  stop(): void;
  /** Whether it has nothing left to do but wait for time to pass. */
  readonly idle: boolean;
}

export interface LoopOptions {
  readonly name: string;
  /** Which keys a change of a bucket concerns. */
  readonly watches?: { readonly [bucket: string]: (record: LogRecord) => readonly string[] };
  /** As `watches`, for the changes of every bucket. */
  readonly watchAll?: (record: LogRecord) => readonly string[];
  /** Brings one key's state closer to what it should be. May run again at any time, for no reason. */
  readonly reconcile: (key: string) => Promise<{ readonly requeueAfterMs?: number } | undefined | undefined>;
}

const firstRetryMs = 5;
const lastRetryMs = 60_000;

/**
 * Runs a reconciler for each key that a change concerns: one at a time, none lost. Work happens in a turn of the event loop of its own,
 * never within the write that caused it.
 */
export function startLoop(world: ControllerWorld, options: LoopOptions): Running {
  const { store, clock } = world.registry;
  const waiting = new Set<string>();
  const failures = new Map<string, number>();
  const timers = new Map<string, () => void>();
  let stopped = false;
  let running = false;
  let scheduled = false;

  const add = (key: string) => {
    if (stopped) return;
    waiting.add(key);
    if (running || scheduled) return;
    scheduled = true;
    setImmediate(() => {
      scheduled = false;
      void drain();
    });
  };
  const addAfter = (key: string, delayMs: number) => {
    timers.get(key)?.();
    timers.set(
      key,
      clock.schedule(delayMs, () => {
        timers.delete(key);
        add(key);
      }),
    );
  };

  async function drain(): Promise<void> {
    running = true;
    for (const key of waiting) {
      if (stopped) break;
      waiting.delete(key);
      try {
        const result = await options.reconcile(key);
        failures.delete(key);
        if (result?.requeueAfterMs !== undefined) addAfter(key, result.requeueAfterMs);
      } catch (error) {
        // The world moved on while we looked: look again. Anything else is worth telling.
        if (!(error instanceof StatusError)) world.onPanic(error, `${options.name} ${key}`);
        const count = (failures.get(key) ?? 0) + 1;
        failures.set(key, count);
        addAfter(key, Math.min(firstRetryMs * 2 ** (count - 1), lastRetryMs));
      }
    }
    running = false;
  }

  const { watchAll } = options;
  const replay = (bucket: string, keysOf: (record: LogRecord) => readonly string[]) => {
    for (const entry of store.list(bucket).entries) {
      const record: LogRecord = {
        revision: entry.revision,
        bucket,
        key: entry.key,
        type: "ADDED",
        entry,
        previous: undefined,
      };
      for (const key of keysOf(record)) add(key);
    }
  };
  const stops = Object.entries(options.watches ?? {}).map(([bucket, keysOf]) => {
    replay(bucket, keysOf);
    return store.subscribe(bucket, (record) => keysOf(record).forEach(add));
  });
  if (watchAll) {
    for (const bucket of store.buckets()) replay(bucket, watchAll);
    stops.push(store.subscribeAll((record) => watchAll(record).forEach(add)));
  }
  return {
    stop: () => {
      stopped = true;
      for (const stop of stops) stop();
      for (const cancel of timers.values()) cancel();
      timers.clear();
    },
    get idle() {
      return !running && !scheduled && waiting.size === 0;
    },
  };
}

/** The keys of a kind's own objects. */
export function ownKey(record: LogRecord): string[] {
  return [record.key];
}

/** The key of the owner that controls the object, if it is of this kind; before and after the change. */
export function controllerKey(group: string, kind: string): (record: LogRecord) => string[] {
  return (record) => {
    const keys = new Set<string>();
    for (const entry of [record.previous, record.entry]) {
      const owner = entry && controllerOf(entry.object);
      if (owner && textOf(owner.kind) === kind && groupOf(textOf(owner.apiVersion)) === group) {
        keys.add(`${textOf(entry.object.metadata.namespace)}/${textOf(owner.name)}`);
      }
    }
    return [...keys];
  };
}

export function groupOf(apiVersion: string): string {
  return apiVersion.includes("/") ? (apiVersion.split("/")[0] as string) : "";
}

/** The owner reference with `controller: true`. */
export function controllerOf(object: JsonObject): JsonObject | undefined {
  const references = field(object, "metadata", "ownerReferences");
  return (Array.isArray(references) ? (references as JsonObject[]) : []).find(
    ({ controller }) => controller === true,
  );
}

/** The objects of a bucket in a namespace that this uid controls. */
export function controlledBy(
  registry: Registry,
  bucket: string,
  namespace: string,
  uid: string,
): StoredObject[] {
  return registry.store
    .list(bucket, { prefix: `${namespace}/` })
    .entries.map(({ object }) => object)
    .filter((object) => controllerOf(object)?.uid === uid);
}

/** A reference that makes `owner` the controller of what carries it. */
export function controllerReference(owner: StoredObject): JsonObject {
  return {
    apiVersion: owner.apiVersion,
    kind: owner.kind,
    name: owner.metadata.name,
    uid: owner.metadata.uid,
    controller: true,
    blockOwnerDeletion: true,
  };
}

/** Who a controller is to the API server, as in a real cluster. */
export function controllerContext(name: string, fieldManager = "kube-controller-manager"): RequestContext {
  return {
    user: {
      name: `system:serviceaccount:kube-system:${name}`,
      groups: ["system:serviceaccounts", "system:serviceaccounts:kube-system", "system:authenticated"],
    },
    fieldManager,
    dryRun: false,
    warn: () => undefined,
  };
}

/** A built-in kind's resource. */
export function builtin(registry: Registry, group: string, version: string, plural: string): Resource {
  const resource = registry.resource(group, version, plural);
  if (!resource) throw new Error(`${plural}.${group}/${version} is not served`);
  return resource;
}

/** Deletes an object if it is still there. */
export async function deleteIfPresent(
  registry: Registry,
  resource: Resource,
  object: StoredObject,
  context: RequestContext,
): Promise<void> {
  const { name, namespace, uid } = object.metadata;
  try {
    await registry.delete(
      { resource, namespace: namespace as string | undefined, name },
      { preconditions: { uid }, propagationPolicy: "Background" },
      context,
    );
  } catch (error) {
    if (!(error instanceof StatusError && (error.code === 404 || error.code === 409))) throw error;
  }
}

/** Replaces an object's status if it differs. @returns whether it was written */
export async function writeStatus(
  registry: Registry,
  resource: Resource,
  object: StoredObject,
  status: JsonObject,
  context: RequestContext,
): Promise<void> {
  const { name, namespace } = object.metadata;
  await registry.update(
    { resource, namespace: namespace as string | undefined, name, subresource: "status" },
    context,
    (live) => ({ ...structuredClone(live), status: structuredClone(status) }),
    { kind: "PatchOptions" },
  );
}

const resourcesByBucket = new WeakMap<Registry, { revision: number; resources: Map<string, Resource> }>();

/** A served version of what a bucket holds; undefined where nothing is served from it any more. */
export function resourceOfBucket(registry: Registry, bucket: string): Resource | undefined {
  let known = resourcesByBucket.get(registry);
  if (known?.revision !== registry.kinds.revision) {
    const resources = new Map<string, Resource>();
    for (const info of registry.kinds.all()) {
      const resource = registry.resourceFor(info);
      if (!resources.has(resource.bucket)) resources.set(resource.bucket, resource);
    }
    known = { revision: registry.kinds.revision, resources };
    resourcesByBucket.set(registry, known);
  }
  return known.resources.get(bucket);
}
