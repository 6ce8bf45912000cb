import { clone, isObject, type JsonObject, textOf } from "../json.ts";
import {
  applyJsonPatch,
  applyMergePatch,
  applyStrategicMergePatch,
  serverSideApply,
} from "../merge/index.ts";
import type { DeleteOptions } from "../registry/deletion.ts";
import { timestamp } from "../registry/metadata.ts";
import { nameOf, type RequestContext, type Target } from "../registry/registry.ts";
import type { Resource } from "../registry/resource.ts";
import { trackingOf } from "../registry/tracking.ts";
import { badRequest, type Cause, conflict, invalid, notFound, StatusError } from "../status.ts";
import { keyOf } from "../storage/store.ts";
import { decodeBody, mediaType, parsePatch, unsupportedMediaType } from "./body.ts";
import { parseListOptions } from "./list-options.ts";
import type { Representation } from "./negotiate.ts";
import { present, presentList, type ReadDependencies, readPage } from "./read.ts";
import { type ApiRequest, type ApiResponse, header } from "./request.ts";
import { deletedStatus, encoded } from "./respond.ts";

/** A write as the query and headers describe it. */
export interface WriteRequest {
  readonly request: ApiRequest;
  readonly query: URLSearchParams;
  readonly as: Representation;
  readonly context: RequestContext;
  readonly fieldValidation: "Ignore" | "Warn" | "Strict";
}

/** The options common to creates, updates and patches. @throws StatusError 422 */
export function parseWriteOptions(
  query: URLSearchParams,
  kind: "CreateOptions" | "UpdateOptions" | "PatchOptions" | "DeleteOptions",
): {
  dryRun: boolean;
  fieldValidation: "Ignore" | "Warn" | "Strict";
} {
  const causes: Cause[] = [];
  const dryRun = query.getAll("dryRun");
  for (const value of dryRun) {
    if (value !== "All") {
      causes.push({
        reason: "FieldValueNotSupported",
        message: `Unsupported value: ${JSON.stringify(value)}: supported values: "All"`,
        field: "dryRun",
      });
    }
  }
  const manager = query.get("fieldManager") ?? "";
  if (Buffer.byteLength(manager) > 128) {
    causes.push({
      reason: "FieldValueTooLong",
      message: "Too long: may not be more than 128 bytes",
      field: "fieldManager",
    });
  }
  const validation = query.get("fieldValidation") || "Warn";
  if (validation !== "Ignore" && validation !== "Warn" && validation !== "Strict") {
    causes.push({
      reason: "FieldValueNotSupported",
      message: `Unsupported value: ${JSON.stringify(validation)}: supported values: "Ignore", "Strict", "Warn", ""`,
      field: "fieldValidation",
    });
  }
  if (causes.length > 0) throw invalid({ group: "meta.k8s.io", kind }, "", causes);
  return { dryRun: dryRun.length > 0, fieldValidation: validation as "Ignore" | "Warn" | "Strict" };
}

/** Whose name managedFields gets when the request names nobody: the program's, from its User-Agent. */
export function defaultManager(userAgent: string | undefined): string {
  const name = (userAgent ?? "").split("/")[0] ?? "";
  const printable = name.replace(/[^\p{L}\p{M}\p{N}\p{P}\p{S} ]/gu, "");
  return printable === "" ? "unknown" : printable.slice(0, 128);
}

export async function create(
  deps: ReadDependencies,
  resource: Resource,
  namespace: string | undefined,
  write: WriteRequest,
): Promise<ApiResponse> {
  const { object } = await readObject(resource, write);
  const created = await deps.registry.create(resource, namespace, object, write.context);
  return present(deps, resource, created, write.as, write.query, 201);
}

export async function update(
  deps: ReadDependencies,
  target: Target,
  write: WriteRequest,
): Promise<ApiResponse> {
  const { registry } = deps;
  const { resource } = target;
  const { object } = await readObject(resource, write);
  const name = isObject(object.metadata) ? object.metadata.name : undefined;
  if (name === undefined || name === "") {
    throw badRequest(`name must be provided`);
  }
  const exists = registry.store.get(resource.bucket, keyOf(target.namespace, target.name)) !== undefined;
  if (!exists && resource.strategy.createOnUpdate && target.subresource === undefined) {
    const created = await registry.create(resource, target.namespace, object, write.context);
    return present(deps, resource, created, write.as, write.query, 201);
  }
  const updated = await registry.update(target, write.context, () => clone(object), {
    kind: "UpdateOptions",
  });
  return present(deps, resource, updated, write.as, write.query);
}

