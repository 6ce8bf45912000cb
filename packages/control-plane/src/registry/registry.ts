import type { Clock, Random } from "@windlass/clock";
import { append } from "../append.ts";
import { isLarge, type JsonObject, textOf } from "../json.ts";
import { metadataOf } from "../json-fields.ts";
import type { KindInfo, KindTable } from "../kinds/index.ts";
import { managersAfter, managersInSteps, noOp, type TrackedUpdate, withManagers } from "../merge/index.ts";
import type { ServerMetrics } from "../metrics/server-metrics.ts";
import type { Patterns } from "../patterns/index.ts";
import { alreadyExists, type Cause, forbidden, invalidInSteps, notFound, StatusError } from "../status.ts";
import { finish, nextTurn, type Steps } from "../steps.ts";
import type { ObjectIndexes } from "../storage/object-indexes.ts";
import { type Entry, prepareInSteps, type Store, storageKey } from "../storage/store.ts";
import type { Admission, Requester } from "./admission.ts";
import { AdmissionChain, admissionRequest } from "./admission-chain.ts";
import { type DeleteOptions, dying, markForDeletion } from "./deletion.ts";
import { checkIdentity, chooseName, isVersion, modified, nameOf, type Target } from "./identity.ts";
import { metadataFaults, metadataUpdateFaults, stampNew, timestamp, withoutDeletion } from "./metadata.ts";
import {
  carryOver,
  checkPreconditions,
  countGeneration,
  ensureMetadata,
  keepToSubresource,
  placeIn,
  readyToGo,
  warnOfFinalizers,
} from "./object-rules.ts";
import type { Resource } from "./resource.ts";
import { ServedResources } from "./served-resources.ts";
import type { ServiceNetwork } from "./service-network.ts";
import type { StrategyContext } from "./strategy.ts";
import { trackingOf } from "./tracking.ts";

/** What a request brings besides its object. */
export interface RequestContext {
  readonly user: Requester;
  /** The name in the request's address: one that creates an object by POST has none. */
  readonly addressed?: string;
  /** Who writes, for managedFields. */
  readonly fieldManager: string;
  /** What of the request's options the client named, for admission to see. */
  readonly named?: { readonly fieldManager?: string; readonly fieldValidation?: string };
  readonly dryRun: boolean;
  readonly warn: (text: string) => void;
}

/** Computes the object to write from the stored one. Called again after a conflict. */
export type Compute = (live: JsonObject) => JsonObject | Promise<JsonObject>;

export interface WriteOutcome {
  readonly object: JsonObject;
  readonly created: boolean;
}

/** How a change is made. */
export interface UpdateChoices {
  readonly kind: "UpdateOptions" | "PatchOptions";
  /** `compute` sets managedFields itself. */
  readonly tracked?: boolean;
  /** Admission has seen what leads to this write, and does not see the write itself. */
  readonly admitted?: boolean;
}

export interface RegistryOptions {
  readonly store: Store;
  readonly kinds: KindTable;
  readonly clock: Clock;
  readonly random: Random;
  readonly patterns: Patterns;
  readonly metrics: ServerMetrics;
  readonly network: ServiceNetwork;
  readonly indexes: ObjectIndexes;
  /** Makes the served resource of a kind: its strategy, its schema, its conversion. */
  readonly resourceOf: (info: KindInfo) => Resource;
}

/** How an object is created. */
export interface CreateChoices {
  /**
   * Whether the object already carries its managedFields: server-side apply has its own way to find
   * them.
   *
   * @default false
   */
  readonly tracked?: boolean;
  /**
   * A kind that a write creates is created so through a subresource too, without what its own
   * endpoint gives it.
   *
   * @default none
   */
  readonly subresource?: string | undefined;
  /** Posted, or by an update or apply of what was not there. @default "post" */
  readonly through?: "post" | "update";
}

/** Writes through these subresources do not change the generation. */
const uncounted: ReadonlySet<string> = new Set(["status", "binding"]);

