import { apiVersionOf } from "@windlass/kinds";
import { clone, isLarge, isObject, type Json, type JsonObject, stringify, textOf } from "../json.ts";
import { goTypeOfKind } from "@windlass/kinds/go-types";
import { builtinSchema, type GroupVersionKind, typeNameOf } from "../kinds/index.ts";
import {
  applyJsonPatch,
  applyMergePatch,
  applyStrategicMergePatch,
  decodeManagers,
  describe,
  goText,
  managedFieldsOf,
  managersInSteps,
  mergeApplied,
  withManagers,
} from "../merge/index.ts";
import { checkVersion, nameOf, type Target } from "../registry/identity.ts";
import { timestamp } from "../registry/metadata.ts";
import type { Resource } from "../registry/resource.ts";
import { trackingOf } from "../registry/tracking.ts";
import { outOfRange, type Parsed, ParseError, parseJson, parseJsonInSteps } from "../schema/parse-json.ts";
import type { Schema } from "../schema/schema.ts";
import {
  badRequest,
  conflict,
  type DecodeFault,
  invalid,
  notFound,
  StatusError,
  UndecodableError,
} from "../status.ts";
import { finish, nextTurn } from "../steps.ts";
import { storageKey } from "../storage/store.ts";
import { checkSize, mediaType, textOfBytes, unsupportedMediaType } from "./body.ts";
import { isTrue } from "./list-options.ts";
import { present, type ReadDependencies } from "./read.ts";
import { type ApiRequest, type ApiResponse, header } from "./request.ts";
import {
  accept,
  checkNamed,
  checkSameKind,
  notRegistered,
  type Reader,
  type WriteRequest,
  yamlErrors,
} from "./write.ts";

export async function patch(
  deps: ReadDependencies,
  target: Target,
  write: WriteRequest,
): Promise<ApiResponse> {
  const { resource } = target;
  const type = patchType(resource, write.request);
  if (type === "apply") return apply(deps, target, write);
  refuseForce(write);
  const change = await readPatch(type, write.request, resource);
  const patched = await deps.registry.update(
    target,
    write.context,
    async (live) => decodePatched(resource, type, await change(live), target.name, write),
    { kind: "PatchOptions" },
  );
  return present(deps, resource, patched, write.as, write.query);
}

type PatchType = "json" | "merge" | "strategic" | "apply";

const patchTypes: ReadonlyMap<string, PatchType> = new Map([
  ["application/json-patch+json", "json"],
  ["application/merge-patch+json", "merge"],
  ["application/strategic-merge-patch+json", "strategic"],
  ["application/apply-patch+yaml", "apply"],
]);

/** The type of a request's patch. @throws StatusError 415 */
export function patchType(resource: Pick<Resource, "info">, request: ApiRequest): PatchType {
  const type = patchTypes.get(mediaType(header(request, "content-type")));
  if (resource.info.origin === "builtin") {
    if (type) return type;
    throw new StatusError({
      code: 415,
      reason: "UnsupportedMediaType",
      message: "415: Unsupported Media Type",
      details: {},
    });
  }
  if (type && type !== "strategic") return type;
  throw unsupportedMediaType([...patchTypes].flatMap(([name, of]) => (of === "strategic" ? [] : [name])));
}

export function refuseForce({ query }: WriteRequest): void {
  if (!query.has("force")) return;
  throw invalid({ group: "meta.k8s.io", kind: "PatchOptions" }, "", [
    {
      reason: "FieldValueForbidden",
      message: "Forbidden: may not be specified for non-apply patch",
      field: "force",
    },
  ]);
}

