import { setTimeout } from "node:timers/promises";
import {
  type AnyKind,
  ApiError,
  type InputOf,
  isNotFound,
  type KeyOf,
  type KubernetesObject,
  metadataOnly,
  type ObjectOf,
} from "@windlass/client";
import { type Clock, systemClock } from "@windlass/clock";
import { type Cache, type ChildOptions, child } from "@windlass/runtime";
import { ChildMemory } from "../../../packages/runtime/src/reconcile/child-memory.ts";
import { Children } from "../../../packages/runtime/src/reconcile/children.ts";
import { cachedClient, keyOf, type ReconcileClient } from "../../../packages/runtime/src/reconcile/client.ts";
import type { SchemaFacts } from "../../../packages/runtime/src/reconcile/schema-facts.ts";
import {
  type StatusMemory,
  type StatusObject,
  writeStatus,
} from "../../../packages/runtime/src/reconcile/status.ts";
import type { Json, JsonObject } from "./edits.ts";

/** The field manager under test. */
export const fieldManager = "writes.windlass";

/** What is applied, and what the server would say to it. */
export interface WriteOutcome {
  /** Whether the server's own dry run changes something; undefined if it refuses the apply. */
  readonly changes: boolean | undefined;
  /** Whether all that it changes is the order of lists. */
  readonly isOrder: boolean;
  /** The fields in which it does, for the message. */
  readonly live: JsonObject;
  readonly dry: JsonObject | undefined;
}

export interface Parts {
  readonly client: Parameters<typeof cachedClient>[0]["client"];
  readonly cache: Cache;
  readonly schemas: SchemaFacts;
  readonly ownerKind: AnyKind;
  readonly owner: KubernetesObject;
}

/** Something that this controller brings to the server: a child, or the owner's status. */
export interface Subject {
  readonly kind: AnyKind;
  /** As the cache holds it. */
  readonly cachedKind: AnyKind;
  readonly subresource: "" | "status";
  /** What an apply of it sends, without sending it. */
  body(): Promise<JsonObject>;
  /** Brings it to the server unless it is there already. @returns whether something was sent */
  bring(): Promise<boolean>;
  /** What made the last write necessary. */
  readonly because: readonly string[];
  /** Forgets what is remembered of it, as a new leader does not know it. */
  restart(): void;
}

/** How a child is held and treated. */
export interface ChildWays extends Pick<ChildOptions, "update"> {
  /** Whether the cache has no more than its metadata. @default false */
  readonly metadataOnly?: boolean;
}

/** A child that is wanted as it is. */
export function childSubject(
  parts: Parts,
  kind: AnyKind,
  object: KubernetesObject,
  { metadataOnly: isLight = false, ...options }: ChildWays = {},
): Subject & { wanted: KubernetesObject; because: readonly string[] } {
  const { client, ownerKind, owner } = parts;
  const cache = isLight ? metadataOf(parts.cache) : parts.cache;
  let memory = new ChildMemory();
  const { schemas } = parts;
  const children = (using: ReconcileClient, seen: Cache, remembered: ChildMemory) =>
    new Children({
      ownerKind,
      owner,
      owns: [{ kind, metadataOnly: isLight }],
      client: using,
      cache: seen,
      memory: remembered,
      schemas,
      clock: systemClock,
      fieldManager,
      onChange: ({ because }) => {
        subject.because = because;
      },
    });
  const subject = {
    kind,
    cachedKind: isLight ? metadataOnly(kind) : kind,
    subresource: "" as const,
    wanted: object,
    because: [] as readonly string[],
    body: () =>
      capture((using) =>
        children(using, nothingCached(cache), new ChildMemory()).apply(child(kind, subject.wanted, options)),
      ),
    bring: () =>
      counting(client, cache, (using) =>
        children(using, cache, memory).apply(child(kind, subject.wanted, options)),
      ),
    restart: () => {
      memory = new ChildMemory();
    },
  };
  return subject;
}

/** A status that is wanted as it is. */
export function statusSubject(
  parts: Parts,
  key: { namespace: string; name: string },
  status: StatusObject,
  clock: Clock = systemClock,
): Subject & { wanted: StatusObject; because: readonly string[] } {
  const { cache, client, schemas, ownerKind: kind } = parts;
  let memory: StatusMemory | undefined;
  const write = async (using: ReconcileClient, seen: Cache, remembered: StatusMemory | undefined) => {
    const live = cache.get(kind, key);
    if (!live) throw new Error(`${key.name} is not cached`);
    const options = {
      kind,
      client: using,
      cache: seen,
      clock,
      fieldManager,
      schemas,
      hasObservedGeneration: true,
    };
    return await writeStatus(options, live, subject.wanted, live.metadata.generation, remembered);
  };
  const subject = {
    kind,
    cachedKind: kind,
    subresource: "status" as const,
    wanted: status,
    because: [] as readonly string[],
    body: () => capture((using) => write(using, nothingCached(cache), undefined)),
    bring: () =>
      counting(client, cache, async (using) => {
        const written = await write(using, cache, memory);
        memory = written.memory;
        subject.because = written.because;
      }),
    restart: () => {
      memory = undefined;
    },
  };
  return subject;
}