/** How often a conflicting write is retried before the client gets the error. */
const patience = 5;

/**
 * The rules that hold for every kind: identity, versions, admission, validation, deletion.
 * Everything that writes goes through here, whether it came over the network or from a controller
 * in this process.
 */
export class Registry {
  readonly store: Store;
  readonly kinds: KindTable;
  readonly clock: Clock;
  readonly random: Random;
  /** Matches the regular expressions of schemas and CEL. */
  readonly patterns: Patterns;
  readonly metrics: ServerMetrics;
  /** The addresses of Services. */
  readonly network: ServiceNetwork;
  /** Finds objects by owner, namespace, label and selector. */
  readonly indexes: ObjectIndexes;
  readonly admission: Admission[] = [];
  readonly #resources: ServedResources;
  readonly #chain: AdmissionChain;
  /** New objects that were stored without all their defaults. */
  readonly #unsettled = new WeakSet<Entry>();
  #events = 0;

  constructor(options: RegistryOptions) {
    this.store = options.store;
    this.kinds = options.kinds;
    this.clock = options.clock;
    this.random = options.random;
    this.patterns = options.patterns;
    this.metrics = options.metrics;
    this.network = options.network;
    this.indexes = options.indexes;
    this.#resources = new ServedResources(options.kinds, options.resourceOf);
    this.#chain = new AdmissionChain(this.admission, options.metrics);
  }

  /** A number that no other event of this server has. */
  nextEventNumber(): number {
    return this.#events++;
  }

  /** The resource at a path, if it is served. */
  resource(group: string, version: string, plural: string): Resource | undefined {
    return this.#resources.at(group, version, plural);
  }

  resourceFor(info: KindInfo): Resource {
    return this.#resources.of(info);
  }

  /**
   * A served version of what a bucket holds; undefined where nothing is served from it any more.
   */
  resourceOfBucket(bucket: string): Resource | undefined {
    return this.#resources.ofBucket(bucket);
  }

  /** @throws StatusError 404 */
  entry({ resource, namespace, name }: Target): Entry {
    const entry = this.store.get(resource.bucket, storageKey(namespace, name));
    if (!entry) throw notFound(nameOf(resource), name);
    return entry;
  }

  /** The object in this version. @throws StatusError 404 */
  async get(target: Target): Promise<JsonObject> {
    return await this.fromStorage(target.resource, this.entry(target).object);
  }

  async fromStorage(resource: Resource, object: JsonObject): Promise<JsonObject> {
    if (!resource.conversion) return object;
    const [converted] = await resource.conversion.fromStorage([object]);
    return converted as JsonObject;
  }

