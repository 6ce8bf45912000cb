import { append } from "../append.ts";
import type { Json, JsonObject } from "../json.ts";
import { isObject } from "../json.ts";
import { field } from "../json-fields.ts";
import type { Matcher } from "../patterns/index.ts";
import { type Cause, cannotBeHandled, type StatusError } from "../status.ts";
import { finishNow, type Steps, turnIf } from "../steps.ts";
import { applySchemaDefaults } from "./defaults.ts";
import { embeddedFaults, normaliseEmbedded } from "./embedded.ts";
import { duplicateItems } from "./list-types.ts";
import { correlatedField, nodeOf } from "./node.ts";
import { normaliseMetadata } from "./object-meta.ts";
import { pruneNulls, pruneUnknown } from "./prune.ts";
import type { Schema } from "./schema.ts";
import { validateValue } from "./validate.ts";

/** The schema of a whole resource, made ready for use. */
export interface StructuralSchema {
  readonly schema: Schema;

  /**
   * Drops what the schema does not declare, and nulls it does not allow; apiVersion, kind and
   * metadata stay at the root and in embedded resources. Changes the object, and returns the paths
   * dropped in the order and notation of the real server's warnings: `metadata.x`,
   * `spec.list[0].y`.
   *
   * @throws StatusError 400 when metadata, of the object or of an embedded resource, has a field of
   *   the wrong type.
   */
  prune(object: JsonObject, options?: PruneOptions): string[];

  /** As `prune`, with turns of the event loop in between: for large objects. */
  pruneInSteps(object: JsonObject, options?: PruneOptions): Steps<string[]>;

  /** Fills in defaults, also for nulls that are not allowed. Changes the object. Prune first. */
  applyDefaults(object: JsonObject): void;

  /**
   * What is wrong with the object. With `old`, values that are wrong but did not change are let
   * pass, and so are duplicates if there were some before. Does not run CEL rules.
   *
   * @throws MatchPending
   */
  validate(matcher: Matcher, object: JsonObject, old?: JsonObject): Cause[];

  /** As `validate`, for a write to the status subresource: only `status` is checked. */
  validateStatus(matcher: Matcher, object: JsonObject, old: JsonObject): Cause[];
}

export interface PruneOptions {
  /** Whether nulls that the schema does not allow are dropped too. @default "dropped" */
  readonly nulls?: "dropped" | "kept";
}

const compiled = new WeakMap<Schema, StructuralSchema>();

/**
 * Prepares a schema for use. Cheap: parts are compiled when data first reaches them. The schema
 * must not change after.
 */
export function compile(schema: Schema): StructuralSchema {
  let structural = compiled.get(schema);
  if (structural === undefined) {
    structural = new Compiled(schema);
    compiled.set(schema, structural);
  }
  return structural;
}

class Compiled implements StructuralSchema {
  readonly schema: Schema;

  constructor(schema: Schema) {
    this.schema = schema;
  }

  prune(object: JsonObject, options: PruneOptions = {}): string[] {
    return finishNow(this.pruning(object, options, false));
  }

  pruneInSteps(object: JsonObject, options: PruneOptions = {}): Steps<string[]> {
    return this.pruning(object, options, true);
  }

  private *pruning(
    object: JsonObject,
    { nulls = "dropped" }: PruneOptions,
    isSlow: boolean,
  ): Steps<string[]> {
    const dropped: string[] = [];
    const metadata = field(object, "metadata");
    if (metadata !== undefined) {
      const findings = normaliseMetadata(metadata, "metadata");
      if (findings.fault !== undefined) throw undecodable(object, findings.fault.message);
      append(dropped, findings.unknown);
    }
    yield* turnIf(isSlow);
    const root = nodeOf(this.schema);
    // One by one: of a large object there may be more than a call takes arguments.
    for (const path of pruneUnknown(object, root)) dropped.push(path);
    yield* turnIf(isSlow);
    if (nulls === "dropped") pruneNulls(object, root);
    yield* turnIf(isSlow);
    const embedded = normaliseEmbedded(object, this.schema);
    if (embedded.fault !== undefined) throw undecodable(object, embedded.fault);
    for (const path of embedded.unknown) dropped.push(path);
    return dropped;
  }

  applyDefaults(object: JsonObject): void {
    applySchemaDefaults(object, this.schema);
  }

  validate(matcher: Matcher, object: JsonObject, old?: JsonObject): Cause[] {
    const before = old === undefined ? undefined : { old, node: nodeOf(this.schema) };
    return [
      ...validateValue(this.schema, object, before, "", matcher),
      ...embeddedFaults(object, this.schema),
      ...this.duplicates(object, old),
    ];
  }

  validateStatus(matcher: Matcher, object: JsonObject, old: JsonObject): Cause[] {
    const causes: Cause[] = [];
    const status = field(object, "status");
    const schema = this.schema.properties?.status;
    if (status !== undefined && schema !== undefined) {
      const before = correlatedField({ old, node: nodeOf(this.schema) }, object, "status");
      append(causes, validateValue(schema, status, before, "status", matcher));
    }
    append(causes, this.duplicates(object, old));
    return causes;
  }

  private duplicates(object: JsonObject, old: JsonObject | undefined): Cause[] {
    const causes = duplicateItems(object, this.schema);
    if (causes.length === 0 || old === undefined) return causes;
    return duplicateItems(old, this.schema).length > 0 ? [] : causes;
  }
}

/** The refusal of an object that is not even of the kind it says it is. */
function undecodable(object: JsonObject, why: string): StatusError {
  const kind = typeof object.kind === "string" ? object.kind : "";
  const version = typeof object.apiVersion === "string" ? object.apiVersion.replace(/^.*\//, "") : "";
  return cannotBeHandled({ kind, version }, { message: why });
}

/**
 * The paths of fields a built-in kind's schema does not declare, in the order of the document. An
 * object node that declares neither fields nor values is free-form. Values of the wrong type are
 * not this function's to report.
 */
export function findUnknownFields(schema: Schema, object: JsonObject): string[] {
  const unknown: string[] = [];
  findIn(object, schema, "", unknown);
  return unknown;
}

/**
 * Whether nothing below a value of this schema is declared: a map of such has no unknown fields.
 */
function isScalar({ properties, additionalProperties, items }: Schema): boolean {
  return properties === undefined && additionalProperties === undefined && items === undefined;
}

function findIn(value: Json, schema: Schema, path: string, unknown: string[]): void {
  if (schema["x-kubernetes-preserve-unknown-fields"] === true) return;
  if (Array.isArray(value)) {
    if (schema.items === undefined) return;
    for (const [index, item] of value.entries()) findIn(item, schema.items, `${path}[${index}]`, unknown);
    return;
  }
  if (!isObject(value)) return;
  const { properties, additionalProperties } = schema;
  if (
    properties === undefined &&
    (typeof additionalProperties !== "object" || isScalar(additionalProperties))
  )
    return;
  for (const name of Object.keys(value)) {
    const at = path === "" ? name : `${path}.${name}`;
    const child =
      properties !== undefined && Object.hasOwn(properties, name)
        ? properties[name]
        : typeof additionalProperties === "object"
          ? additionalProperties
          : undefined;
    if (child !== undefined) findIn(value[name] as Json, child, at, unknown);
    else if (additionalProperties !== true) unknown.push(at);
  }
}
