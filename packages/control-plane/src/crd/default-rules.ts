import { append } from "../append.ts";
import { clone, equal, type Json, type JsonObject } from "../json.ts";
import type { Matcher } from "../patterns/index.ts";
import { invalidValue } from "../schema/causes.ts";
import { embeddedFaults } from "../schema/embedded.ts";
import { nodeOf } from "../schema/node.ts";
import { normaliseMetadata } from "../schema/object-meta.ts";
import { childPath, keyPath } from "../schema/paths.ts";
import { pruneDefault } from "../schema/prune.ts";
import type { Schema } from "../schema/schema.ts";
import { validateValue } from "../schema/validate.ts";
import type { Cause } from "../status.ts";
import type { Steps } from "../steps.ts";
import { declaredProperties, subschema } from "./structural-rules.ts";

const RESOURCE_FIELDS = new Set(["metadata", "kind", "apiVersion"]);

/** Evaluates the rules of a node, and of what is below it, on its default. */
export type DefaultRules = (matcher: Matcher, schema: Schema, value: Json, path: string) => Steps<Cause[]>;

/** Defaults that their own schema would refuse, or would prune. */
export function* defaultFaults(
  matcher: Matcher,
  schema: Schema,
  path: string,
  rules: DefaultRules,
): Steps<Cause[]> {
  const causes: Cause[] = [];
  yield* check(matcher, { schema, path, name: "" }, true, false, rules, causes);
  return causes;
}

/**
 * A schema, where it stands in the definition, and the name of the field it describes: empty for
 * the items of a list.
 */
interface FieldLocation {
  readonly schema: Schema;
  readonly path: string;
  readonly name: string;
}

function* check(
  matcher: Matcher,
  { schema, path, name }: FieldLocation,
  isRoot: boolean,
  insideMetadata: boolean,
  rules: DefaultRules,
  causes: Cause[],
): Steps<void> {
  const isResource = isRoot || schema["x-kubernetes-embedded-resource"] === true;
  const inside = isResource ? false : insideMetadata;
  if (schema.default !== undefined && schema.default !== null) {
    const place = { schema, path: childPath(path, "default"), name };
    append(causes, yield* faultsOf(matcher, place, schema.default, inside, rules));
  }
  const items = subschema(schema, "items");
  if (items !== undefined) {
    const place = { schema: items, path: childPath(path, "items"), name: "" };
    yield* check(matcher, place, false, inside, rules, causes);
  }
  for (const [property, below] of declaredProperties(schema)) {
    const place = { schema: below, path: keyPath(childPath(path, "properties"), property), name: property };
    const isInside = inside || (isResource && RESOURCE_FIELDS.has(property));
    yield* check(matcher, place, false, isInside, rules, causes);
  }
}

function* faultsOf(
  matcher: Matcher,
  { schema, path, name }: FieldLocation,
  value: Json,
  inMetadata: boolean,
  rules: DefaultRules,
): Steps<Cause[]> {
  const causes: Cause[] = [];
  if (inMetadata) {
    const metadata: JsonObject = { [name]: clone(value) };
    const { fault } = normaliseMetadata(metadata, "metadata");
    if (fault !== undefined) {
      return [invalidValue(path, value, `must result in valid metadata: ${fault.message}`)];
    }
  } else {
    const pruned = clone(value);
    pruneDefault(pruned, nodeOf(schema));
    if (!equal(pruned, value)) causes.push(invalidValue(path, value, "must not have unknown fields"));
    const embedded = embeddedFaults(value, schema, path);
    if (embedded.length > 0) return [...causes, ...embedded];
  }
  const invalid = yield* matcher.attempt(() => validateValue(schema, value, undefined, path, matcher));
  if (invalid.length > 0) return [...causes, ...invalid];
  return [...causes, ...(yield* rules(matcher, schema, value, path))];
}