/** What a patch does to an object, from the body of a request. @throws StatusError 400 */
export async function readPatch(
  type: "json" | "merge" | "strategic",
  request: ApiRequest,
  resource: Pick<Resource, "schema">,
): Promise<(live: JsonObject) => Json | Promise<Json>> {
  const body = request.body ?? new Uint8Array();
  checkSize(body);
  const prefix = type === "strategic" ? "" : "error decoding patch: ";
  let document: unknown;
  try {
    const parsed = await finish(parseJsonInSteps(textOfBytes(body), { outOfRange: "noted" }));
    const odd = parsed.numbers?.outOfRange;
    if (odd !== undefined) throw new ParseError(outOfRange(odd, type === "json" ? inOperation : undefined));
    document = parsed.value;
  } catch (error) {
    if (error instanceof ParseError) throw badRequest(`${prefix}${error.message}`);
    throw error;
  }
  const mismatch = (value: unknown, wanted: string) =>
    badRequest(`${prefix}json: cannot unmarshal ${goKindOf(value)} into Go value of type ${wanted}`);
  if (type === "json") {
    const operations = document ?? [];
    if (!Array.isArray(operations)) throw mismatch(operations, "[]handlers.jsonPatchOp");
    const odd: unknown = operations.find((operation) => operation !== null && !isObject(operation));
    if (odd !== undefined) throw mismatch(odd, "handlers.jsonPatchOp");
    return (live) => finish(applyJsonPatch(live, operations));
  }
  if (document === null && type === "merge") throw badRequest("Invalid JSON Patch");
  const change = document ?? {};
  if (!isObject(change)) throw mismatch(change, "map[string]interface {}");
  return type === "merge"
    ? (live) => applyMergePatch(live, change)
    : (live) => finish(applyStrategicMergePatch(live, change, resource.schema(), typeNameOf));
}

/** Where Go finds what a JSON patch adds. */
const inOperation = "Go struct field jsonPatchOp.value";

function goKindOf(value: unknown): string {
  if (Array.isArray(value)) return "array";
  if (typeof value === "bigint") return "number";
  return typeof value === "boolean" ? "bool" : typeof value;
}

function documentOf({ body }: ApiRequest): unknown {
  return parseJson(textOfBytes(body ?? new Uint8Array()), {}).value;
}

const goKinds: { readonly [json: string]: string } = { array: "slice", object: "map" };

/**
 * A fault that decoding JSON finds, in the words of the converter that turns a map into an object.
 */
function asConverted(
  { message, mismatch }: DecodeFault,
  { group, version, kind: name }: GroupVersionKind,
): string {
  if (!mismatch || mismatch.path.length === 0) return message;
  const { given, literal = "", path, type } = mismatch;
  // Types that read JSON by themselves are given JSON here too.
  const field = path.reduce<Schema | undefined>(
    (at, part) => (at?.items ?? at)?.properties?.[part],
    builtinSchema(group, version, name),
  );
  if (field?.["x-kubernetes-int-or-string"])
    return `json: cannot unmarshal ${given} into Go value of type ${type}`;
  const number = /[.eE]/.test(literal) ? "float64" : "int64";
  const kind = given === "number" ? number : (goKinds[given] ?? given);
  if (type.startsWith("map[")) return `cannot restore map from ${kind}`;
  if (type.startsWith("[]")) return `cannot restore slice from ${kind}`;
  if (type.includes(".")) return `cannot restore struct from: ${kind}`;
  return given === "number" ? `cannot convert ${kind} to ${type}` : `unrecognized type: ${type}`;
}

/**
 * Decodes the patched object into its stored shape. The patch may have turned it into something
 * invalid.
 */
export async function decodePatched(
  resource: Reader,
  type: PatchType,
  patched: unknown,
  name: string,
  write: WriteRequest,
): Promise<JsonObject> {
  const refuse = (fault: DecodeFault) => {
    // Strategic patches are merged as maps: the converter from maps to objects reports the fault,
    // and quotes the patch.
    const isStrategic = type === "strategic";
    const shown = isStrategic ? goText(documentOf(write.request)) : stringify(patched as Json);
    const message = `Invalid value: ${JSON.stringify(shown)}: ${isStrategic ? asConverted(fault, resource.info) : fault.message}`;
    return invalid({ group: "", kind: "" }, "", [{ reason: "FieldValueInvalid", message, field: "patch" }]);
  };
  if (!isObject(patched)) throw refuse({ message: "the patch turned the object into something else" });
  const isLong = isLarge(patched);
  if (isLong) await nextTurn();
  const object = clone(patched);
  if (isLong) await nextTurn();
  const { kind } = resource.info;
  const expected = apiVersionOf(resource.info);
  if (resource.info.origin === "custom") {
    if (!object.kind) throw refuse({ message: `Object 'Kind' is missing in '${stringify(object)}'` });
    checkSameKind(object, expected, kind, name);
  } else {
    const given = { kind: textOf(object.kind) || kind, apiVersion: textOf(object.apiVersion) || expected };
    const isOther = given.kind !== kind || given.apiVersion !== expected;
    if (isOther && type !== "strategic")
      throw refuse({ message: notRegistered(given.kind, given.apiVersion) });
    object.kind = kind;
    object.apiVersion = expected;
  }
  try {
    const accepted = await accept(resource, object, write, { duplicates: [], format: "json", isLong });
    checkNamed(accepted, name);
    return accepted;
  } catch (error) {
    if (!(error instanceof UndecodableError)) throw error;
    throw refuse(error.fault);
  }
}