  /**
   * Creates an object. `input` is the request's own: it will be changed.
   *
   */
  async create(
    resource: Resource,
    namespace: string | undefined,
    input: JsonObject,
    context: RequestContext,
    { tracked = false, subresource, through = "post" }: CreateChoices = {},
  ): Promise<JsonObject> {
    const { strategy } = resource;
    let object = input;
    const isSlow = isLarge(object);
    const metadata = ensureMetadata(object);
    if (resource.refusesCreates !== undefined) {
      throw forbidden(nameOf(resource), textOf(metadata.name), resource.refusesCreates);
    }
    placeIn(resource, namespace, metadata);
    if (through === "post") withoutDeletion(object);
    stampNew(object, strategy, this.clock, this.random);
    if (resource.hasStatus && resource.info.origin === "custom") delete object.status;
    if (isSlow) await nextTurn();
    if (!tracked) object = await this.#track(resource, undefined, object, context, subresource, isSlow);

    const request = admissionRequest(
      "CREATE",
      {
        resource,
        namespace,
        name: textOf(metadata.name ?? ""),
        ...(subresource === undefined ? {} : { subresource }),
      },
      context,
      {
        object,
        options: { kind: "CreateOptions", apiVersion: "meta.k8s.io/v1", ...context.named },
      },
    );
    if (isSlow) await nextTurn();
    await this.#chain.mutate(request);
    if (isSlow) await nextTurn();
    object = request.object as JsonObject;
    const { warnings, strategyContext } = this.#strategyContext(context, subresource);
    if (resource.info.origin === "custom") warnOfFinalizers(object, undefined, context.warn);
    chooseName(resource, namespace, object, this);
    strategy.prepareCreate?.(object, strategyContext);
    strategy.warn?.(object, strategyContext.warn);
    const name = textOf(metadataOf(object).name ?? "");
    if (isSlow) await nextTurn();
    const schemaFaults = (await resource.validate?.(object, undefined, undefined)) ?? [];
    if (isSlow) await nextTurn();
    const faults = [...schemaFaults, ...(await foundBy(strategy.validate?.(object, strategyContext)))];
    if (isSlow) await nextTurn();
    const isLast = strategy.metadataLast && faults.length > 0;
    const causes = isLast
      ? faults
      : [...metadataFaults(object, strategy, resource.info.namespaced, resource.info.origin), ...faults];
    if (causes.length > 0)
      throw await finish(invalidInSteps(resource.info, name || textOf(metadata.generateName ?? ""), causes));
    for (const warning of warnings) context.warn(warning);
    if (isSlow) await nextTurn();
    await this.#chain.validate({ ...request, name, object });
    if (isSlow) await nextTurn();

    const key = storageKey(namespace, name);
    const settled = await settle(resource, object, isSlow);
    const stored = await this.#toStorage(resource, settled);
    if (isSlow) await nextTurn();
    const prepared = isSlow ? await finish(prepareInSteps(stored)) : undefined;
    if (isSlow) await nextTurn();
    // The real server's storage checks this, after everything else.
    if (!context.dryRun && isVersion(metadataOf(object).resourceVersion)) {
      throw new StatusError({
        code: 500,
        message: "resourceVersion should not be set on objects to be created",
      });
    }
    // No await from here on, so the name cannot be taken in between.
    const existing = this.store.get(resource.bucket, key);
    if (existing) {
      const failure = alreadyExists(nameOf(resource), name);
      throw metadataOf(existing.object).deletionTimestamp
        ? new StatusError({
            code: 409,
            reason: "AlreadyExists",
            message: `object is being deleted: ${failure.message}`,
            ...(failure.details ? { details: failure.details } : {}),
          })
        : failure;
    }
    if (context.dryRun) return settled;
    const entry = this.store.put(resource.bucket, key, stored, prepared);
    if (strategy.settlesLate?.(object)) this.#unsettled.add(entry);
    if (isSlow) await nextTurn();
    return this.fromStorage(resource, entry.object);
  }

  /**
   * Changes an object. `compute` is given the live object, in this version, and returns the one to
   * store; it must not change what it is given.
   *
   * @param options.tracked whether `compute` sets managedFields itself
   * @throws StatusError 404, 409, 422 and whatever admission says
   */
  async update(
    target: Target,
    context: RequestContext,
    compute: Compute,
    options: UpdateChoices,
  ): Promise<JsonObject> {
    for (let attempt = 1; ; attempt++) {
      const outcome = await this.#tryUpdate(target, context, compute, options);
      if (outcome !== "raced") return outcome;
      if (attempt === patience) throw modified(target.resource, target.name);
    }
  }

