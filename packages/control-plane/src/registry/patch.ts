import { apiVersionOf } from "@windlass/kinds";
import { clone, isLarge, isObject, type Json, type JsonObject, stringify, textOf } from "../json.ts";
import { builtinSchema, type GroupVersionKind, typeNameOf } from "../kinds/index.ts";
import { applyJsonPatch, applyMergePatch, applyStrategicMergePatch, goText } from "../merge/index.ts";
import type { Schema } from "../schema/schema.ts";
import { type DecodeFault, invalid, UndecodableError } from "../status.ts";
import { finish, nextTurn } from "../steps.ts";
import { type Apply, applyConfiguration } from "./apply.ts";
import { accept, checkNamed, checkSameKind, notRegistered, type Reader, type Write } from "./decode.ts";
import type { Target } from "./identity.ts";
import type { Registry, WriteOutcome } from "./registry.ts";

/** A patch that changes what is stored, whatever its author has sent before. */
export type Change =
  | { readonly type: "json"; readonly operations: readonly Json[] }
  | { readonly type: "merge" | "strategic"; readonly change: JsonObject };

/** A patch as a request brings it. */
export type Patch = Change | Apply;

/**
 * Patches an object: finds it, applies the patch, and stores the result as any other update, again
 * if another write came between.
 *
 * @throws StatusError 400, 404, 409, 422 and whatever admission says
 */
export async function patchObject(
  registry: Registry,
  target: Target,
  write: Write,
  patch: Patch,
): Promise<WriteOutcome> {
  if (patch.type === "apply") return await applyConfiguration(registry, target, write, patch);
  const { resource, name } = target;
  const object = await registry.update(
    target,
    write.context,
    async (live) =>
      decodePatched(resource, patch, await changed(live, patch, () => resource.schema()), name, write),
    { kind: "PatchOptions" },
  );
  return { object, created: false };
}

/** The live object with a patch applied, which may no longer be an object of its kind. */
export function changed(live: JsonObject, patch: Change, schema: () => Schema): Json | Promise<Json> {
  switch (patch.type) {
    case "json":
      return finish(applyJsonPatch(live, patch.operations));
    case "merge":
      return applyMergePatch(live, patch.change);
    case "strategic":
      return finish(applyStrategicMergePatch(live, patch.change, schema(), typeNameOf));
  }
}

/**
 * Decodes the patched object into its stored shape.
 *
 * @throws StatusError 422 if the patch made it something that cannot be decoded
 */
export async function decodePatched(
  resource: Reader,
  patch: Change,
  patched: unknown,
  name: string,
  write: Write,
): Promise<JsonObject> {
  const refuse = (fault: DecodeFault) => {
    // Strategic patches are merged as maps: the converter from maps to objects reports the fault,
    // and quotes the patch.
    const isStrategic = patch.type === "strategic";
    const shown = isStrategic ? goText(patch.change) : stringify(patched as Json);
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
    if (isOther && patch.type !== "strategic")
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