async function apply(deps: ReadDependencies, target: Target, write: WriteRequest): Promise<ApiResponse> {
  const { registry } = deps;
  const { resource } = target;
  const manager = requireManager(write);
  const { config, repeated } = await readConfiguration(write);
  checkApplied(resource, config);
  const named = isObject(config.metadata) ? config.metadata : undefined;
  const force = write.query.has("force") && isTrue(write.query.get("force") ?? "");
  const merge = async (live: JsonObject | undefined) => {
    const time = timestamp(registry.clock);
    const isSlow = isLarge(config) || (live !== undefined && isLarge(live));
    if (isSlow) await nextTurn();
    const before = isSlow && live !== undefined ? decodeManagers(managedFieldsOf(live)) : undefined;
    if (isSlow) await nextTurn();
    const { object, managers } = await finish(
      mergeApplied({
        ...(live ? { live, before } : {}),
        config: clone(config),
        manager,
        force,
        time,
        isSlow,
        ...trackingOf(resource, registry, target.subresource),
      }),
    );
    reportRepeated(repeated, write);
    if (isSlow) await nextTurn();
    const merged = isSlow ? await finish(managersInSteps(object, managers)) : withManagers(object, managers);
    if (isSlow) await nextTurn();
    return merged;
  };
  for (;;) {
    const exists =
      registry.store.get(resource.bucket, storageKey(target.namespace, target.name)) !== undefined;
    if (!exists) {
      const { subresource } = target;
      if (subresource !== undefined && !resource.strategy.createOnUpdate) {
        throw notFound(nameOf(resource), target.name);
      }
      const merged = await merge(undefined);
      const metadata = (isObject(merged.metadata) ? merged.metadata : {}) as JsonObject;
      if (metadata.name && metadata.name !== target.name) {
        throw badRequest(
          `the name of the object (${textOf(metadata.name)}) does not match the name on the URL (${target.name})`,
        );
      }
      metadata.name = target.name;
      const version = textOf(metadata.resourceVersion);
      delete metadata.resourceVersion;
      merged.metadata = metadata;
      const object = await decodeApplied(resource, merged, config);
      if (named?.uid) throw uidGone(resource, target.name, textOf(named.uid));
      checkVersion(version);
      write.checkMayCreate?.();
      const created = await registry.create(resource, target.namespace, object, write.context, {
        tracked: true,
        subresource,
        through: "update",
      });
      return present(deps, resource, created, write.as, write.query, 201);
    }
    const options = { kind: "PatchOptions", tracked: true } as const;
    const applied = await registry.update(
      target,
      write.context,
      async (live) => await decodeApplied(resource, await merge(live), config),
      options,
    );
    return present(deps, resource, applied, write.as, write.query);
  }
}

/**
 * What was merged in the shape it will be stored.
 *
 * @throws StatusError 500 if it fits the schema and not the type
 */
async function decodeApplied(
  resource: Resource,
  merged: JsonObject,
  config: JsonObject,
): Promise<JsonObject> {
  try {
    if (resource.decodeApplied) return resource.decodeApplied(merged);
    if (!resource.decodeInSteps || !isLarge(merged)) return resource.decode(merged).object;
    return (await finish(resource.decodeInSteps(merged))).object;
  } catch (error) {
    if (!(error instanceof UndecodableError)) throw error;
    const type = `${apiVersionOf(resource.info)}, Kind=${resource.info.kind}`;
    throw new StatusError({
      code: 500,
      message: `failed to convert new object (${describe(config)}) to proper version: unable to convert unstructured object to ${type}: ${error.fault.message}`,
    });
  }
}

