import { append } from "../append.ts";
import type { Json, JsonObject } from "../json.ts";
import type { Matcher } from "../patterns/index.ts";
import { type Cause, timedOut } from "../status.ts";
import { invalidValue, required, tooMany } from "./causes.ts";
import { type Fault, faultOf, fieldOf, wrongType } from "./faults.ts";
import { formatCheck } from "./formats.ts";
import { type Correlated, correlatedField, correlatedItems, nodeOf, unchanged } from "./node.ts";
import { checkEnum, checkNumber, checkString, isWholeFloat } from "./scalars.ts";
import type { Schema } from "./schema.ts";

/**
 * Checks a value, appends what is wrong to `faults`, and returns how many checks were made and
 * passed: of the branches of an `anyOf` or `oneOf`, the one with the highest count is taken to be
 * what the author meant, and its faults are reported.
 *
 * `path` is written as messages show it, `before` is the value's past on an update.
 */
type Check = (
  value: Json,
  path: string,
  before: Correlated | undefined,
  faults: Fault[],
  matcher: Matcher,
) => number;

/**
 * Everything wrong with a value according to its schema, worded as the API server words it.
 *
 * @throws MatchPending
 */
export function validateValue(
  schema: Schema,
  value: Json,
  before: Correlated | undefined,
  base: string,
  matcher: Matcher,
): Cause[] {
  const faults: Fault[] = [];
  checkRatcheting(schema, value, "", before, faults, matcher);
  if (faults.length === 0) return [];
  const seen = new Set<string>();
  const causes: Cause[] = [];
  for (const fault of faults) {
    if (seen.has(fault.text)) continue;
    seen.add(fault.text);
    causes.push(fault.cause(base));
  }
  return causes;
}

/**
 * The real server compares each fault with all that it has found: 6,000 take it ten seconds, and
 * somewhat more than this the 34 seconds that a request may take.
 */
const MOST_FAULTS = 12_000;

/**
 * Faults that the object had before the update are ignored.
 *
 * @throws StatusError 504 if too much is wrong
 */
function checkRatcheting(
  schema: Schema,
  value: Json,
  path: string,
  before: Correlated | undefined,
  faults: Fault[],
  matcher: Matcher,
): number {
  if (faults.length > MOST_FAULTS) throw timedOut();
  const check = checkOf(schema);
  if (before === undefined) return check(value, path, undefined, faults, matcher);
  const found: Fault[] = [];
  const matches = check(value, path, before, found, matcher);
  if (found.length > 0 && !unchanged(value, before)) append(faults, found);
  return matches;
}

const checks = new WeakMap<Schema, Check>();

function checkOf(schema: Schema): Check {
  let check = checks.get(schema);
  if (check === undefined) {
    check = compileCheck(schema);
    checks.set(schema, check);
  }
  return check;
}

type Kind = "null" | "boolean" | "string" | "integer" | "number" | "array" | "object";

export function kindOf(value: Json): Kind {
  if (value === null) return "null";
  if (Array.isArray(value)) return "array";
  switch (typeof value) {
    case "boolean":
      return "boolean";
    case "string":
      return "string";
    case "bigint":
      return "integer";
    case "number":
      // Beyond what it holds exactly, a number is a float, whole or not.
      return Number.isSafeInteger(value) ? "integer" : "number";
    default:
      return "object";
  }
}