export async function patch(
  deps: ReadDependencies,
  target: Target,
  write: WriteRequest,
): Promise<ApiResponse> {
  const { resource } = target;
  const type = mediaType(header(write.request, "content-type"));
  if (type === "application/apply-patch+yaml") return apply(deps, target, write);
  if (write.query.has("force")) {
    throw invalid({ group: "meta.k8s.io", kind: "PatchOptions" }, "", [
      {
        reason: "FieldValueForbidden",
        message: "Forbidden: may not be specified for non-apply patch",
        field: "force",
      },
    ]);
  }
  const document = parsePatchOf(resource, type, write);
  const patched = await deps.registry.update(
    target,
    write.context,
    (live) => accept(resource, applyPatch(resource, type, live, document), [], write),
    { kind: "PatchOptions" },
  );
  return present(deps, resource, patched, write.as, write.query);
}

const patchTypes = ["application/json-patch+json", "application/merge-patch+json"];

function parsePatchOf(resource: Resource, type: string, write: WriteRequest): unknown {
  const accepted = [
    ...patchTypes,
    ...(resource.info.origin === "builtin" ? ["application/strategic-merge-patch+json"] : []),
    "application/apply-patch+yaml",
    "application/apply-patch+cbor",
  ];
  if (!accepted.includes(type) || type.endsWith("+cbor")) throw unsupportedMediaType(accepted);
  const document = parsePatch(write.request);
  if (type !== "application/json-patch+json" && !isObject(document)) {
    throw badRequest(
      `error decoding patch: json: cannot unmarshal ${Array.isArray(document) ? "array" : typeof document} into Go value of type map[string]interface {}`,
    );
  }
  return document;
}

function applyPatch(resource: Resource, type: string, live: JsonObject, document: unknown): JsonObject {
  const patched =
    type === "application/json-patch+json"
      ? applyJsonPatch(live, document)
      : type === "application/merge-patch+json"
        ? applyMergePatch(live, document)
        : applyStrategicMergePatch(live, document as JsonObject, resource.schema());
  if (!isObject(patched)) throw badRequest("the patch turned the object into something else");
  return clone(patched);
}

async function apply(deps: ReadDependencies, target: Target, write: WriteRequest): Promise<ApiResponse> {
  const { registry } = deps;
  const { resource } = target;
  const manager = write.query.get("fieldManager") ?? "";
  if (manager === "") {
    throw invalid({ group: "meta.k8s.io", kind: "PatchOptions" }, "", [
      {
        reason: "FieldValueRequired",
        message: "Required value: is required for apply patch",
        field: "fieldManager",
      },
    ]);
  }
  const { parseYaml } = await import("../schema/parse-yaml.ts");
  const text = Buffer.from(write.request.body ?? new Uint8Array()).toString("utf8");
  let config: unknown;
  try {
    config = (text.trimStart().startsWith("{") ? parseJsonText(text) : parseYaml(text)).value;
  } catch (error) {
    if (error instanceof StatusError) throw error;
    throw badRequest(`error decoding YAML: ${error instanceof Error ? error.message : String(error)}`);
  }
  if (!isObject(config)) throw badRequest("error decoding YAML: the patch is not an object");
  if (write.fieldValidation !== "Ignore") reportUnknown(resource, config, write);
  const named = isObject(config.metadata) ? config.metadata : undefined;
  if (named?.name && named.name !== target.name) {
    throw badRequest(
      `the name of the object (${textOf(named.name)}) does not match the name on the URL (${target.name})`,
    );
  }
  const force = write.query.get("force") === "true";
  const merge = (live: JsonObject | undefined) =>
    serverSideApply({
      ...(live ? { live } : {}),
      config: clone(config),
      manager,
      force,
      time: timestamp(registry.clock),
      ...trackingOf(resource, registry, target.subresource),
    });
  for (;;) {
    const exists = registry.store.get(resource.bucket, keyOf(target.namespace, target.name)) !== undefined;
    if (!exists) {
      if (target.subresource !== undefined) throw notFound(nameOf(resource), target.name);
      if (named?.uid) throw uidGone(resource, target.name, textOf(named.uid));
      if (named?.resourceVersion) throw notFound(nameOf(resource), target.name);
      const merged = merge(undefined);
      const metadata = (isObject(merged.metadata) ? merged.metadata : {}) as JsonObject;
      metadata.name = target.name;
      merged.metadata = metadata;
      const object = resource.decode(merged).object;
      const created = await registry.create(resource, target.namespace, object, write.context, true);
      return present(deps, resource, created, write.as, write.query, 201);
    }
    const options = { kind: "PatchOptions", tracked: true } as const;
    const applied = await registry.update(
      target,
      write.context,
      (live) => resource.decode(merge(live)).object,
      options,
    );
    return present(deps, resource, applied, write.as, write.query);
  }
}

