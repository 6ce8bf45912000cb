import { isObject, type JsonObject, textOf } from "../json.ts";
import type { GroupVersionKind, KindInfo } from "../kinds/index.ts";
import { MAX_STRICT_ERRORS, type NumberSources, outOfRange } from "../schema/parse-json.ts";
import { badRequest, cannotBeHandled, invalid } from "../status.ts";
import { finish, nextTurn } from "../steps.ts";
import type { RequestContext } from "./registry.ts";
import type { Resource } from "./resource.ts";

/** A write: who makes it, and what it asks of the fields of its object. */
export interface Write {
  readonly context: RequestContext;
  readonly fieldValidation: "Ignore" | "Warn" | "Strict";
  /** Checks the permission to create, for updates that may create. @throws StatusError 403 */
  readonly checkMayCreate?: () => void;
}

/** What is needed to decode objects of a kind, stored or not. */
export interface Reader {
  readonly info: GroupVersionKind & Pick<KindInfo, "origin">;
  readonly decode: Resource["decode"];
  readonly decodeInSteps?: Resource["decodeInSteps"];
}

/** How an object was sent. One that a patch produced was not sent at all. */
export interface Sent {
  /**
   * What the reader of the format says of each key that appears more than once, for field
   * validation.
   */
  readonly duplicates: readonly string[];
  /** How numbers were written, where the text says more than the value. */
  readonly numbers?: NumberSources | undefined;
  /** Protobuf has no fields but those of its type. */
  readonly format: "json" | "yaml" | "protobuf";
  /** Whether the event loop gets a turn between two passes over it. */
  readonly isLong?: boolean;
}

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
  write: Write,
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

/**
 * Every write but a create must name its object. The registry checks the name.
 *
 * @throws StatusError 400
 */
export function checkNamed(object: JsonObject, name: string): void {
  if (isObject(object.metadata) && object.metadata.name) return;
  throw badRequest(`the name of the object (${name} based on URL) was undeterminable: name must be provided`);
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

/** Go's message for an unknown kind. */
export function notRegistered(kind: string, apiVersion: string): string {
  return `no kind ${JSON.stringify(kind)} is registered for version ${JSON.stringify(apiVersion)} in scheme "pkg/runtime/scheme.go:111"`;
}
