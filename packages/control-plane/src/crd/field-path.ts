import { childPath, keyPath } from "../schema/paths.ts";
import type { Schema } from "../schema/schema.ts";
import { declaredProperties, subschema } from "./structural-rules.ts";

/** Where a path leads in a schema; or, in the API server's words, why it leads nowhere. */
export type FieldPath =
  | { readonly path: string; readonly schema: Schema | undefined; readonly fault?: undefined }
  | { readonly fault: string };

const NOWHERE = "does not refer to a valid field";

/** Follows a path of fields and map entries, such as `.spec.names['a.b']`, through a schema. */
export function schemaAtFieldPath(text: string, root: Schema, brackets: "allowed" | "forbidden"): FieldPath {
  let path = "";
  let schema: Schema | undefined = root;
  const step = (name: string): string | undefined => {
    const properties: Map<string, Schema> = new Map(schema === undefined ? [] : declaredProperties(schema));
    if (properties.size > 0) {
      path = childPath(path, name);
      if (!properties.has(name)) return NOWHERE;
      schema = properties.get(name);
      return undefined;
    }
    const values: Schema | undefined = schema && subschema(schema, "additionalProperties");
    if (values === undefined) return NOWHERE;
    path = keyPath(path, name);
    schema = values;
    return undefined;
  };

  const tokens = tokenise(text);
  for (let at = 0; at < tokens.length; at++) {
    const token = tokens[at];
    if (token !== "." && token !== "[") return { fault: `expected [ or . but got: ${token}` };
    if (token === "[" && brackets === "forbidden") return { fault: "array notation is not allowed" };
    const name = tokens[++at];
    if (name === undefined) return { fault: "unexpected end of JSON path" };
    if (token === ".") {
      const fault = step(name);
      if (fault !== undefined) return { fault };
      continue;
    }
    if (name.length < 2 || !name.startsWith("'") || !name.endsWith("'")) {
      return { fault: `expected single quoted string but got ${name}` };
    }
    const fault = step(name.slice(1, -1).replace(/\\(.)/g, "$1"));
    if (fault !== undefined) return { fault };
    const close = tokens[++at];
    if (close === undefined) return { fault: "unexpected end of JSON path" };
    if (close !== "]") return { fault: `expected ] but got ${close}` };
  }
  return { path, schema };
}

/** Dots, brackets, quoted strings, and the text between them. */
function tokenise(text: string): string[] {
  return text.match(/[.[\]]|'(?:[^\\']|\\.)*'|[^.[\]]+/g) ?? [];
}