function uidGone(resource: Resource, name: string, uid: string): StatusError {
  return conflict(
    nameOf(resource),
    name,
    `uid mismatch: the provided object specified uid ${uid}, and no existing object was found`,
  );
}

export async function remove(
  deps: ReadDependencies,
  target: Target,
  write: WriteRequest,
): Promise<ApiResponse> {
  const { resource } = target;
  const { options, dryRun } = await readDeleteOptions(write);
  const context = dryRun ? { ...write.context, dryRun } : write.context;
  const { object, gone } = await deps.registry.delete(target, options, context);
  if (!gone || resource.strategy.returnsDeleted)
    return present(deps, resource, object, write.as, write.query);
  const metadata = object.metadata as JsonObject;
  const status = deletedStatus({
    name: target.name,
    ...(resource.info.group === "" ? {} : { group: resource.info.group }),
    kind: resource.info.plural,
    uid: metadata.uid as string,
  });
  return await encoded(200, status, write.as.encoding);
}

export async function removeCollection(
  deps: ReadDependencies,
  resource: Resource,
  namespace: string | undefined,
  write: WriteRequest,
): Promise<ApiResponse> {
  const { options, dryRun } = await readDeleteOptions(write);
  const context = dryRun ? { ...write.context, dryRun } : write.context;
  const page = await readPage(
    deps.registry,
    resource,
    namespace,
    parseListOptions(resource, write.query, false),
  );
  const items: JsonObject[] = [];
  for (const { object } of page.entries) {
    const { name, namespace: within } = object.metadata;
    try {
      await deps.registry.delete(
        { resource, namespace: within as string | undefined, name },
        { ...options, collection: true },
        context,
      );
    } catch (error) {
      // Somebody else was faster: what was to go is gone.
      if (!(error instanceof StatusError && error.code === 404)) throw error;
    }
    items.push(object);
  }
  const metadata = { resourceVersion: textOf(page.revision) };
  return await presentList(deps, resource, metadata, items, write.as, write.query);
}

/** The body of a create or update, checked against the URL's kind, in the shape it will be stored. */
async function readObject(resource: Resource, write: WriteRequest): Promise<{ object: JsonObject }> {
  const body = await decodeBody(write.request, resource.info, write.fieldValidation !== "Ignore");
  if (!body) throw emptyBody(resource);
  checkKind(resource, body.object);
  return {
    object: accept(
      resource,
      body.object,
      body.duplicates,
      body.typed ? { ...write, fieldValidation: "Ignore" } : write,
    ),
  };
}

function emptyBody(resource: Resource): StatusError {
  return badRequest(`unable to decode an empty ${resource.info.kind}: a body is required`);
}

/** Checks `apiVersion` and `kind`, and fills them in where they were left out. */
export function checkKind(resource: Resource, object: JsonObject): void {
  const { group, version, kind } = resource.info;
  const expected = group === "" ? version : `${group}/${version}`;
  const given = { apiVersion: object.apiVersion, kind: object.kind };
  if (given.apiVersion === undefined || given.apiVersion === "") object.apiVersion = expected;
  if (given.kind === undefined || given.kind === "") object.kind = kind;
  if (object.apiVersion !== expected || object.kind !== kind) {
    if (resource.info.origin === "custom" && object.apiVersion === expected) {
      throw badRequest(
        `no kind ${JSON.stringify(object.kind)} is registered for version ${JSON.stringify(expected)}`,
      );
    }
    const [first = "", second] = textOf(object.apiVersion).split("/");
    const [givenGroup, givenVersion] = second === undefined ? ["", first] : [first, second];
    throw badRequest(
      `${kind} in version ${JSON.stringify(version)} cannot be handled as a ${kind}: converting (${givenGroup}/${givenVersion}.${textOf(object.kind)}) to (${group}/${version}.${kind}): unknown conversion`,
    );
  }
}

