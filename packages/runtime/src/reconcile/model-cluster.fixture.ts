import {
  type AnyKind,
  type AnyObject,
  apiVersionOf,
  Client,
  type KubernetesObject,
  type ObjectKey,
  type ObjectOf,
  type Status,
  type Transport,
  type TransportRequest,
  type TransportResponse,
} from "@windlass/client";
import { type Clock, seededRandom, uuid } from "@windlass/clock";
import { isRecord } from "@windlass/kinds/json";
import type {
  Cache,
  CacheEvent,
  CacheListOptions,
  FieldsV1,
  Informer,
  InformerScope,
} from "../cache/contract.ts";
import type { IndexValues } from "../controller/indexes.ts";
import { keyOf } from "./client.ts";
import { timestamp } from "./condition.ts";
import { canonical } from "./json.ts";
import { fieldsLeft, fieldsOf, itemKey } from "./model-fields.fixture.ts";

type Json = { [key: string]: unknown };
type Handler = (event: CacheEvent<KubernetesObject>) => void;

interface Stored {
  object: AnyObject;
  /** What each manager applied last, by manager and subresource. */
  readonly applied: Map<string, Json>;
  /** What each of them still owns. */
  readonly owned: ReadonlyMap<string, FieldsV1>;
}

/** A write that reached the model. */
export interface ModelWrite {
  readonly method: string;
  readonly path: string;
  readonly body: unknown;
}

/**
 * A small model of an API server and a cache that is always up to date with it, for tests of what
 * reconciles and managers do. It knows resource versions, generations, finalizers, uid
 * preconditions, and as much of server-side apply as those tests need.
 */
export class ModelCluster {
  readonly writes: ModelWrite[] = [];
  readonly client: Client;
  readonly cache: Cache;
  /**
   * Set to make requests fail: return a status code, or the causes of a conflict; undefined to let
   * it pass.
   */
  fault: ((request: TransportRequest) => number | readonly Json[] | undefined) | undefined;
  /**
   * Set to have requests refused in the server's own words: return a Status, or undefined to let it
   * pass.
   */
  refusal: ((request: TransportRequest) => Status | undefined) | undefined;
  /** Set to have requests carried out, and their answers lost. */
  losesAnswer: ((request: TransportRequest) => boolean) | undefined;
  /** Namespaces that are being deleted: nothing can be created in them. */
  readonly terminating = new Set<string>();
  /** Changes what is stored, as a server that normalises or a webhook does. */
  normalise: ((object: Json) => void) | undefined;
  readonly #clock: Clock;
  readonly #random = seededRandom(1);
  readonly #stored = new Map<string, Stored>();
  readonly #handlers = new Map<string, Set<Handler>>();
  readonly #indexes = new Map<string, IndexValues>();
  /** That of an empty store, as etcd counts. */
  #version = 1;

  constructor(clock: Clock) {
    this.#clock = clock;
    const transport: Transport = {
      request: async (request) => {
        const answer = await this.#request(request);
        return this.losesAnswer?.(request) ? reply(504, statusBody(504, "Timeout")) : answer;
      },
      close: () => Promise.resolve(),
    };
    this.client = new Client({ transport, onWarning: () => undefined });
    this.cache = this.#makeCache();
  }

  get<K extends AnyKind>(kind: K, key: ObjectKey): ObjectOf<K> | undefined {
    return this.#stored.get(placeOf(kind, key))?.object as ObjectOf<K> | undefined;
  }

  /** Puts an object there as another user would. */
  put(kind: AnyKind, object: object): AnyObject {
    const place = placeOf(kind, keyOf(object));
    const before = this.#stored.get(place);
    return this.#store(place, { apiVersion: apiVersionOf(kind), kind: kind.kind, ...object }, before);
  }

  /** Takes an object away at once, or marks it as going if finalizers hold it. */
  remove(kind: AnyKind, key: ObjectKey): void {
    this.#delete(placeOf(kind, key));
  }

  /** How many writes there were since the last call. */
  takeWrites(): readonly ModelWrite[] {
    return this.writes.splice(0);
  }