function compileCheck(schema: Schema): Check {
  const types: string[] =
    schema["x-kubernetes-int-or-string"] === true
      ? ["integer", "string"]
      : schema.type === undefined
        ? []
        : [schema.type];
  const format = schema.format === undefined ? undefined : formatCheck(schema.format);
  const formatName = format === undefined ? "" : (schema.format as string);
  const typed = types.length > 0 || formatName !== "";
  const nullable = schema.nullable === true;
  const composite = compileComposite(schema);
  const members = compileMembers(schema);
  const enumeration = schema.enum !== undefined && schema.enum.length > 0 ? schema.enum : undefined;

  return (value, path, before, faults, matcher) => {
    const kind = kindOf(value);
    if (kind === "null") {
      let matches = 1;
      if (types.length > 0 && !nullable) {
        faults.push(wrongType(path, types.join(","), "null"));
        matches = 0;
      }
      if (enumeration !== undefined) checkEnum(enumeration, value, path, faults);
      return matches;
    }
    // The counts mirror the real server's: one per check that applies, one more for those that
    // count themselves.
    let matches = 3;
    if (typed) {
      const wrong = typeFault(types, formatName, kind, path, value);
      if (wrong === undefined) matches += 2;
      else {
        matches += 1;
        faults.push(wrong);
      }
    }
    matches += 1 + composite(value, path, before, faults, matcher);
    if (kind === "string") {
      matches += 1;
      checkString(schema, value as string, path, faults, matcher);
      if (format !== undefined) {
        matches += 1;
        if (!format(value as string)) faults.push(wrongType(path, formatName, value as string));
      }
    } else if (kind === "integer" || kind === "number") {
      matches += 2;
      checkNumber(schema, value as number | bigint, kind, path, faults);
    } else if (kind === "array") {
      matches += 2 + members(value, path, before, faults, matcher);
    }
    if (enumeration !== undefined) checkEnum(enumeration, value, path, faults);
    if (kind === "object") matches += 1 + members(value, path, before, faults, matcher);
    return matches;
  };
}

/** The name messages give to a value's kind where a format was expected. */
const GO_FORMATS: { readonly [kind: string]: string } = { integer: "int64", number: "float64" };

function typeFault(
  types: readonly string[],
  format: string,
  kind: Kind,
  path: string,
  value: Json,
): Fault | undefined {
  const fits =
    types.includes(kind) ||
    (kind === "integer" && types.includes("number")) ||
    (kind === "number" && types.includes("integer") && isWholeFloat(value as number));
  if (format !== "") {
    if (kind !== "string" && kind !== "array") {
      if (!fits) return wrongType(path, format, GO_FORMATS[kind] ?? "");
    } else if (!types.includes("number") && !types.includes("integer")) {
      return undefined;
    }
  }
  return fits ? undefined : wrongType(path, types.join(","), kind);
}

/** Items of a list, fields of an object. */
function compileMembers(schema: Schema): Check {
  const node = nodeOf(schema);
  const items = schema.items;
  const names = Object.keys(schema.properties ?? {}).sort();
  const { additionalProperties } = schema;

  const checkList = (
    list: Json[],
    path: string,
    before: Correlated | undefined,
    faults: Fault[],
    matcher: Matcher,
  ): number => {
    let matches = 0;
    if (items !== undefined) {
      const pastOf = correlatedItems(before);
      for (const [index, item] of list.entries()) {
        matches += checkRatcheting(items, item, `${path}[${index}]`, pastOf(item), faults, matcher);
      }
    }
    const size = list.length;
    if (schema.minItems !== undefined && size < schema.minItems) {
      faults.push(faultOf(path, size, `${path} in body should have at least ${schema.minItems} items`));
    }
    const { maxItems } = schema;
    if (maxItems !== undefined && size > maxItems) {
      faults.push({
        text: `${path} in body should have at most ${maxItems} items`,
        cause: (base) => tooMany(fieldOf(base, path), size, maxItems),
      });
    }
    return matches;
  };

  const checkFields = (
    object: JsonObject,
    path: string,
    before: Correlated | undefined,
    faults: Fault[],
    matcher: Matcher,
  ): number => {
    const keys = Object.keys(object);
    const size = keys.length;
    if (schema.minProperties !== undefined && size < schema.minProperties) {
      faults.push(
        faultOf(path, size, `${path} in body should have at least ${schema.minProperties} properties`),
      );
    }
    const { maxProperties } = schema;
    if (maxProperties !== undefined && size > maxProperties) {
      faults.push({
        text: `${path} in body should have at most ${maxProperties} properties`,
        cause: (base) => tooMany(fieldOf(base, path), size, maxProperties),
      });
    }
    let matches = 0;
    if (additionalProperties !== undefined && additionalProperties !== true) {
      for (const key of keys) {
        if (node.properties.has(key)) continue;
        if (additionalProperties === false) {
          faults.push(faultOf(path, key, `${path}.${key} in body is a forbidden property`));
        } else {
          const past = correlatedField(before, object, key);
          const value = object[key] as Json;
          matches += checkRatcheting(additionalProperties, value, `${path}.${key}`, past, faults, matcher);
        }
      }
    }
    for (const name of names) {
      if (!Object.hasOwn(object, name)) continue;
      const isTypeMeta = path === "" && (name === "kind" || name === "apiVersion");
      const past = isTypeMeta ? undefined : correlatedField(before, object, name);
      const property = (schema.properties as { [name: string]: Schema })[name] as Schema;
      const at = path === "" ? name : `${path}.${name}`;
      matches += checkRatcheting(property, object[name] as Json, at, past, faults, matcher);
    }
    for (const name of schema.required ?? []) {
      if (Object.hasOwn(object, name)) continue;
      const at = `${path}.${name}`;
      faults.push({
        text: `${at} in body is required`,
        cause: (base) => required(fieldOf(base, at)),
      });
    }
    return matches;
  };

  return (value, path, before, faults, matcher) =>
    Array.isArray(value)
      ? checkList(value, path, before, faults, matcher)
      : checkFields(value as JsonObject, path, before, faults, matcher);
}