/** Runs what would apply something, and returns what it would send. */
async function capture(run: (client: ReconcileClient) => Promise<unknown>): Promise<JsonObject> {
  class Captured extends Error {
    readonly body: JsonObject;
    constructor(body: JsonObject) {
      super("captured");
      this.body = body;
    }
  }
  const client = {
    apply: (_kind: AnyKind, body: unknown) =>
      Promise.reject(new Captured(JSON.parse(JSON.stringify(body)) as JsonObject)),
  } as unknown as ReconcileClient;
  try {
    await run(client);
  } catch (error) {
    if (!(error instanceof Captured)) throw error;
    const { resourceVersion: _version, uid: _uid, ...metadata } = error.body.metadata as JsonObject;
    return { ...error.body, metadata };
  }
  throw new Error("nothing was applied");
}

async function counting(
  client: Parts["client"],
  cache: Cache,
  run: (client: ReconcileClient) => Promise<unknown>,
): Promise<boolean> {
  let writes = 0;
  const using = cachedClient({
    client,
    cache,
    isCached: () => true,
    guard: () => {
      writes += 1;
    },
  });
  await run(using);
  return writes > 0;
}

/** The cache of a controller that holds the metadata of its children alone. */
function metadataOf(cache: Cache): Cache {
  return {
    ...cache,
    get: <K extends AnyKind>(kind: K, key: KeyOf<K>) =>
      cache.get<AnyKind>(metadataOnly(kind), key) as ObjectOf<K> | undefined,
    ownedFields: (kind, ...asked) => cache.ownedFields(metadataOnly(kind), ...asked),
    wrote: (kind, object) => cache.wrote(metadataOnly(kind), object),
  };
}

/** The cache of a controller that has seen nothing. */
function nothingCached(cache: Cache): Cache {
  return { ...cache, get: () => undefined, ownedFields: () => undefined };
}

/** What the server itself says to an apply. */
export async function verdictOf(client: Parts["client"], subject: Subject): Promise<WriteOutcome> {
  const body = await subject.body();
  const live = await client.get(subject.kind, keyOf(body));
  try {
    const dry = await dryRun(client, subject, body);
    const [before, after] = [comparable(live), comparable(dry)];
    return {
      changes: JSON.stringify(before) !== JSON.stringify(after),
      isOrder: JSON.stringify(ordered(before)) === JSON.stringify(ordered(after)),
      live: before,
      dry: after,
    };
  } catch (error) {
    if (!isRefused(error)) throw error;
    return { changes: undefined, isOrder: false, live: comparable(live), dry: undefined };
  }
}

/** Whether the server takes what is wanted, be there an object yet or not. */
export async function isTaken(client: Parts["client"], subject: Subject): Promise<boolean> {
  try {
    await dryRun(client, subject, await subject.body());
    return true;
  } catch (error) {
    if (!isRefused(error)) throw error;
    return false;
  }
}

function dryRun(client: Parts["client"], { kind, subresource }: Subject, body: JsonObject) {
  return client.apply(kind, body as InputOf<AnyKind>, {
    fieldManager,
    force: true,
    dryRun: true,
    ...(subresource === "" ? {} : { subresource }),
  });
}

/**
 * An object with its keys in order, without what alone is no change: what others own, which an
 * apply takes from them if it spells a value in another way than they did; when a manager owned it;
 * and the generation, which NetworkPolicies get again with each write that has an empty list in it,
 * so that there is no end to it.
 */
function comparable(object: KubernetesObject): JsonObject {
  const sorted = (value: Json): Json => {
    if (Array.isArray(value)) return value.map(sorted);
    if (typeof value !== "object" || value === null) return value;
    return Object.fromEntries(
      Object.keys(value)
        .sort()
        .map((key) => [key, sorted(value[key] as Json)]),
    );
  };
  const copy = structuredClone(object) as unknown as {
    metadata: { generation?: number; managedFields?: JsonObject[] };
  };
  delete copy.metadata.generation;
  const ours = copy.metadata.managedFields?.filter(({ manager }) => manager === fieldManager);
  copy.metadata.managedFields = (ours ?? []).map(({ time: _time, ...entry }) => entry);
  return sorted(copy as unknown as Json) as JsonObject;
}

/** The same with the items of every list in one order, whichever they had. */
function ordered(value: Json): Json {
  if (Array.isArray(value)) return value.map((item) => JSON.stringify(ordered(item))).toSorted();
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, field]) => [key, ordered(field)]));
}

/** Resolves once the cache has the version that the server has. */
export async function caughtUp(
  cache: Cache,
  client: Parts["client"],
  { cachedKind: kind }: Pick<Subject, "cachedKind">,
  key: { namespace: string; name: string },
) {
  const { metadata } = await client.get(kind, key);
  // Not by an informer's events: of several that hold the kind, another may answer.
  while (cache.get(kind, key)?.metadata.resourceVersion !== metadata.resourceVersion) await setTimeout(1);
}

/** Whether a refusal is the server's: what it does not take is no case. */
export function isRefused(error: unknown): boolean {
  return error instanceof ApiError && !isNotFound(error);
}
