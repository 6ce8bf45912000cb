import { apiVersionOf } from "@windlass/kinds";
import { type JsonObject, textOf } from "../json.ts";
import { metadataOf } from "../json-fields.ts";
import type { Target } from "../registry/identity.ts";
import type { Registry } from "../registry/registry.ts";
import type { Resource } from "../registry/resource.ts";
import { badRequest, StatusError } from "../status.ts";
import { CompactedError, type Entry, type Page } from "../storage/store.ts";
import { encodeContinue, expired, type ListOptions, parseVersion, tooLarge } from "./list-options.ts";
import type { Representation } from "./negotiate.ts";
import { entryText, itemText, objectText, partialMetadata, protobufForm } from "./representation.ts";
import type { ApiResponse } from "./request.ts";
import { encoded, jsonText, protobuf } from "./respond.ts";
import type { SharedEvents } from "./shared-events.ts";

/** Makes tables. Handed in so that its code is loaded when the first table is asked for. */
export type TableMaker = (
  resource: Resource,
  objects: readonly JsonObject[],
  options: { listMetadata: JsonObject; includeObject: string; version: string; columns?: "all" | "none" },
) => Promise<JsonObject>;

export interface ReadDependencies {
  readonly registry: Registry;
  readonly table: TableMaker;
  /** The encoded events that watchers share. */
  readonly events: SharedEvents;
}

/** Answers with one object, in the form that was asked for. */
export async function present(
  { table }: ReadDependencies,
  resource: Resource,
  object: JsonObject,
  as: Representation,
  query: URLSearchParams,
  status = 200,
): Promise<ApiResponse> {
  switch (as.as) {
    case "table": {
      const { resourceVersion } = metadataOf(object);
      const listMetadata = resourceVersion === undefined ? {} : { resourceVersion };
      const includeObject = includedObject(query);
      const made = await table(resource, [object], { listMetadata, includeObject, version: as.version });
      return await encoded(status, made, as.encoding);
    }
    case "metadata":
      if (as.of === "list") throw notOfList(resource);
      return as.encoding === "protobuf"
        ? protobuf(status, (await protobufForm()).metadata(object))
        : await encoded(status, partialMetadata(object), as.encoding);
    case "object":
      switch (as.encoding) {
        case "json":
          return jsonText(status, objectText(resource, object));
        case "yaml":
          return await encoded(status, withKind(resource, object), "yaml");
        case "protobuf":
          return protobuf(status, (await protobufForm()).object(resource, object));
      }
  }
}

/** How much of each object a table's rows carry. @throws StatusError 400 */
export function includedObject(query: URLSearchParams): "None" | "Metadata" | "Object" {
  const asked = query.get("includeObject") || "Metadata";
  if (asked === "None" || asked === "Metadata" || asked === "Object") return asked;
  throw badRequest(
    `Unable to convert to Table as requested: includeObject: Invalid value: ${JSON.stringify(asked)}: must be 'Metadata', 'Object', 'None', or empty`,
  );
}

function withKind({ info }: Resource, object: JsonObject): JsonObject {
  const apiVersion = apiVersionOf(info);
  return { ...object, kind: info.kind, apiVersion };
}

export async function get(
  deps: ReadDependencies,
  target: Target,
  as: Representation,
  query: URLSearchParams,
): Promise<ApiResponse> {
  const { registry } = deps;
  await awaitRevision(registry, versionOf(target.resource, query));
  const entry = registry.entry(target);
  if (as.as === "object" && as.encoding === "json" && !target.resource.conversion) {
    return jsonText(200, entryText(target.resource, entry));
  }
  return present(deps, target.resource, await registry.fromStorage(target.resource, entry.object), as, query);
}

function versionOf({ info }: Resource, query: URLSearchParams): number | undefined {
  const text = query.get("resourceVersion");
  // The real server keeps no cache of events, and it is the cache that answers with 500.
  return text ? parseVersion(text, info.plural === "events" ? 400 : 500) : undefined;
}

/** A read at a future revision fails after this time, as on the real server. */
export async function awaitRevision(registry: Registry, revision: number | undefined): Promise<void> {
  const { store, clock } = registry;
  if (revision === undefined || revision <= store.revision) return;
  await new Promise<void>((resolve, reject) => {
    const done = () => {
      unsubscribe();
      cancel();
    };
    const cancel = clock.schedule(3_000, () => {
      done();
      reject(tooLarge(revision, store.revision));
    });
    const unsubscribe = store.subscribeAll(() => {
      if (store.revision < revision) return;
      done();
      resolve();
    });
  });
}

/** One page of a collection, from the revision that was asked for. @throws StatusError 410, 504 */
export async function readPage(
  registry: Registry,
  resource: Resource,
  namespace: string | undefined,
  options: ListOptions,
): Promise<Page> {
  const { store } = registry;
  const { resourceVersion, resourceVersionMatch, limit } = options;
  // A page at a named version is read at exactly that version, so that the next pages are
  // consistent with it.
  const isExact =
    resourceVersionMatch === "Exact" || (resourceVersionMatch === undefined && limit !== undefined);
  const exact = isExact && resourceVersion ? resourceVersion : options.continue?.revision;
  await awaitRevision(registry, options.resourceVersion);
  // A version of 0 means "any version", which is never paged.
  const unlimited = resourceVersion === 0;
  const { matches } = options;
  const query = {
    prefix: namespace === undefined ? "" : `${namespace}/`,
    ...(options.continue === undefined ? {} : { after: options.continue.after }),
    ...(limit === undefined || unlimited ? {} : { limit }),
    ...(matches ? { matches: (entry: Entry) => matches(entry.object) } : {}),
  };
  try {
    return store.list(resource.bucket, exact === undefined ? query : { ...query, at: exact });
  } catch (error) {
    if (!(error instanceof CompactedError)) throw error;
    if (!options.continue) throw expired();
    throw expired(
      "The provided continue parameter is too old to display a consistent list result. You can start a new list without the continue parameter, or use the continue token in this response to retrieve the remainder of the results. Continuing with the provided token results in an inconsistent list - objects that were created, modified, or deleted between the time the first chunk was returned and now may show up in the list.",
      encodeContinue(store.revision, options.continue.after),
    );
  }
}