/** `anyOf`, `oneOf`, `allOf` and `not`, in the order in which the API server reports them. */
function compileComposite(schema: Schema): Check {
  const { anyOf = [], oneOf = [], allOf = [], not } = schema;
  if (anyOf.length === 0 && oneOf.length === 0 && allOf.length === 0 && not === undefined) return () => 1;

  return (value, path, before, faults, matcher) => {
    let matches = 1;
    const attempt = (branch: Schema): Attempt => {
      const found: Fault[] = [];
      return { matches: checkOf(branch)(value, path, before, found, matcher), faults: found };
    };
    if (anyOf.length > 0) {
      const attempts: Attempt[] = [];
      let taken: Attempt | undefined;
      for (const branch of anyOf) {
        const result = attempt(branch);
        attempts.push(result);
        if (result.faults.length === 0) {
          taken = result;
          break;
        }
      }
      if (taken === undefined) {
        faults.push(compositeFault(`"${path}" must validate at least one schema (anyOf)`));
        taken = best(attempts);
      }
      append(faults, taken.faults);
      matches += taken.matches;
    }
    if (oneOf.length > 0) {
      const attempts = oneOf.map(attempt);
      const valid = attempts.filter((result) => result.faults.length === 0);
      if (valid.length === 1) {
        matches += (valid[0] as Attempt).matches;
      } else {
        const found = valid.length === 0 ? "Found none valid" : `Found ${valid.length} valid alternatives`;
        faults.push(compositeFault(`"${path}" must validate one and only one schema (oneOf). ${found}`));
        if (valid.length === 0) {
          const closest = best(attempts);
          append(faults, closest.faults);
          matches += closest.matches;
        }
      }
    }
    if (allOf.length > 0) {
      const attempts = allOf.map(attempt);
      for (const result of attempts) {
        append(faults, result.faults);
        matches += result.matches;
      }
      const failed = attempts.filter((result) => result.faults.length > 0).length;
      if (failed > 0) {
        const none = failed === attempts.length ? ". None validated" : "";
        faults.push(compositeFault(`"${path}" must validate all the schemas (allOf)${none}`));
      }
    }
    if (not !== undefined && attempt(not).faults.length === 0) {
      faults.push(compositeFault(`"${path}" must not validate the schema (not)`));
    }
    return matches;
  };
}

interface Attempt {
  readonly matches: number;
  readonly faults: readonly Fault[];
}

/** The branch that came closest; the first of equals. */
function best(attempts: readonly Attempt[]): Attempt {
  return attempts.reduce((closest, next) => (next.matches > closest.matches ? next : closest));
}

function compositeFault(text: string): Fault {
  return { text, cause: (base) => invalidValue(base, "", text) };
}
