import { cleanupFinalizer, withTerminating } from "../builtin/custom-resource-definition.ts";
import { isConditionTrue } from "../crd/definition.ts";
import { decideNames } from "../crd/names.ts";
import { prepareCrd } from "../crd/rule-review.ts";
import { type ServedKind, servedKinds } from "../crd/served-kinds.ts";
import { clone, equal, type Json, type JsonObject, textOf } from "../json.ts";
import { metadataOf, valueAt } from "../json-fields.ts";
import type { KindInfo } from "../kinds/index.ts";
import { trackUpdate } from "../merge/index.ts";
import { StatusError } from "../status.ts";
import type { LogRecord } from "../storage/store.ts";
import { customKind, customResource } from "./custom-resource.ts";
import { timestamp } from "./metadata.ts";
import type { Registry } from "./registry.ts";
import { bucketOf, type Conversion, type Resource } from "./resource.ts";

export const definitionsBucket = "customresourcedefinitions.apiextensions.k8s.io";

/** Converts objects to another version through the definition's webhook. */
export type WebhookConversion = (
  definition: JsonObject,
  objects: readonly JsonObject[],
  apiVersion: string,
) => Promise<JsonObject[]>;

/**
 * An object as the schema of its version makes it by now: what it no longer has is dropped, and its
 * new defaults are there.
 */
function readWith(all: readonly ServedKind[], object: JsonObject): JsonObject {
  const stored = all.find(({ group, version }) => `${group}/${version}` === object.apiVersion);
  if (!stored) return object;
  const read = clone(object);
  stored.schema.prune(read);
  stored.schema.applyDefaults(read);
  return read;
}

/**
 * Objects are stored in a version that the definition has. One that lost it can no longer be read.
 *
 * @throws StatusError 500
 */
function checkVersions(all: readonly ServedKind[], objects: readonly JsonObject[]): void {
  const versions = new Set(all.map(({ group, version }) => `${group}/${version}`));
  const stray = objects.find(({ apiVersion }) => !versions.has(textOf(apiVersion)));
  if (!stray) return;
  throw new StatusError({
    code: 500,
    message: `request to convert CR from an invalid group/version: ${textOf(stray.apiVersion)}`,
  });
}

/**
 * Serves the stored CustomResourceDefinitions: accepts names, adds and removes versions, and
 * deletes the objects of a deleted definition before the definition itself.
 */
export class Definitions {
  readonly #registry: Registry;
  readonly #convert: WebhookConversion;
  readonly #resources = new WeakMap<KindInfo, Resource>();
  readonly #served = new Map<string, KindInfo[]>();
  readonly #stops: (() => void)[] = [];
  /** Buckets of definitions being deleted: the last object to go lets the definition go. */
  readonly #emptying = new Map<string, string>();

  constructor(registry: Registry, convert: WebhookConversion) {
    this.#registry = registry;
    this.#convert = convert;
  }

  /** The resource of a custom kind. */
  resourceFor(info: KindInfo): Resource {
    const resource = this.#resources.get(info);
    if (!resource) throw new Error(`${info.kind}.${info.group} is not served by a definition`);
    return resource;
  }

  /** Serves the existing definitions, as after a restart with kept data, and follows changes. */
  async start(): Promise<void> {
    const { store } = this.#registry;
    const kept = Array.from(store.entries(definitionsBucket));
    for (const { object } of kept) await prepareCrd(object);
    for (const { object } of kept) this.#refresh(object.metadata.name);
    this.#stops.push(
      store.subscribe(definitionsBucket, (record) => this.#later(record)),
      store.subscribeAll((record) => {
        const name = record.type === "DELETED" ? this.#emptying.get(record.bucket) : undefined;
        if (name !== undefined) queueMicrotask(() => this.#refresh(name));
      }),
    );
  }

  stop(): void {
    for (const stop of this.#stops.splice(0)) stop();
  }

  /** Listeners of a commit may not write: the follow-up write happens right after. */
  #later(record: LogRecord): void {
    queueMicrotask(() => {
      this.#refresh(record.key);
      this.#reconsider(record.key);
    });
  }

  /**
   * A definition that has changed or gone may have given up a name that others of its group were
   * refused for.
   */
  #reconsider(name: string): void {
    const group = name.slice(name.indexOf("."));
    for (const { key, object } of Array.from(this.#registry.store.entries(definitionsBucket))) {
      if (key !== name && key.slice(key.indexOf(".")) === group && !isConditionTrue(object, "NamesAccepted"))
        this.#refresh(key);
    }
  }

  #refresh(name: string): void {
    const { store } = this.#registry;
    const entry = store.get(definitionsBucket, name);
    if (!entry) {
      this.#serve(name, []);
      return;
    }
    const definition = entry.object;
    if (definition.metadata.deletionTimestamp) {
      this.#empty(definition);
      return;
    }
    const others = [...store.entries(definitionsBucket)].map(({ object }) => object);
    const decision = decideNames(definition, others, timestamp(this.#registry.clock));
    const status: JsonObject = {
      ...(definition.status as JsonObject),
      acceptedNames: decision.acceptedNames,
      conditions: decision.conditions,
    };
    if (!equal(status, definition.status)) {
      // The write brings us back here, to serve what has been accepted.
      this.#writeStatus(definition, status);
      return;
    }
    this.#serveEstablished(definition);
  }

  #serveEstablished(definition: JsonObject): void {
    const kinds = isConditionTrue(definition, "Established") ? this.#kindsOf(definition) : [];
    this.#serve(textOf(valueAt(definition as Json, "metadata", "name")), kinds);
  }

  /** Writes as the server itself does, which managedFields show. */
  #writeStatus(definition: JsonObject, status: JsonObject): void {
    const { store, clock } = this.#registry;
    const resource = this.#registry.resource("apiextensions.k8s.io", "v1", "customresourcedefinitions");
    // No manager's share of the spec changes, and to look for it in a large schema would take long.
    const { spec: _spec, ...live } = definition;
    const { metadata } = trackUpdate({
      live,
      next: { ...live, status },
      schema: (resource as Resource).schema(),
      manager: "kube-apiserver",
      apiVersion: "apiextensions.k8s.io/v1",
      subresource: "status",
      time: timestamp(clock),
      resetFields: [["spec"]],
    });
    store.put(definitionsBucket, textOf(valueAt(definition as Json, "metadata", "name")), {
      ...definition,
      metadata: metadata as Json,
      status,
    });
  }

