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
  yield* check(matcher, schema, path, true, false, rules, causes);
  return causes;
}

function* check(
  matcher: Matcher,
  schema: Schema,
  path: string,
  isRoot: boolean,
  insideMetadata: boolean,
  rules: DefaultRules,
  causes: Cause[],
): Steps<void> {
  const isResource = isRoot || schema["x-kubernetes-embedded-resource"] === true;
  const inside = isResource ? false : insideMetadata;
  if (schema.default !== undefined && schema.default !== null) {
    const at = childPath(path, "default");
    causes.push(...(yield* faultsOf(matcher, schema, schema.default, at, inside, rules)));
  }
  const items = subschema(schema, "items");
  if (items !== undefined) {
    yield* check(matcher, items, childPath(path, "items"), false, inside, rules, causes);
  }
  for (const [name, property] of declaredProperties(schema)) {
    const at = keyPath(childPath(path, "properties"), name);
    const isInside = inside || (isResource && RESOURCE_FIELDS.has(name));
    yield* check(matcher, property, at, false, isInside, rules, causes);
  }
}

function* faultsOf(
  matcher: Matcher,
  schema: Schema,
  value: Json,
  path: string,
  inMetadata: boolean,
  rules: DefaultRules,
): Steps<Cause[]> {
  const causes: Cause[] = [];
  if (inMetadata) {
    const name = path.match(/properties\[([^\]]+)\]\.default$/)?.[1] ?? "";
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
