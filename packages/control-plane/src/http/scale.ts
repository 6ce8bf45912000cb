import { apiVersionOf } from "@windlass/kinds";
import { clone, equal, type JsonObject } from "../json.ts";
import { metadataOf, valueAt } from "../json-fields.ts";
import { schemaOfType } from "../kinds/index.ts";
import {
  describe,
  serverSideApply,
  trackUpdate,
  withScaledManagers,
  withScaleManagers,
} from "../merge/index.ts";
import { checkApplied, reportRepeated } from "../registry/apply.ts";
import { checkNamed } from "../registry/decode.ts";
import { checkName, type Target } from "../registry/identity.ts";
import { timestamp } from "../registry/metadata.ts";
import { placeIn } from "../registry/object-rules.ts";
import { changed, decodePatched } from "../registry/patch.ts";
import type { Resource, Scaling } from "../registry/resource.ts";
import { badRequest, internalError, invalid, StatusError, unsupported } from "../status.ts";
import { readPatch } from "./patch.ts";
import { includedObject, type ReadDependencies } from "./read.ts";
import { partialMetadata } from "./representation.ts";
import type { ApiResponse } from "./request.ts";
import { encoded } from "./respond.ts";
import { builtinReader, readObject, type WriteRequest } from "./write.ts";

const reader = builtinReader({ group: "autoscaling", version: "v1", kind: "Scale" });
const scaleVersion = "autoscaling/v1";

/** GET, PUT and PATCH of the `autoscaling/v1` Scale that an object shows. */
export async function scale(
  deps: ReadDependencies,
  target: Target,
  write: WriteRequest,
): Promise<ApiResponse> {
  const { resource, namespace, name } = target;
  const { scale: scaling } = resource;
  if (!scaling) throw unsupported(`scaling ${resource.bucket}`);
  const { method } = write.request;
  if (method === "GET") {
    return await presentScale(deps, resource, shown(scaling, await deps.registry.get(target)), write);
  }
  const change = await readChange(target, write);
  const { info } = resource;
  const apiVersion = apiVersionOf(info);
  const hasVersion = (other: string) =>
    info.origin === "builtin" ||
    deps.registry.kinds.byKind(info.group, other.slice(info.group.length + 1), info.kind) !== undefined;
  const updated = await deps.registry.update(
    target,
    write.context,
    async (live) => {
      const scaled = { object: live, apiVersion, replicas: scaling.replicas, hasVersion };
      const before = withScaleManagers(scaling.get(live, unsetReplicas) as JsonObject, scaled);
      const wanted = await change(before, timestamp(deps.registry.clock));
      if (valueAt(wanted, "spec", "replicas") === unsetReplicas) {
        throw badRequest(`the spec replicas field ${pathOf(scaling)} cannot be empty`);
      }
      const metadata = metadataOf(wanted);
      checkName(metadata, name);
      placeIn(resource, namespace, metadata);
      checkScale(resource, name, wanted);
      const next = clone(withScaledManagers(wanted, scaled));
      scaling.set(next, wanted);
      const { resourceVersion, uid } = metadata;
      if (resourceVersion) metadataOf(next).resourceVersion = resourceVersion;
      if (uid) metadataOf(next).uid = uid;
      return next;
    },
    { kind: method === "PUT" ? "UpdateOptions" : "PatchOptions", tracked: true },
  );
  return await presentScale(deps, resource, shown(scaling, updated), write);
}

/**
 * The replicas of a Scale, while it is written, of an object that has none: a number that no client
 * asks for.
 */
const unsetReplicas = -(2 ** 31);

function shown(scaling: Scaling, object: JsonObject): JsonObject {
  const made = scaling.get(object);
  if (made) return made;
  throw internalError(`the spec replicas field ${pathOf(scaling)} does not exist`);
}

function pathOf({ replicas }: Scaling): string {
  return JSON.stringify(`.${replicas.join(".")}`);
}