  async #request(request: TransportRequest): Promise<TransportResponse> {
    await Promise.resolve();
    request.signal?.throwIfAborted();
    request.guard?.();
    const refused = this.refusal?.(request);
    if (refused) return reply(refused.code ?? 500, refused);
    const failing = this.fault?.(request);
    if (typeof failing === "number")
      return reply(failing, statusBody(failing, failing === 409 ? "Conflict" : "InternalError"));
    if (failing) return reply(409, { ...statusBody(409, "Conflict"), details: { causes: failing } });
    const url = new URL(request.path, "http://model");
    const body = request.body === undefined ? undefined : (JSON.parse(String(request.body)) as Json);
    const { place, name, subresource } = locate(url.pathname);
    if (request.method !== "GET") this.writes.push({ method: request.method, path: url.pathname, body });
    const found = name === undefined ? undefined : this.#stored.get(place);
    if (request.method === "POST" && body) {
      const metadata = body.metadata as Json;
      const target = `${place}/${String(metadata.name)}`;
      if (this.#stored.has(target)) return reply(409, statusBody(409, "AlreadyExists"));
      if (this.#isTerminating(place)) return reply(403, terminatingBody(place));
      return reply(201, this.#store(target, body, undefined));
    }
    const isApply = String(request.headers["content-type"]).includes("apply-patch");
    if (!found && !(isApply && subresource === undefined)) return reply(404, statusBody(404, "NotFound"));
    if (!found && this.#isTerminating(place)) return reply(403, terminatingBody(place));
    if (request.method === "GET" && found) return reply(200, this.#shown(place));
    if (request.method === "DELETE") {
      const { uid, resourceVersion } = (body?.preconditions ?? {}) as Json;
      const metadata = found?.object.metadata;
      if (uid !== undefined && uid !== metadata?.uid) return reply(409, statusBody(409, "Conflict"));
      if (resourceVersion !== undefined && resourceVersion !== metadata?.resourceVersion)
        return reply(409, statusBody(409, "Conflict"));
      this.#delete(place);
      return reply(200, { kind: "Status", status: "Success" });
    }
    if (!body) return reply(400, statusBody(400, "BadRequest"));
    const { resourceVersion, uid } = (body.metadata ?? {}) as Json;
    const isStale =
      (resourceVersion !== undefined && resourceVersion !== found?.object.metadata.resourceVersion) ||
      (uid !== undefined && uid !== found?.object.metadata.uid);
    if (isStale && (found || uid !== undefined)) return reply(409, statusBody(409, "Conflict"));
    const applicant = isApply ? `${url.searchParams.get("fieldManager")}/${subresource ?? ""}` : undefined;
    const next = applicant
      ? this.#applied(found, body, applicant)
      : request.method === "PUT"
        ? { object: body, applied: found?.applied ?? new Map<string, Json>() }
        : { object: merge(found?.object ?? {}, body), applied: found?.applied ?? new Map<string, Json>() };
    const isStatus = subresource === "status";
    const shielded = found
      ? isStatus
        ? { ...found.object, status: (next.object as Json).status }
        : { ...(next.object as Json), ...("status" in found.object ? { status: found.object.status } : {}) }
      : (next.object as Json);
    const stored = this.#store(place, shielded, found, next.applied, applicant);
    return reply(200, this.#stored.has(place) ? this.#shown(place) : stored);
  }

  /** An object as the server shows it, with the owners of its fields. */
  #shown(place: string): Json {
    const { object, owned } = this.#stored.get(place) as Stored;
    const managedFields = [...owned].map(([id, fieldsV1]) => {
      // The names of managers may have slashes themselves.
      const slash = id.lastIndexOf("/");
      const [manager, subresource] = [id.slice(0, slash), id.slice(slash + 1)];
      const { apiVersion } = object;
      return { manager, operation: "Apply", apiVersion, fieldsV1, ...(subresource ? { subresource } : {}) };
    });
    return { ...object, metadata: { ...object.metadata, managedFields } };
  }

  #isTerminating(place: string): boolean {
    return this.terminating.has(namespaceOf(place));
  }

  #applied(
    found: Stored | undefined,
    body: Json,
    manager: string,
  ): { object: Json; applied: Map<string, Json> } {
    const applied = new Map(found?.applied);
    const before = applied.get(manager);
    applied.set(manager, body);
    const { uid: _uid, resourceVersion: _version, ...metadata } = body.metadata as Json;
    const pruned = before ? without(found?.object ?? {}, before, body) : (found?.object ?? {});
    return { object: mergeApply(pruned as Json, { ...body, metadata }) as Json, applied };
  }

  #store(
    place: string,
    given: Json,
    before: Stored | undefined,
    applied = before?.applied ?? new Map<string, Json>(),
    applicant?: string,
  ): AnyObject {
    const object = structuredClone(given);
    this.normalise?.(object);
    const old = before?.object;
    const { resourceVersion: _version, generation: _generation, ...metadata } = object.metadata as Json;
    const specChanged =
      canonical({ ...object, metadata: 0, status: 0 }) !== canonical({ ...old, metadata: 0, status: 0 });
    const settled = {
      ...object,
      metadata: {
        ...metadata,
        uid: old?.metadata.uid ?? metadata.uid ?? uuid(this.#random),
        creationTimestamp: old?.metadata.creationTimestamp ?? timestamp(this.#clock.now()),
        ...(old?.metadata.deletionTimestamp ? { deletionTimestamp: old.metadata.deletionTimestamp } : {}),
        generation: (old?.metadata.generation ?? 0) + (specChanged ? 1 : 0),
      },
    } as unknown as AnyObject;
    if (
      old &&
      canonical({ ...old, metadata: { ...old.metadata, resourceVersion: undefined } }) === canonical(settled)
    ) {
      this.#stored.set(place, { object: old, applied, owned: ownedAfter(before, old, applied, applicant) });
      return old;
    }
    this.#version += 1;
    const stored = { ...settled, metadata: { ...settled.metadata, resourceVersion: String(this.#version) } };
    if (stored.metadata.deletionTimestamp && !stored.metadata.finalizers?.length) {
      this.#stored.delete(place);
      this.#tell(place, { type: "deleted", object: stored });
      return stored;
    }
    this.#stored.set(place, {
      object: stored,
      applied,
      owned: ownedAfter(before, stored, applied, applicant),
    });
    this.#tell(
      place,
      old ? { type: "updated", object: stored, old } : { type: "added", object: stored, initial: false },
    );
    return stored;
  }

  #delete(place: string): void {
    const found = this.#stored.get(place);
    if (!found) return;
    if (found.object.metadata.finalizers?.length) {
      if (found.object.metadata.deletionTimestamp) return;
      const going = {
        ...found.object,
        metadata: { ...found.object.metadata, deletionTimestamp: timestamp(this.#clock.now()) },
      };
      this.#store(place, going, { ...found, object: going });
      this.#version += 1;
      const marked = { ...going, metadata: { ...going.metadata, resourceVersion: String(this.#version) } };
      this.#stored.set(place, { ...found, object: marked });
      this.#tell(place, { type: "updated", object: marked, old: found.object });
      return;
    }
    this.#stored.delete(place);
    this.#tell(place, { type: "deleted", object: found.object });
  }

  #tell(place: string, event: CacheEvent<KubernetesObject>): void {
    const collection = place.split(" ")[0] ?? "";
    for (const handler of this.#handlers.get(collection) ?? []) handler(event);
  }

  #makeCache(): Cache {
    const all = <K extends AnyKind>(kind: K): ObjectOf<K>[] =>
      [...this.#stored]
        .filter(([place]) => place.startsWith(`${collectionOf(kind)} `))
        .map(([, one]) => one.object as unknown as ObjectOf<K>);
    const cache: Cache = {
      get: (kind, key) => this.get(kind, key),
      list: (kind, options?: CacheListOptions) =>
        all(kind).filter(
          (one) => options?.namespace === undefined || one.metadata.namespace === options.namespace,
        ),
      byIndex: (kind, index, value) => {
        const values = this.#indexes.get(`${collectionOf(kind)} ${index}`);
        if (!values) throw new TypeError(`${kind.kind} has no index "${index}"`);
        return all(kind).filter((one) => values(one).includes(value));
      },
      ownedBy: (kind, uid) =>
        all(kind).filter((one) => one.metadata.ownerReferences?.some((reference) => reference.uid === uid)),
      informer: <K extends AnyKind>(kind: K, scope: InformerScope = {}): Informer<ObjectOf<K>> => ({
        kind,
        scope,
        synced: Promise.resolve(),
        hasSynced: true,
        subscribe: (handler) => {
          const collection = collectionOf(kind);
          const handlers = this.#handlers.get(collection) ?? new Set<Handler>();
          this.#handlers.set(collection, handlers);
          const wrapped = (event: CacheEvent<KubernetesObject>) => handler(event as CacheEvent<ObjectOf<K>>);
          for (const object of all(kind)) handler({ type: "added", object, initial: true });
          handlers.add(wrapped);
          return () => void handlers.delete(wrapped);
        },
        addIndex: (name, values) => void this.#indexes.set(`${collectionOf(kind)} ${name}`, values),
        holds: () => true,
        get: (key) => cache.get<AnyKind>(kind, key) as ObjectOf<K> | undefined,
        ownedFields: (key, manager, subresource) => cache.ownedFields(kind, key, manager, subresource),
        list: (options) => cache.list(kind, options),
        byIndex: (index, value) => cache.byIndex<AnyKind>(kind, index, value) as readonly ObjectOf<K>[],
        ownedBy: (uid) => cache.ownedBy(kind, uid),
        release: () => undefined,
      }),
      waitForSync: () => Promise.resolve(),
      trackFieldManager: () => undefined,
      ownedFields: (kind, key, manager, subresource = "") => {
        const fields = this.#stored.get(placeOf(kind, key))?.owned.get(`${manager}/${subresource}`);
        return fields && { apiVersion: apiVersionOf(kind), fields, version: canonical(fields) };
      },
      wrote: () => undefined,
      deleted: () => undefined,
      barrier: () => Promise.resolve(),
      stop: () => Promise.resolve(),
    };
    return cache;
  }
}

function collectionOf(kind: AnyKind): string {
  return `${kind.group === "" ? "/api" : `/apis/${kind.group}`}/${kind.version}/${kind.plural}`;
}

function placeOf(kind: AnyKind, key: ObjectKey): string {
  return `${collectionOf(kind)} ${key.namespace ?? ""}/${key.name}`;
}

/** Takes a path apart: `/apis/apps/v1/namespaces/default/deployments/web/status`. */
function locate(path: string): { place: string; name: string | undefined; subresource: string | undefined } {
  const parts = path.split("/").slice(1);
  const root = parts[0] === "api" ? 2 : 3;
  const base = `/${parts.slice(0, root).join("/")}`;
  const rest = parts.slice(root);
  const isNamespaced = rest[0] === "namespaces" && rest.length > 2;
  const namespace = isNamespaced ? rest[1] : "";
  const [plural, name, subresource] = isNamespaced ? rest.slice(2) : rest;
  const collection = `${base}/${plural} ${namespace}`;
  return { place: name === undefined ? collection : `${collection}/${name}`, name, subresource };
}

function namespaceOf(place: string): string {
  return place.split(" ")[1]?.split("/")[0] ?? "";
}

function terminatingBody(place: string): Json {
  const message = `namespace ${namespaceOf(place)} is being terminated`;
  const causes = [{ reason: "NamespaceTerminating", message, field: "metadata.namespace" }];
  return { ...statusBody(403, "Forbidden"), details: { causes } };
}

function reply(status: number, body: unknown): TransportResponse {
  return { status, headers: { "content-type": "application/json" }, body: bytes(JSON.stringify(body)) };
}

async function* bytes(text: string): AsyncGenerator<Uint8Array> {
  yield Buffer.from(text);
}

function statusBody(code: number, reason: string): Json {
  return { kind: "Status", apiVersion: "v1", status: "Failure", code, reason, message: `model: ${reason}` };
}

function merge(target: unknown, patch: unknown): Json {
  const result: Json = isRecord(target) ? { ...target } : {};
  for (const [key, value] of Object.entries(patch as Json)) {
    if (value === null) delete result[key];
    else result[key] = isRecord(value) ? merge(result[key], value) : value;
  }
  return result;
}

/**
 * What each manager owns of an object after a write: the applicant what it applied, the others what
 * did not change.
 */
function ownedAfter(
  before: Stored | undefined,
  after: AnyObject,
  applied: ReadonlyMap<string, Json>,
  applicant: string | undefined,
): ReadonlyMap<string, FieldsV1> {
  const owned = new Map<string, FieldsV1>();
  for (const [id, fields] of before?.owned ?? []) {
    const left = fieldsLeft(fields, before?.object, after);
    if (left) owned.set(id, left);
  }
  if (applicant !== undefined) owned.set(applicant, fieldsOf(applied.get(applicant) ?? {}));
  return owned;
}

function isSameItem(one: unknown, other: unknown): boolean {
  return itemKey(one)?.[1] === itemKey(other)?.[1];
}

function mergeApply(target: unknown, wanted: unknown): unknown {
  if (isRecord(wanted)) {
    const result: Json = isRecord(target) ? { ...target } : {};
    for (const [key, value] of Object.entries(wanted)) result[key] = mergeApply(result[key], value);
    return result;
  }
  if (Array.isArray(wanted) && Array.isArray(target) && wanted.every((item) => itemKey(item) !== undefined)) {
    const result: unknown[] = [...target];
    for (const item of wanted) {
      const at = result.findIndex((one) => isSameItem(one, item));
      if (at < 0) result.push(item);
      else result[at] = mergeApply(result[at], item);
    }
    return result;
  }
  return wanted;
}

/** The object without the fields that a manager applied before and does not apply now. */
function without(target: unknown, before: unknown, now: unknown): unknown {
  if (isRecord(target) && isRecord(before)) {
    const result: Json = { ...target };
    for (const [key, value] of Object.entries(before)) {
      if (!isRecord(now) || !(key in now)) delete result[key];
      else result[key] = without(result[key], value, now[key]);
    }
    return result;
  }
  if (Array.isArray(target) && Array.isArray(before) && Array.isArray(now))
    return target.flatMap((item) => {
      const was = before.find((one) => isSameItem(one, item));
      const is = now.find((one) => isSameItem(one, item));
      if (was === undefined || itemKey(item) === undefined) return [item];
      return is === undefined ? [] : [without(item, was, is)];
    });
  return target;
}