export async function list(
  deps: ReadDependencies,
  resource: Resource,
  namespace: string | undefined,
  options: ListOptions,
  as: Representation,
  query: URLSearchParams,
): Promise<ApiResponse> {
  const page = await readPage(deps.registry, resource, namespace, options);
  const metadata = pageMetadata(resource, page, options);
  if (as.as === "object" && as.encoding === "json" && !resource.conversion) {
    const items = page.entries.map((entry) => itemText(resource, entry));
    return jsonText(200, listText(resource, metadata, items));
  }
  const stored: JsonObject[] = page.entries.map((entry) => entry.object);
  const objects = resource.conversion ? await resource.conversion.fromStorage(stored) : stored;
  return await presentList(deps, resource, metadata, objects, as, query);
}

/** The metadata of a list: its version and continue token. */
export function pageMetadata({ info }: Resource, page: Page, options: ListOptions): JsonObject {
  const metadata: JsonObject = { resourceVersion: textOf(page.revision) };
  if (page.next !== undefined) {
    metadata.continue = encodeContinue(page.revision, page.next);
    if (!options.matches) metadata.remainingItemCount = page.remaining;
  } else if (info.origin === "custom") {
    metadata.continue = "";
  }
  return metadata;
}

/** Answers with objects of one kind, in the form that was asked for. */
export async function presentList(
  deps: ReadDependencies,
  resource: Resource,
  metadata: JsonObject,
  objects: readonly JsonObject[],
  as: Representation,
  query: URLSearchParams,
): Promise<ApiResponse> {
  switch (as.as) {
    case "table": {
      const includeObject = includedObject(query);
      const options = { listMetadata: metadata, includeObject, version: as.version };
      return await encoded(200, await deps.table(resource, objects, options), as.encoding);
    }
    case "metadata":
      if (as.of === "object") throw notOfObject(resource);
      return as.encoding === "protobuf"
        ? protobuf(200, await (await protobufForm()).metadataList(metadata, objects))
        : await encoded(200, metadataList(metadata, objects), as.encoding);
    case "object":
      if (as.encoding === "protobuf") {
        return protobuf(200, await (await protobufForm()).list(resource, metadata, objects));
      }
      return await encoded(200, listObject(resource, metadata, objects), as.encoding);
  }
}

function metadataList(metadata: JsonObject, objects: readonly JsonObject[]): JsonObject {
  const { continue: token, ...rest } = metadata;
  return {
    kind: "PartialObjectMetadataList",
    apiVersion: "meta.k8s.io/v1",
    metadata: token ? metadata : rest,
    items: objects.length === 0 ? null : objects.map((object) => partialMetadata(object)),
  };
}

/** An object where the metadata of a list was asked for. */
function notOfList({ info }: Resource): StatusError {
  if (info.origin === "custom") return new StatusError({ code: 500, message: "content is not a list" });
  return notAcceptable(
    `you requested PartialObjectMetadataList, but the requested object is not a list (*${goPackage(info)}.${info.kind})`,
  );
}

/** A list where the metadata of one object was asked for. */
function notOfObject({ info }: Resource): StatusError {
  const type =
    info.origin === "custom" ? "unstructured.UnstructuredList" : `${goPackage(info)}.${info.listKind}`;
  return notAcceptable(`you requested PartialObjectMetadata, but the requested object is a list (*${type})`);
}

function goPackage({ group }: Resource["info"]): string {
  return group === "" ? "core" : (group.split(".")[0] ?? group);
}

function notAcceptable(message: string): StatusError {
  return new StatusError({ code: 406, reason: "NotAcceptable", message });
}

function listText({ info }: Resource, metadata: JsonObject, items: readonly string[]): string {
  const apiVersion = JSON.stringify(apiVersionOf(info));
  const kind = JSON.stringify(info.listKind);
  const meta = JSON.stringify(metadata);
  return info.origin === "custom"
    ? `{"apiVersion":${apiVersion},"items":[${items.join(",")}],"kind":${kind},"metadata":${meta}}`
    : `{"kind":${kind},"apiVersion":${apiVersion},"metadata":${meta},"items":[${items.join(",")}]}`;
}

function listObject(resource: Resource, metadata: JsonObject, objects: readonly JsonObject[]): JsonObject {
  const { info } = resource;
  const apiVersion = apiVersionOf(info);
  const items = objects.map((object) => {
    if (info.origin === "custom") return withKind(resource, object);
    const { kind: _kind, apiVersion: _apiVersion, ...item } = object;
    return item;
  });
  return { kind: info.listKind, apiVersion, metadata, items };
}
