import { apiVersionOf, groupOf } from "@windlass/kinds";
import { clone, isObject, type Json, type JsonObject, textOf } from "../json.ts";
import { goTypeOfKind } from "@windlass/kinds/go-types";
import { builtinSchema, type GroupVersionKind, type KindInfo, normalize } from "../kinds/index.ts";
import { checkName, checkVersion, otherIdentity, type Target } from "../registry/identity.ts";
import type { RequestContext } from "../registry/registry.ts";
import type { Resource } from "../registry/resource.ts";
import { MAX_STRICT_ERRORS, outOfRange } from "../schema/parse-json.ts";
import { findUnknownFields } from "../schema/structural.ts";
import { badRequest, type Cause, cannotBeHandled, invalid, unrecognized } from "../status.ts";
import { finish, nextTurn } from "../steps.ts";
import { storageKey } from "../storage/store.ts";
import { type DecodedBody, decodeBody, textOfBytes } from "./body.ts";
import type { Representation } from "./negotiate.ts";
import { present, type ReadDependencies } from "./read.ts";
import type { ApiRequest, ApiResponse } from "./request.ts";

/** A write as the query and headers describe it. */
export interface WriteRequest {
  readonly request: ApiRequest;
  readonly query: URLSearchParams;
  readonly as: Representation;
  readonly context: RequestContext;
  readonly fieldValidation: "Ignore" | "Warn" | "Strict";
  /** Checks the permission to create, for updates that may create. @throws StatusError 403 */
  readonly checkMayCreate?: () => void;
}

type OptionsKind = "CreateOptions" | "UpdateOptions" | "PatchOptions" | "DeleteOptions";

/** The options common to creates, updates and patches. @throws StatusError 422 */
export function parseWriteOptions(
  query: URLSearchParams,
  kind: OptionsKind,
): { dryRun: boolean; fieldValidation: "Ignore" | "Warn" | "Strict" } {
  // A DELETE has options of its own, and reads them itself.
  if (kind === "DeleteOptions") return { dryRun: false, fieldValidation: "Warn" };
  const dryRun = query.getAll("dryRun");
  const validation = query.get("fieldValidation") || "Warn";
  const causes = [...managerFaults(query.get("fieldManager") ?? ""), ...dryRunFaults(dryRun)];
  if (validation !== "Ignore" && validation !== "Warn" && validation !== "Strict") {
    causes.push({
      reason: "FieldValueNotSupported",
      message: `Unsupported value: ${JSON.stringify(validation)}: supported values: "", "Ignore", "Strict", "Warn"`,
      field: "fieldValidation",
    });
  }
  if (causes.length > 0) throw invalid({ group: "meta.k8s.io", kind }, "", causes);
  return { dryRun: dryRun.length > 0, fieldValidation: validation as "Ignore" | "Warn" | "Strict" };
}

/** A dry run is of all stages or none. */
export function dryRunFaults(given: readonly Json[]): Cause[] {
  if (given.every((value) => value === "All")) return [];
  const message = `Unsupported value: ${JSON.stringify(given)}: supported values: "All"`;
  return [{ reason: "FieldValueNotSupported", message, field: "dryRun" }];
}

