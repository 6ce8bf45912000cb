import { isConditionTrue } from "../crd/definition.ts";
import { decideNames } from "../crd/names.ts";
import { prepareCrd } from "../crd/rule-review.ts";
import { type ServedKind, servedKinds } from "../crd/served-kinds.ts";
import { clone, equal, type Json, type JsonObject, textOf } from "../json.ts";
import type { KindInfo } from "../kinds/index.ts";
import { field, type LogRecord } from "../storage/store.ts";
import { customKind, customResource } from "./custom-resource.ts";
import { timestamp } from "./metadata.ts";
import type { Registry } from "./registry.ts";
import { bucketOf, type Conversion, type Resource } from "./resource.ts";
import { cleanupFinalizer } from "./strategies/custom-resource-definition.ts";

export const definitionsBucket = "customresourcedefinitions.apiextensions.k8s.io";

/** Converts objects to another version by asking whoever the definition names. */
export type WebhookConversion = (
  definition: JsonObject,
  objects: readonly JsonObject[],
  apiVersion: string,
) => Promise<JsonObject[]>;

/** An object as the schema of its version makes it by now: what it no longer has is gone, and its new defaults are there. */
function readWith(all: readonly ServedKind[], object: JsonObject): JsonObject {
  const stored = all.find(({ group, version }) => `${group}/${version}` === object.apiVersion);
  if (!stored) return object;
  const read = clone(object);
  stored.schema.prune(read);
  stored.schema.applyDefaults(read);
  return read;
}

/**
 * Keeps what is served in step with the CustomResourceDefinitions that are stored: names are accepted, versions appear and
 * vanish, and the objects of a deleted definition go before it does.
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

  /** Serves what is defined already, as after a restart with kept data, and from now on what will be. */
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

  /** A commit's listeners may not write; what follows from it does so right after. */
  #later(record: LogRecord): void {
    queueMicrotask(() => this.#refresh(record.key));
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
      store.put(definitionsBucket, name, { ...definition, status });
      return;
    }
    this.#serve(name, isConditionTrue(definition, "Established") ? this.#kindsOf(definition) : []);
  }

  #kindsOf(definition: JsonObject): KindInfo[] {
    const kinds = servedKinds(definition);
    return kinds.filter(({ served }) => served).map((served) => this.#kindOf(definition, served, kinds));
  }

  #kindOf(definition: JsonObject, served: ServedKind, all: readonly ServedKind[]): KindInfo {
    const storage = all.find((version) => version.storage) as ServedKind;
    const info = customKind(served, storage);
    const conversion = this.#conversion(definition, served, storage, all);
    this.#resources.set(info, customResource(info, served, conversion, this.#registry.patterns));
    return info;
  }

  #conversion(
    definition: JsonObject,
    served: ServedKind,
    storage: ServedKind,
    all: readonly ServedKind[],
  ): Conversion | undefined {
    // Objects are stored as the schema of their day made them: they are only read otherwise once it has changed.
    const hasChanged = Number(field(definition as Json, "metadata", "generation") ?? 1) > 1;
    if (all.length === 1 && !hasChanged) return undefined;
    const own = `${served.group}/${served.version}`;
    const stored = `${storage.group}/${storage.version}`;
    const convert = (objects: readonly JsonObject[], apiVersion: string) => {
      if (objects.every((object) => object.apiVersion === apiVersion)) return [...objects];
      if (field(definition as Json, "spec", "conversion", "strategy") === "Webhook") {
        return this.#convert(definition, objects, apiVersion);
      }
      return objects.map((object) =>
        object.apiVersion === apiVersion ? object : { ...clone(object), apiVersion },
      );
    };
    return {
      fromStorage: (objects) =>
        convert(hasChanged ? objects.map((object) => readWith(all, object)) : objects, own),
      toStorage: (objects) => convert(objects, stored),
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
    const metadata = definition.metadata as JsonObject;
    const name = textOf(metadata.name);
    const finalizers = (metadata.finalizers ?? []) as string[];
    if (!finalizers.includes(cleanupFinalizer)) return;
    const bucket = bucketOf(
      textOf(field(definition, "spec", "group")),
      textOf(field(definition, "spec", "names", "plural")),
    );
    this.#emptying.set(bucket, name);
    if (!isConditionTrue(definition, "Terminating")) {
      const conditions = ((field(definition, "status", "conditions") ?? []) as JsonObject[]).filter(
        ({ type }) => type !== "Terminating",
      );
      const terminating: JsonObject = {
        type: "Terminating",
        status: "True",
        lastTransitionTime: timestamp(clock),
        reason: "InstanceDeletionInProgress",
        message: "CustomResource deletion is in progress",
      };
      const status = { ...(definition.status as JsonObject), conditions: [...conditions, terminating] };
      store.put(definitionsBucket, name, { ...definition, status });
      return;
    }
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
