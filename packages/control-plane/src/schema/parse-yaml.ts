import { boolYaml11Tag, CORE_SCHEMA, load, mergeTag, YAMLException } from "js-yaml";
import type { Json, JsonObject } from "../json.ts";
import { MAX_DEPTH, type Parsed, ParseError } from "./parse-json.ts";
import { setField } from "./paths.ts";
import { repeatedKeys } from "./repeated-keys.ts";

/** The API server's YAML: 1.2 but for `yes`, `no`, `on`, `off` and merge keys, which are as in 1.1. */
const SCHEMA = CORE_SCHEMA.withTags(boolYaml11Tag, mergeTag);

/** More values than this cannot have been written by hand: they come from aliases of aliases. */
const MAX_VALUES = 1_000_000;

/**
 * Reads one YAML document. Aliases become copies, so the result is a tree like any parsed JSON.
 *
 * @throws ParseError
 */
export function parseYaml(text: string): Parsed {
  const duplicates: string[] = [];
  let loaded: unknown;
  try {
    loaded = load(text, { schema: SCHEMA, maxDepth: MAX_DEPTH });
  } catch (error) {
    if (!(error instanceof YAMLException)) throw error;
    if (error.reason !== "duplicated mapping key") throw new ParseError(`yaml: ${describe(error)}`);
    duplicates.push(["yaml: unmarshal errors:", ...repeatedKeys(text)].join("\n  "));
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
        if (Number.isFinite(value)) return value;
        throw new ParseError(`json: unsupported value: ${value}`);
      case "bigint":
        return Number(value);
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