function managerFaults(manager: string): Cause[] {
  const field = "fieldManager";
  if (Buffer.byteLength(manager) > 128) {
    return [{ reason: "FieldValueTooLong", message: "Too long: may not be more than 128 bytes", field }];
  }
  const faults: Cause[] = [];
  let position = 0;
  for (const character of manager) {
    if (!isPrintable(character)) {
      const code = (character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0");
      const why = `invalid character U+${code} (at position ${position})`;
      faults.push({
        reason: "FieldValueInvalid",
        message: `Invalid value: ${JSON.stringify(manager)}: ${why}`,
        field,
      });
    }
    position += Buffer.byteLength(character);
  }
  return faults;
}

function isPrintable(character: string): boolean {
  return /^[\p{L}\p{M}\p{N}\p{P}\p{S} ]$/u.test(character);
}

/** The default field manager: the program's name, from its User-Agent. */
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
  const object = await readObject(resource, write);
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
  const object = await readObject(resource, write);
  checkNamed(object, target.name);
  const exists = registry.store.get(resource.bucket, storageKey(target.namespace, target.name)) !== undefined;
  if (!exists && resource.strategy.createOnUpdate) {
    const metadata = object.metadata as JsonObject;
    checkName(metadata, target.name);
    if (metadata.uid) throw otherIdentity(target, textOf(metadata.uid), "", write.context);
    const version = textOf(metadata.resourceVersion);
    checkVersion(version);
    delete metadata.resourceVersion;
    write.checkMayCreate?.();
    const { subresource } = target;
    const created = await registry.create(resource, target.namespace, object, write.context, {
      subresource,
      through: "update",
    });
    // A dry run is not stored and gets no version: it keeps the one it was sent with.
    if (write.context.dryRun && version !== "") (created.metadata as JsonObject).resourceVersion = version;
    return present(deps, resource, created, write.as, write.query, 201);
  }
  const updated = await registry.update(target, write.context, () => clone(object), {
    kind: "UpdateOptions",
  });
  return present(deps, resource, updated, write.as, write.query);
}

/**
 * Every write but a create must name its object. The registry checks the name.
 *
 * @throws StatusError 400
 */
export function checkNamed(object: JsonObject, name: string): void {
  if (isObject(object.metadata) && object.metadata.name) return;
  throw badRequest(`the name of the object (${name} based on URL) was undeterminable: name must be provided`);
}

/** What is needed to decode objects of a kind, stored or not. */
export interface Reader {
  readonly info: GroupVersionKind & Pick<KindInfo, "origin">;
  readonly decode: Resource["decode"];
  readonly decodeInSteps?: Resource["decodeInSteps"];
}

/** Decodes a built-in kind that is not stored, such as a Scale. */
export function builtinReader(kind: GroupVersionKind): Reader {
  return {
    info: { ...kind, origin: "builtin" },
    decode: (input, numbers) => ({
      object: normalize(kind, input, "decoded", numbers),
      get unknown() {
        return findUnknownFields(builtinSchema(kind.group, kind.version, kind.kind), input);
      },
    }),
  };
}

/**
 * The body of a create or update, checked against the URL's kind, in the shape it will be stored.
 */
export async function readObject(resource: Reader, write: WriteRequest): Promise<JsonObject> {
  const body = await decodeBody(write.request, resource.info, write.fieldValidation !== "Ignore");
  checkKind(resource, body.object, write);
  const checked = body.format === "protobuf" ? ({ ...write, fieldValidation: "Ignore" } as const) : write;
  return await accept(resource, body.object, checked, body);
}

/** Go's message for an unknown kind. */
export function notRegistered(kind: string, apiVersion: string): string {
  return `no kind ${JSON.stringify(kind)} is registered for version ${JSON.stringify(apiVersion)} in scheme "pkg/runtime/scheme.go:111"`;
}

/**
 * Checks `apiVersion` and `kind`, and fills them in where they may be left out.
 *
 * @throws StatusError 400
 */
function checkKind(resource: Reader, object: JsonObject, write: WriteRequest): void {
  const { group, kind } = resource.info;
  const expected = apiVersionOf(resource.info);
  if (resource.info.origin === "custom") {
    checkCustomKind(kind, expected, object, write);
    return;
  }
  const apiVersion = textOf(object.apiVersion) || expected;
  const given = textOf(object.kind) || kind;
  object.apiVersion = apiVersion;
  object.kind = given;
  if (apiVersion.split("/").length > 2) {
    throw unrecognized(kind, `unexpected GroupVersion string: ${apiVersion}`, startOf(bodyText(write)));
  }
  if (apiVersion === expected && given === kind) return;
  const givenGroup = groupOf(apiVersion);
  const givenVersion = apiVersion.slice(apiVersion.indexOf("/") + 1);
  const why = goTypeOfKind(givenGroup, givenVersion, given)
    ? `converting (${givenVersion}.${given}) to (${group === "" ? "core" : group.split(".")[0]}.${kind}): unknown conversion`
    : notRegistered(given, apiVersion);
  throw cannotBeHandled({ kind: given, version: givenVersion }, { message: why }, kind);
}