/** Decodes into the stored shape, and says or refuses what was not understood. */
function accept(
  resource: Resource,
  input: JsonObject,
  duplicates: readonly string[],
  write: WriteRequest,
): JsonObject {
  const { object, unknown } = resource.decode(input);
  if (write.fieldValidation === "Ignore") return object;
  report([...unknown.map((path) => `unknown field ${JSON.stringify(path)}`), ...duplicates], resource, write);
  return object;
}

function reportUnknown(resource: Resource, config: JsonObject, write: WriteRequest): void {
  const { unknown } = resource.decode(clone(config));
  report(
    unknown.map((path) => `unknown field ${JSON.stringify(path)}`),
    resource,
    write,
  );
}

function report(faults: readonly string[], resource: Resource, write: WriteRequest): void {
  if (faults.length === 0) return;
  if (write.fieldValidation === "Strict") {
    const what = `strict decoding error: ${faults.join(", ")}`;
    throw badRequest(
      resource.info.origin === "custom"
        ? what
        : `${resource.info.kind} in version ${JSON.stringify(resource.info.version)} cannot be handled as a ${resource.info.kind}: ${what}`,
    );
  }
  for (const fault of faults) write.context.warn(fault);
}

function parseJsonText(text: string): { value: unknown } {
  return { value: JSON.parse(text) as unknown };
}

const deleteOptionsKind = { group: "meta.k8s.io", version: "v1", kind: "DeleteOptions" };
const policies = new Set(["Foreground", "Background", "Orphan"]);

/** DELETE's options, from its body or its query. @throws StatusError 422 */
async function readDeleteOptions(write: WriteRequest): Promise<{ options: DeleteOptions; dryRun: boolean }> {
  const body = await decodeBody(write.request, deleteOptionsKind);
  const raw: JsonObject = body ? { ...body.object } : {};
  const { query } = write;
  if (!body) {
    const grace = query.get("gracePeriodSeconds");
    if (grace !== null) raw.gracePeriodSeconds = Number(grace);
    const policy = query.get("propagationPolicy");
    if (policy !== null) raw.propagationPolicy = policy;
    const orphan = query.get("orphanDependents");
    if (orphan !== null) raw.orphanDependents = orphan === "true";
  }
  delete raw.kind;
  delete raw.apiVersion;
  const causes: Cause[] = [];
  const policy = raw.propagationPolicy;
  const orphan = raw.orphanDependents;
  if (policy !== undefined && policy !== null && orphan !== undefined && orphan !== null) {
    causes.push({
      reason: "FieldValueInvalid",
      message: `Invalid value: ${JSON.stringify(policy)}: orphanDependents and deletionPropagation cannot be both set`,
      field: "propagationPolicy",
    });
  } else if (policy !== undefined && policy !== null && !policies.has(textOf(policy))) {
    causes.push({
      reason: "FieldValueNotSupported",
      message: `Unsupported value: ${JSON.stringify(policy)}: supported values: "Background", "Foreground", "Orphan"`,
      field: "propagationPolicy",
    });
  }
  const dry = Array.isArray(raw.dryRun) ? raw.dryRun : [];
  for (const value of dry) {
    if (value !== "All") {
      causes.push({
        reason: "FieldValueNotSupported",
        message: `Unsupported value: ${JSON.stringify(value)}: supported values: "All"`,
        field: "dryRun",
      });
    }
  }
  if (causes.length > 0) throw invalid({ group: "meta.k8s.io", kind: "DeleteOptions" }, "", causes);
  const chosen =
    typeof policy === "string"
      ? (policy as "Foreground" | "Background" | "Orphan")
      : orphan === true
        ? "Orphan"
        : orphan === false
          ? "Background"
          : undefined;
  const grace = raw.gracePeriodSeconds;
  const preconditions = raw.preconditions;
  return {
    dryRun: dry.length > 0,
    options: {
      ...(chosen === undefined ? {} : { propagationPolicy: chosen }),
      ...(typeof grace === "number" && Number.isFinite(grace) ? { gracePeriodSeconds: grace } : {}),
      ...(isObject(preconditions)
        ? { preconditions: preconditions as { uid?: string; resourceVersion?: string } }
        : {}),
      raw,
    },
  };
}
