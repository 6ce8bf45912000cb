import {
  boolYaml11Tag,
  CORE_SCHEMA,
  DUMP_SCHEMA,
  defineScalarTag,
  dump,
  load,
  mergeTag,
  NOT_RESOLVED,
  YAMLException,
} from "js-yaml";
import { exactNumber, type Json, type JsonObject } from "../json.ts";
import { MAX_DEPTH, type Parsed, ParseError } from "./parse-json.ts";
import { setField } from "./paths.ts";
import { repeatedKeys } from "./repeated-keys.ts";

/**
 * Integers as Go reads them in YAML: of 64 bits, exactly, with `_` anywhere, and octal with a zero
 * before.
 */
const goIntegerTag = defineScalarTag("tag:yaml.org,2002:int", {
  implicit: true,
  implicitFirstChars: "-+0123456789".split(""),
  resolve: (source) => {
    const plain = source.replaceAll("_", "");
    const [, sign, binary, octal, hexadecimal, decimal] =
      /^([-+]?)(?:0b([01]+)|0o?([0-7]+)|0x([\da-f]+)|(0|[1-9]\d*))$/i.exec(plain) ?? [];
    const digits = binary ?? octal ?? hexadecimal ?? decimal;
    if (digits === undefined) return NOT_RESOLVED;
    const prefix = binary ? "0b" : octal ? "0o" : hexadecimal ? "0x" : "";
    const value = BigInt(`${prefix}${digits}`) * (sign === "-" ? -1n : 1n);
    // Beyond, it is a float.
    return BigInt.asIntN(64, value) === value || BigInt.asUintN(64, value) === value ? value : NOT_RESOLVED;
  },
  identify: (value) =>
    typeof value === "bigint" || (Number.isInteger(value) && /^-?\d+$/.test(String(value))),
  represent: (value) => String(value),
});

/**
 * The API server's YAML: 1.2 but for integers, `yes`, `no`, `on`, `off` and merge keys, which are
 * as in 1.1.
 */
const SCHEMA = CORE_SCHEMA.withTags(goIntegerTag, boolYaml11Tag, mergeTag);
const WRITTEN = DUMP_SCHEMA.withTags(goIntegerTag);

/** Writes YAML, as the API server answers with. */
export function yamlText(value: Json): string {
  return dump(value, { schema: WRITTEN, sortKeys: true, noRefs: true });
}

/** More values than this cannot have been written by hand: they come from aliases of aliases. */
const MAX_VALUES = 1_000_000;

/**
 * Reads one YAML document. Aliases become copies, so the result is a tree like any parsed JSON.
 *
 * @throws ParseError
 */
export function parseYaml(text: string): Parsed {
  let duplicates: string[] = [];
  let loaded: unknown;
  try {
    loaded = load(text, { schema: SCHEMA, maxDepth: MAX_DEPTH });
  } catch (error) {
    if (!(error instanceof YAMLException)) throw error;
    if (error.reason !== "duplicated mapping key") throw new ParseError(`yaml: ${describe(error)}`);
    duplicates = repeatedKeys(text);
    loaded = reload(text);
  }
  return { value: new Copier().copy(loaded, 0), duplicates };
}

function reload(text: string): unknown {
  try {
    return load(text, { schema: SCHEMA, json: true, maxDepth: MAX_DEPTH });
  } catch (error) {
    if (!(error instanceof YAMLException)) throw error;
    throw new ParseError(`yaml: ${describe(error)}`);
  }
}

function describe(error: YAMLException): string {
  return error.mark === undefined ? error.reason : `line ${error.mark.line + 1}: ${error.reason}`;
}

class Copier {
  private values = 0;

  copy(value: unknown, depth: number): Json {
    if (++this.values > MAX_VALUES) throw new ParseError("yaml: document contains excessive aliasing");
    if (depth > MAX_DEPTH) throw new ParseError("exceeded max depth");
    if (value === null || value === undefined) return null;
    switch (typeof value) {
      case "string":
      case "boolean":
        return value;
      case "number":
        // It is written as JSON and read again: a float that is whole is an integer then.
        if (Number.isFinite(value)) return exactNumber(String(value));
        throw new ParseError(
          `json: unsupported value: ${Number.isNaN(value) ? "NaN" : value > 0 ? "+Inf" : "-Inf"}`,
        );
      case "bigint":
        return exactNumber(String(value));
      case "object":
        return Array.isArray(value)
          ? value.map((item) => this.copy(item, depth + 1))
          : this.copyFields(value, depth);
      default:
        throw new ParseError(`yaml: unsupported value of type ${typeof value}`);
    }
  }

  private copyFields(value: object, depth: number): JsonObject {
    const copy: JsonObject = {};
    for (const [name, inner] of Object.entries(value)) setField(copy, name, this.copy(inner, depth + 1));
    return copy;
  }
}
