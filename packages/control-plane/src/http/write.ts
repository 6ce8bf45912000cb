import { apiVersionOf, groupOf } from "@windlass/kinds";
import { goTypeOfKind } from "@windlass/kinds/go-types";
import { clone, isObject, type Json, type JsonObject, textOf } from "../json.ts";
import { metadataOf } from "../json-fields.ts";
import { builtinSchema, type GroupVersionKind, normalize } from "../kinds/index.ts";
import {
  accept,
  checkNamed,
  checkSameKind,
  notRegistered,
  type Reader,
  type Write,
} from "../registry/decode.ts";
import { checkName, checkVersion, otherIdentity, type Target } from "../registry/identity.ts";
import type { Resource } from "../registry/resource.ts";
import { findUnknownFields } from "../schema/structural.ts";
import { badRequest, type Cause, cannotBeHandled, invalid, unrecognized } from "../status.ts";
import { storageKey } from "../storage/store.ts";
import { decodeBody, textOfBytes } from "./body.ts";
import type { Representation } from "./negotiate.ts";
import { present, type ReadDependencies } from "./read.ts";
import type { ApiRequest, ApiResponse } from "./request.ts";

/** A write as the query and headers describe it. */
export interface WriteRequest extends Write {
  readonly request: ApiRequest;
  readonly query: URLSearchParams;
  readonly as: Representation;
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
    const metadata = metadataOf(object);
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
    if (write.context.dryRun && version !== "") metadataOf(created).resourceVersion = version;
    return present(deps, resource, created, write.as, write.query, 201);
  }
  const updated = await registry.update(target, write.context, () => clone(object), {
    kind: "UpdateOptions",
  });
  return present(deps, resource, updated, write.as, write.query);
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