  async #tryUpdate(
    target: Target,
    context: RequestContext,
    compute: Compute,
    options: UpdateChoices,
  ): Promise<JsonObject | "raced"> {
    const { resource, namespace, subresource } = target;
    const { strategy } = resource;
    const key = storageKey(namespace, target.name);
    const entry = this.entry(target);
    const live = await this.fromStorage(resource, entry.object);
    if (isLarge(live)) await nextTurn();
    let next = await compute(live);
    const isSlow = isLarge(next) || isLarge(live);
    if (isSlow) await nextTurn();
    const metadata = ensureMetadata(next);
    checkIdentity(target, next, live, options.kind, context);
    // A patch is computed again from what is there then; a PUT that names a version is not.
    const conditional = options.kind === "UpdateOptions" && Boolean(metadata.resourceVersion);
    if (!options.tracked) next = await this.#track(resource, live, next, context, subresource, isSlow);

    const request = admissionRequest("UPDATE", target, context, {
      object: next,
      oldObject: live,
      options: { kind: options.kind, apiVersion: "meta.k8s.io/v1", ...context.named },
    });
    if (isSlow) await nextTurn();
    if (!options.admitted) await this.#chain.mutate(request);
    if (isSlow) await nextTurn();
    next = request.object as JsonObject;
    carryOver(next, live);
    keepToSubresource(resource, next, live, subresource);
    const { warnings, strategyContext } = this.#strategyContext(context, subresource);
    if (resource.info.origin === "custom") warnOfFinalizers(next, live, context.warn);
    strategy.prepareUpdate?.(next, live, strategyContext);
    if (strategy.generation && !uncounted.has(subresource ?? "")) countGeneration(resource, next, live);
    const isNewGeneration = metadataOf(next).generation !== metadataOf(live).generation;
    if (isNewGeneration) strategy.warn?.(next, strategyContext.warn);
    const causes: Cause[] = [
      ...metadataFaults(next, strategy, resource.info.namespaced, resource.info.origin),
      ...metadataUpdateFaults(next, live),
    ];
    if (isSlow) await nextTurn();
    append(causes, (await resource.validate?.(next, live, subresource)) ?? []);
    if (isSlow) await nextTurn();
    append(causes, await foundBy(strategy.validateUpdate?.(next, live, strategyContext)));
    if (causes.length > 0) throw await finish(invalidInSteps(resource.info, target.name, causes));
    for (const warning of warnings) context.warn(warning);
    if (isSlow) await nextTurn();
    if (!options.admitted) await this.#chain.validate({ ...request, object: next });
    if (isSlow) await nextTurn();

    const settled = await settle(resource, next, isSlow);
    const stored = await this.#toStorage(resource, settled);
    if (isSlow) await nextTurn();
    const prepared = isSlow ? await finish(prepareInSteps(stored)) : undefined;
    if (isSlow) await nextTurn();
    // In the shape it would be read back in: a zero that storage drops is no change.
    const isSame = noOp(live, settled);
    if (isSlow) await nextTurn();
    // Admission may have waited for a webhook: what was read before it may be old by now. No await
    // from here on.
    if (this.store.get(resource.bucket, key) !== entry) {
      if (conditional) throw modified(resource, target.name);
      return "raced";
    }
    // An object that is stored in another version than its definition says now is written again, as
    // migrations of stored versions rely on.
    const isStoredVersion = stored.apiVersion === entry.object.apiVersion;
    const isGoing = readyToGo(resource, next);
    if (!isGoing && isSame && isStoredVersion && !this.#unsettled.has(entry)) return live;
    if (context.dryRun) return settled;
    if (isGoing) {
      // Watchers see the state before this write, which was never stored; only its author sees what
      // it made.
      this.store.delete(resource.bucket, key);
      strategy.afterDelete?.(next, strategyContext);
      return next;
    }
    return this.fromStorage(resource, this.store.put(resource.bucket, key, stored, prepared).object);
  }

  /**
   * Deletes an object, or begins to: finalizers and grace periods hold it back.
   *
   * @returns the object as it is then, and whether it was deleted
   */
  async delete(
    target: Target,
    options: DeleteOptions,
    context: RequestContext,
  ): Promise<{ object: JsonObject; gone: boolean }> {
    const { resource, namespace } = target;
    const key = storageKey(namespace, target.name);
    const before = this.entry(target);
    if (!options.admitted) {
      await this.#chain.validate(
        admissionRequest("DELETE", options.collection ? { ...target, name: "" } : target, context, {
          object: undefined,
          oldObject: await this.fromStorage(resource, before.object),
          options: { kind: "DeleteOptions", apiVersion: "meta.k8s.io/v1", ...options.raw },
        }),
      );
    }
    const entry = this.entry(target);
    checkPreconditions(resource, target.name, entry.object, options);
    const marked = markForDeletion(resource, entry.object, options, this.clock);
    if (context.dryRun)
      return {
        object: await this.fromStorage(resource, marked?.object ?? dying(resource, entry.object, this.clock)),
        gone: !marked,
      };
    if (marked) {
      const { object } = marked;
      const stored = noOp(entry.object, object) ? entry : this.store.put(resource.bucket, key, object);
      return { object: await this.fromStorage(resource, stored.object), gone: false };
    }
    const dead = dying(resource, entry.object, this.clock);
    // Watchers see the mark of what may linger before it goes, even where it does not linger.
    if (dead !== entry.object) this.store.put(resource.bucket, key, dead);
    const last = this.store.delete(resource.bucket, key, dead) as Entry;
    resource.strategy.afterDelete?.(entry.object, this.#strategyContext(context, undefined).strategyContext);
    return { object: await this.fromStorage(resource, last.object), gone: true };
  }

  /**
   * Runs admission on an object that is sent to a subresource and not stored: an eviction, a
   * binding, a token request, or the options of a CONNECT.
   *
   * @returns the object as admission left it
   * @throws StatusError whatever admission says
   */
  async admit(
    target: Target,
    object: JsonObject,
    context: RequestContext,
    operation: "CREATE" | "CONNECT" = "CREATE",
  ): Promise<JsonObject> {
    const options = { kind: "CreateOptions", apiVersion: "meta.k8s.io/v1", ...context.named };
    const request = admissionRequest(operation, target, context, { object, options });
    await this.#chain.mutate(request);
    await this.#chain.validate(request);
    return request.object as JsonObject;
  }

  #track(
    resource: Resource,
    live: JsonObject | undefined,
    next: JsonObject,
    context: RequestContext,
    subresource: string | undefined,
    isSlow: boolean,
  ): JsonObject | Promise<JsonObject> {
    const time = timestamp(this.clock);
    const write = { ...(live ? { live } : {}), next, manager: context.fieldManager, time };
    const update = { ...write, ...trackingOf(resource, this, subresource) };
    return finish(trackSteps(update, isSlow));
  }

  /** The warnings of a strategy are sent once the object is known to be valid. */
  #strategyContext(
    context: RequestContext,
    subresource: string | undefined,
  ): { warnings: readonly string[]; strategyContext: StrategyContext } {
    const { store, clock, random, network } = this;
    const warnings: string[] = [];
    const warn = (text: string) => {
      warnings.push(text);
    };
    return {
      warnings,
      strategyContext: { store, clock, random, network, subresource, warn, dryRun: context.dryRun },
    };
  }

  async #toStorage(resource: Resource, object: JsonObject): Promise<JsonObject> {
    if (!resource.conversion) return object;
    const [converted] = await resource.conversion.toStorage([object]);
    return converted as JsonObject;
  }
}

/**
 * The shape in which an object is stored; of a large one with turns of the event loop in between.
 */
function settle(resource: Resource, object: JsonObject, isSlow: boolean): JsonObject | Promise<JsonObject> {
  if (isSlow && resource.settleInSteps) return finish(resource.settleInSteps(object));
  return resource.settle?.(object) ?? object;
}

/** What a strategy finds wrong, to the end of its steps. */
function foundBy(found: Cause[] | Steps<Cause[]> = []): Cause[] | Promise<Cause[]> {
  return Array.isArray(found) ? found : finish(found);
}

/** Tracks the fields of a write; of a slow one with turns of the event loop in between. */
function* trackSteps(update: TrackedUpdate, isSlow: boolean): Steps<JsonObject> {
  const managers = yield* managersAfter({ ...update, isSlow });
  if (!isSlow) return withManagers(update.next, managers);
  yield nextTurn;
  return yield* managersInSteps(update.next, managers);
}