  #kindsOf(definition: JsonObject): KindInfo[] {
    const kinds = servedKinds(definition);
    const versions = new Map<string, Resource>();
    for (const kind of kinds) versions.set(kind.version, this.#resourceOf(definition, kind, kinds, versions));
    const served = kinds
      .filter((kind) => kind.served)
      .map(({ version }) => versions.get(version) as Resource);
    for (const resource of served) this.#resources.set(resource.info, resource);
    return served.map(({ info }) => info);
  }

  #resourceOf(
    definition: JsonObject,
    kind: ServedKind,
    all: readonly ServedKind[],
    versions: ReadonlyMap<string, Resource>,
  ): Resource {
    const storage = all.find((version) => version.storage) as ServedKind;
    const state = { isTerminating: isConditionTrue(definition, "Terminating") };
    const info = customKind(kind, storage, state);
    const conversion = this.#conversion(definition, kind, storage, all);
    const resource = customResource(info, kind, conversion, this.#registry.patterns, state);
    return { ...resource, inVersion: (version) => versions.get(version) };
  }

  #conversion(
    definition: JsonObject,
    served: ServedKind,
    storage: ServedKind,
    all: readonly ServedKind[],
  ): Conversion | undefined {
    // Objects are stored as the schema of their day made them: they are only read otherwise once it
    // has changed.
    const hasChanged = Number(valueAt(definition as Json, "metadata", "generation") ?? 1) > 1;
    // The status of a new object is taken away after its defaults were filled in. It has them again
    // when it is read.
    const isRead =
      hasChanged || all.some(({ schema }) => schema.schema.properties?.status?.default !== undefined);
    if (all.length === 1 && !isRead) return undefined;
    const own = `${served.group}/${served.version}`;
    const stored = `${storage.group}/${storage.version}`;
    const convert = (objects: readonly JsonObject[], apiVersion: string) => {
      if (objects.every((object) => object.apiVersion === apiVersion)) return [...objects];
      if (valueAt(definition as Json, "spec", "conversion", "strategy") === "Webhook") {
        return this.#convert(definition, objects, apiVersion);
      }
      return objects.map((object) =>
        object.apiVersion === apiVersion ? object : { ...clone(object), apiVersion },
      );
    };
    return {
      fromStorage: (objects) => {
        checkVersions(all, objects);
        return convert(isRead ? objects.map((object) => readWith(all, object)) : objects, own);
      },
      toStorage: (objects) => convert(objects, stored),
      fromAny: (objects) => convert(objects, own),
    };
  }

  #serve(name: string, kinds: KindInfo[]): void {
    const table = this.#registry.kinds;
    for (const old of this.#served.get(name) ?? []) {
      if (!kinds.some(({ version, plural }) => version === old.version && plural === old.plural))
        table.remove(old);
    }
    for (const kind of kinds) table.add(kind);
    if (kinds.length > 0) this.#served.set(name, kinds);
    else this.#served.delete(name);
  }

  #empty(definition: JsonObject): void {
    const { store, clock } = this.#registry;
    const metadata = metadataOf(definition);
    const name = textOf(metadata.name);
    const finalizers = (metadata.finalizers ?? []) as string[];
    if (!finalizers.includes(cleanupFinalizer)) return;
    const bucket = bucketOf(
      textOf(valueAt(definition, "spec", "group")),
      textOf(valueAt(definition, "spec", "names", "plural")),
    );
    this.#emptying.set(bucket, name);
    const status = withTerminating(definition, timestamp(clock), {
      reason: "InstanceDeletionInProgress",
      message: "CustomResource deletion is in progress",
    });
    if (!equal(status, definition.status)) {
      // The write brings us back here.
      this.#writeStatus(definition, status);
      return;
    }
    this.#serveEstablished(definition);
    for (const { key, object } of Array.from(store.entries(bucket))) {
      const own = object.metadata;
      if (((own.finalizers ?? []) as string[]).length === 0) store.delete(bucket, key);
      else if (!own.deletionTimestamp) {
        const generation = Number(own.generation ?? 0) + 1;
        const deleting = { deletionTimestamp: timestamp(clock), deletionGracePeriodSeconds: 0, generation };
        store.put(bucket, key, { ...object, metadata: { ...own, ...deleting } });
      }
    }
    if (store.count(bucket) > 0) return;
    this.#emptying.delete(bucket);
    const left = finalizers.filter((finalizer) => finalizer !== cleanupFinalizer);
    const { finalizers: _finalizers, ...rest } = metadata;
    const next = { ...definition, metadata: left.length > 0 ? { ...rest, finalizers: left } : rest };
    if (left.length > 0) store.put(definitionsBucket, name, next);
    else store.delete(definitionsBucket, name, next);
  }
}
