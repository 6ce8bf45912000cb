import { clone, equal, type Json, type JsonObject } from "../json.ts";
import { invalidValue } from "../schema/causes.ts";
import { embeddedFaults } from "../schema/embedded.ts";
import { nodeOf } from "../schema/node.ts";
import { normaliseMetadata } from "../schema/object-meta.ts";
import { childPath, keyPath } from "../schema/paths.ts";
import { pruneDefault } from "../schema/prune.ts";
import type { Schema } from "../schema/schema.ts";
import { validateValue } from "../schema/validate.ts";
import type { Cause } from "../status.ts";
import { declaredProperties, subschema } from "./structural-rules.ts";

const RESOURCE_FIELDS = new Set(["metadata", "kind", "apiVersion"]);

/** Evaluates the rules of a node, and of what is below it, on its default. */
export type DefaultRules = (schema: Schema, value: Json, path: string) => Cause[];

/** Defaults that their own schema would refuse, or would prune. */
export function defaultFaults(schema: Schema, path: string, rules: DefaultRules): Cause[] {
  const causes: Cause[] = [];
  check(schema, path, true, false, rules, causes);
  return causes;
}

function check(
  schema: Schema,
  path: string,
  isRoot: boolean,
  insideMetadata: boolean,
  rules: DefaultRules,
  causes: Cause[],
): void {
  const isResource = isRoot || schema["x-kubernetes-embedded-resource"] === true;
  const inside = isResource ? false : insideMetadata;
  if (schema.default !== undefined && schema.default !== null) {
    causes.push(...faultsOf(schema, schema.default, childPath(path, "default"), inside, rules));
  }
  const items = subschema(schema, "items");
  if (items !== undefined) check(items, childPath(path, "items"), false, inside, rules, causes);
  for (const [name, property] of declaredProperties(schema)) {
    const at = keyPath(childPath(path, "properties"), name);
    check(property, at, false, inside || (isResource && RESOURCE_FIELDS.has(name)), rules, causes);
  }
}

function faultsOf(
  schema: Schema,
  value: Json,
  path: string,
  inMetadata: boolean,
  rules: DefaultRules,
): Cause[] {
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
  const invalid = validateValue(schema, value, undefined, path);
  if (invalid.length > 0) return [...causes, ...invalid];
  return [...causes, ...rules(schema, value, path)];
}