function bodyText({ request }: WriteRequest): string {
  return textOfBytes(request.body ?? new Uint8Array());
}

/** The start of a body, as messages quote it. */
function startOf(text: string): string {
  return text.length > 30 ? `${text.slice(0, 30)} ...` : text;
}

function checkCustomKind(kind: string, expected: string, object: JsonObject, write: WriteRequest): void {
  if (!object.kind) {
    const text = bodyText(write);
    throw unrecognized(kind, `Object 'Kind' is missing in '${text}'`, startOf(text));
  }
  if (object.apiVersion !== expected) {
    throw badRequest(
      `the API version in the data (${textOf(object.apiVersion)}) does not match the expected API version (${expected})`,
    );
  }
  const name = isObject(object.metadata) ? textOf(object.metadata.name) : "";
  checkSameKind(object, expected, kind, name);
}

/** A custom object of another kind is invalid as that kind. @throws StatusError 422 */
export function checkSameKind(object: JsonObject, apiVersion: string, kind: string, name: string): void {
  const given = textOf(object.apiVersion);
  const group = given.includes("/") ? (given.split("/")[0] ?? "") : "";
  const fault = (field: string, value: string, wanted: string) =>
    invalid({ group, kind: textOf(object.kind) }, name, [
      {
        reason: "FieldValueInvalid",
        message: `Invalid value: ${JSON.stringify(value)}: must be ${wanted}`,
        field,
      },
    ]);
  if (object.kind !== kind) throw fault("kind", textOf(object.kind), kind);
  if (given !== apiVersion) throw fault("apiVersion", given, apiVersion);
}

/** How an object was sent. One that a patch produced was not sent at all. */
type Sent = Pick<DecodedBody, "duplicates" | "format" | "numbers" | "isLong">;

const notSent: Sent = { duplicates: [], format: "json" };

/**
 * Decodes an object into its stored shape. Fields that are unknown or repeated are a warning or an
 * error, as the request asks for.
 *
 * @throws StatusError 400
 */
export async function accept(
  resource: Reader,
  input: JsonObject,
  write: WriteRequest,
  { duplicates, format, numbers, isLong = false }: Sent = notSent,
): Promise<JsonObject> {
  // Built-in kinds report it with the field's type.
  if (resource.info.origin === "custom" && numbers?.outOfRange !== undefined) {
    throw cannotBeHandled(resource.info, { message: outOfRange(numbers.outOfRange) });
  }
  const decoded =
    isLong && resource.decodeInSteps
      ? await finish(resource.decodeInSteps(input, numbers))
      : resource.decode(input, numbers);
  if (isLong) await nextTurn();
  if (write.fieldValidation !== "Ignore") {
    const unknown = unknownFields(decoded.unknown);
    if (isLong) await nextTurn();
    // YAML is read whole before its fields are checked, JSON together with them.
    const isRepeatedYaml = format === "yaml" && duplicates.length > 0;
    const faults = isRepeatedYaml ? [...duplicates, ...unknown] : [...unknown, ...duplicates];
    // What a custom resource does not know is found by its schema, and not by the decoder.
    const isDecoders = resource.info.origin === "builtin" && !isRepeatedYaml;
    const shown = isDecoders ? faults.slice(0, MAX_STRICT_ERRORS) : faults;
    if (write.fieldValidation === "Warn") for (const fault of shown) write.context.warn(fault);
    if (write.fieldValidation === "Strict" && shown.length > 0) {
      const sentences = isRepeatedYaml ? [yamlErrors(duplicates), ...unknown] : shown;
      throw cannotBeHandled(resource.info, { message: `strict decoding error: ${sentences.join(", ")}` });
    }
  }
  return decoded.object;
}

function unknownFields(paths: readonly string[]): string[] {
  return paths.map((path) => `unknown field ${JSON.stringify(path)}`);
}

/** How a YAML reader reports all repeated keys at once. */
export function yamlErrors(faults: readonly string[]): string {
  return ["yaml: unmarshal errors:", ...faults].join("\n  ");
}
