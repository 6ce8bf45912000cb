import { apiVersionOf } from "@windlass/kinds";
import type { EndpointSlice, Pod, Service } from "@windlass/kinds/builtin";
import { clone, type JsonObject } from "../json.ts";
import type { KindInfo } from "../kinds/index.ts";
import type { Registry, RequestContext } from "../registry/registry.ts";
import type { Resource } from "../registry/resource.ts";
import { StatusError } from "../status.ts";
import type { StoredObject } from "../storage/store.ts";
import type { Draft, Stored } from "../storage/typed.ts";

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

declare const type: unique symbol;

/** Where objects of the type `T` are stored. */
export interface Bucket<T> {
  readonly bucket: string;
  /** Type-level only: absent at run time. */
  readonly [type]?: T;
}

export const podBucket: Bucket<Pod> = { bucket: "pods" };
export const serviceBucket: Bucket<Service> = { bucket: "services" };
export const endpointSliceBucket: Bucket<EndpointSlice> = { bucket: "endpointslices.discovery.k8s.io" };

/** The resource of a built-in kind, whose objects have the type `T`. */
export interface BuiltinResource<T> extends Resource, Bucket<T> {
  readonly bucket: string;
}

/**
 * A built-in kind's resource. Types alone name its objects: the values of `@windlass/kinds/builtin`
 * would load all kinds.
 */
export function builtin<T = unknown>(
  registry: Registry,
  group: string,
  version: string,
  plural: string,
): BuiltinResource<T> {
  const resource = registry.resource(group, version, plural);
  if (!resource) throw new Error(`${plural}.${group}/${version} is not served`);
  return resource;
}

/** The object of a built-in kind that is stored under a key. */
export function stored<T>({ store }: Registry, { bucket }: Bucket<T>, key: string): Stored<T> | undefined {
  return store.get(bucket, key)?.object as Stored<T> | undefined;
}

/** All objects of a built-in kind, in the order of their keys. */
export function allStored<T>({ store }: Registry, { bucket }: Bucket<T>): Stored<T>[] {
  return store.list(bucket).entries.map(({ object }) => object as Stored<T>);
}

export function isDeleting(object: StoredObject): boolean {
  return object.metadata.deletionTimestamp !== undefined;
}

/** Zero is left out, as the real server's types do. */
export function count(name: string, value: number): JsonObject {
  return value === 0 ? {} : { [name]: value };
}

/** Creates an object of a built-in kind, given its defaults first as a request's would be. */
export async function createObject<T>(
  registry: Registry,
  resource: BuiltinResource<T>,
  namespace: string | undefined,
  object: object,
  context: RequestContext,
): Promise<Stored<T>> {
  const { info } = resource;
  const { kind } = info;
  const apiVersion = apiVersionOf(info);
  const decoded = resource.decode({ apiVersion, kind, ...object }).object;
  return (await registry.create(resource, namespace, decoded, context)) as Stored<T>;
}

/**
 * Kinds that are written here in the shape they are stored in. What others are given is
 * brought into it first: a zero that is left out in storage would look like a change every time.
 * These are written so often that normalizing them would cost noticeably.
 */
const written = new Set(["pods", "replicasets.apps", "deployments.apps", "events"]);

/** An object of a kind as it may be changed: by its type, if that is known. */
type Editable<T> = unknown extends T ? StoredObject : Draft<T>;

/**
 * Changes a copy of an object and stores it. Nothing is written if nothing changed.
 */
export async function edit<T>(
  registry: Registry,
  resource: BuiltinResource<T>,
  object: StoredObject,
  context: RequestContext,
  change: (next: Editable<T>) => void,
  subresource?: string,
): Promise<Stored<T>> {
  const { name, namespace } = object.metadata;
  const target = {
    resource,
    namespace: namespace as string | undefined,
    name,
    ...(subresource === undefined ? {} : { subresource }),
  };
  const updated = await registry.update(
    target,
    context,
    (live) => {
      const next = clone(live);
      change(next as Editable<T>);
      return written.has(resource.bucket) ? next : (resource.settle?.(next) ?? next);
    },
    { kind: "PatchOptions" },
  );
  return updated as Stored<T>;
}

/** Replaces an object's status if it differs. */
export async function writeStatus<T>(
  registry: Registry,
  resource: BuiltinResource<T>,
  object: StoredObject,
  status: object,
  context: RequestContext,
): Promise<Stored<T>> {
  return await edit(
    registry,
    resource,
    object,
    context,
    (next) => {
      (next as StoredObject).status = clone(status as JsonObject);
    },
    "status",
  );
}

/** Deletes an object if it is still there, and still the same. @returns whether it was */
export async function deleteIfPresent(
  registry: Registry,
  resource: Resource,
  object: StoredObject,
  context: RequestContext,
  options: { readonly gracePeriodSeconds?: number } = {},
): Promise<boolean> {
  const { name, namespace, uid } = object.metadata;
  try {
    await registry.delete(
      { resource, namespace: namespace as string | undefined, name },
      { preconditions: { uid }, propagationPolicy: "Background", ...options },
      context,
    );
    return true;
  } catch (error) {
    if (isGone(error)) return false;
    throw error;
  }
}

/** Whether an error says that the object is not there, or no longer the same. */
export function isGone(error: unknown): boolean {
  return error instanceof StatusError && (error.code === 404 || error.code === 409);
}

/** Awaits a write, and ignores that its object no longer exists. */
export async function unlessGone(work: Promise<unknown>): Promise<void> {
  try {
    await work;
  } catch (error) {
    if (!(error instanceof StatusError && error.code === 404)) throw error;
  }
}

/** Adds or takes away a finalizer. */
export async function setFinalizer(
  registry: Registry,
  resource: Resource,
  object: StoredObject,
  context: RequestContext,
  finalizer: string,
  wanted: "present" | "absent",
): Promise<void> {
  await unlessGone(
    edit(registry, resource, object, context, (next) => {
      const { metadata } = next as StoredObject;
      const others = (metadata.finalizers ?? []).filter((name) => name !== finalizer);
      const finalizers = wanted === "present" ? [...others, finalizer] : others;
      if (finalizers.length > 0) metadata.finalizers = finalizers;
      else delete metadata.finalizers;
    }),
  );
}

/** The kind of a group, in the given version or in any. */
export function kindNamed(
  registry: Registry,
  wanted: { readonly group: string; readonly kind: string; readonly version?: string },
): KindInfo | undefined {
  for (const info of registry.kinds.all()) {
    if (info.kind !== wanted.kind || info.group !== wanted.group) continue;
    if (wanted.version === undefined || info.version === wanted.version) return info;
  }
  return undefined;
}