async function presentScale(
  { registry }: ReadDependencies,
  { info }: Resource,
  made: JsonObject,
  { as, query }: WriteRequest,
): Promise<ApiResponse> {
  switch (as.as) {
    case "object":
      return await encoded(200, made, as.encoding);
    case "metadata":
      if (as.of === "object") return await encoded(200, partialMetadata(made), as.encoding);
      throw new StatusError({
        code: 406,
        reason: "NotAcceptable",
        message:
          "you requested PartialObjectMetadataList, but the requested object is not a list (*autoscaling.Scale)",
      });
    case "table": {
      const { scaleTable } = await import("../table/index.ts");
      const table = scaleTable(made, info.origin, {
        now: registry.clock.now(),
        includeObject: includedObject(query),
        listMetadata: { resourceVersion: valueAt(made, "metadata", "resourceVersion") ?? "" },
        version: as.version,
      });
      return await encoded(200, table, as.encoding);
    }
  }
}

/** @throws StatusError 422, about the Scale rather than the object it stands for */
function checkScale({ info }: Resource, name: string, wanted: JsonObject): void {
  const replicas = valueAt(wanted, "spec", "replicas");
  if (info.origin === "custom" || typeof replicas !== "number" || replicas >= 0) return;
  const message = `Invalid value: ${replicas}: must be greater than or equal to 0`;
  throw invalid(reader.info, name, [{ reason: "FieldValueInvalid", message, field: "spec.replicas" }]);
}

/** What a write makes of a Scale with its managers. */
type Change = (before: JsonObject, time: string) => JsonObject | Promise<JsonObject>;

async function readChange({ resource, name }: Target, write: WriteRequest): Promise<Change> {
  const schema = schemaOfType("autoscaling.v1.Scale");
  const tracking = { schema, apiVersion: scaleVersion, subresource: "scale" };
  const isCustom = resource.info.origin === "custom";
  const updating =
    (change: (before: JsonObject) => JsonObject | Promise<JsonObject>): Change =>
    async (live, time) => {
      const next = await change(live);
      return trackUpdate({ ...tracking, live, next, manager: write.context.fieldManager, time });
    };
  if (write.request.method === "PUT") {
    const object = await readObject(reader, write).catch((error: unknown) => {
      throw isCustom && error instanceof StatusError ? unnamedType() : error;
    });
    checkNamed(object, name);
    return updating(() => clone(object));
  }
  const patch = await readPatch(resource, write);
  if (patch.type !== "apply") {
    return updating(async (live) =>
      decodePatched(reader, patch, await changed(live, patch, () => schema), name, write),
    );
  }
  const { config, repeated, manager, force } = patch;
  checkApplied(reader, config);
  return (live, time) => {
    if (isCustom && valueAt(live, "metadata", "managedFields") === undefined) throw cannotConvertLive();
    const applied = serverSideApply({ ...tracking, live, config: clone(config), manager, force, time });
    reportRepeated(repeated, write);
    if (isCustom && !equal(withoutManagers(live), withoutManagers(applied))) throw cannotConvert(config);
    return reader.decode(applied).object;
  };
}

function withoutManagers(object: JsonObject): JsonObject {
  const { managedFields: _managedFields, ...metadata } = metadataOf(object);
  return { ...object, metadata };
}

/** The real server's message for a malformed Scale of a custom kind does not name the type. */
function unnamedType(): StatusError {
  return badRequest('no kind is registered for the type v1.Scale in scheme "pkg/runtime/scheme.go:111"');
}

/** Nor can it apply a Scale of a custom kind whose replicas no manager owns, */
function cannotConvertLive(): StatusError {
  return new StatusError({
    code: 500,
    message: `failed to create manager for existing fields: failed to convert live object (/; ${scaleVersion}, Kind=Scale) to proper version: request to convert CR to an invalid group/version: ${scaleVersion}`,
  });
}

/** nor any other, unless that changes nothing. */
function cannotConvert(config: JsonObject): StatusError {
  return new StatusError({
    code: 500,
    message: `failed to convert new object (${describe(config)}) to proper version: request to convert CR to an invalid group/version: ${scaleVersion}`,
  });
}