/** The field manager of an apply. @throws StatusError 422 if there is none */
export function requireManager({ query }: WriteRequest): string {
  const manager = query.get("fieldManager") ?? "";
  if (manager !== "") return manager;
  throw invalid({ group: "meta.k8s.io", kind: "PatchOptions" }, "", [
    {
      reason: "FieldValueRequired",
      message: "Required value: is required for apply patch",
      field: "fieldManager",
    },
  ]);
}

/**
 * Checks that an applied configuration has the kind of its URL. Another served version of the kind
 * is refused later, by the merge.
 */
export function checkApplied({ info }: Pick<Reader, "info">, config: JsonObject): void {
  const apiVersion = textOf(config.apiVersion);
  const slash = apiVersion.indexOf("/");
  const group = slash < 0 ? "" : apiVersion.slice(0, slash);
  const version = apiVersion.slice(slash + 1);
  const isOther = group !== info.group || textOf(config.kind) !== info.kind || version !== info.version;
  const isServed = group === info.group && goTypeOfKind(group, version, info.kind) !== undefined;
  if (!isOther || (isServed && config.kind === info.kind)) return;
  throw badRequest(`invalid object type: ${group}/${version}, Kind=${textOf(config.kind)}`);
}

/** An applied configuration, and its repeated fields. */
interface Configuration {
  readonly config: JsonObject;
  readonly repeated: readonly string[];
}

/** Reads an applied configuration: YAML, or JSON, which is YAML too. @throws StatusError 400 */
export async function readConfiguration(write: Pick<WriteRequest, "request">): Promise<Configuration> {
  const body = write.request.body ?? new Uint8Array();
  checkSize(body);
  const text = textOfBytes(body);
  const { parseYamlInSteps } = await import("../schema/parse-yaml.ts");
  const readYaml = () => finish(parseYamlInSteps(text));
  let config: unknown;
  let repeated: readonly string[];
  try {
    ({ value: config, duplicates: repeated } = await readConfigurationText(text, readYaml));
  } catch (error) {
    if (!(error instanceof ParseError)) throw error;
    throw badRequest(`error decoding YAML: error converting YAML to JSON: ${error.message}`);
  }
  if (config === null) return { config: {}, repeated };
  if (!isObject(config)) {
    throw badRequest(
      `error decoding YAML: error unmarshaling JSON: while decoding JSON: json: cannot unmarshal ${goKindOf(config)} into Go value of type map[string]interface {}`,
    );
  }
  return { config, repeated };
}

/**
 * Warns of repeated fields or refuses them. The real server does so only after everything else was
 * valid.
 *
 * @throws StatusError 400
 */
export function reportRepeated(repeated: readonly string[], write: WriteRequest): void {
  if (repeated.length > 0 && write.fieldValidation === "Strict") {
    throw badRequest(`error strict decoding YAML: error converting YAML to JSON: ${yamlErrors(repeated)}`);
  }
  if (write.fieldValidation === "Warn") for (const field of repeated) write.context.warn(field);
}

async function readConfigurationText(
  text: string,
  readYaml: () => Parsed | Promise<Parsed>,
): Promise<Parsed> {
  if (text.trim() === "") return { value: null, duplicates: [] };
  if (text.trimStart().startsWith("{")) {
    try {
      const parsed = await finish(parseJsonInSteps(text, { findDuplicates: true }));
      // The YAML reader reports repeated fields with line numbers, and reads numbers differently.
      if (parsed.duplicates.length === 0 && !parsed.numbers) return parsed;
    } catch (error) {
      // Flow style looks like JSON, and is not.
      if (!(error instanceof ParseError)) throw error;
    }
  }
  return await readYaml();
}

function uidGone(resource: Resource, name: string, uid: string): StatusError {
  return conflict(
    nameOf(resource),
    name,
    `uid mismatch: the provided object specified uid ${uid}, and no existing object was found`,
  );
}
