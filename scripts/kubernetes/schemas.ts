import type { RecordedGroup, RecordedSchema, RecordedSchemas } from "@windlass/kinds/recorded";
import type { Cluster } from "./cluster.ts";
import { packageId } from "./go-source.ts";

type Node = { [key: string]: unknown };

/**
 * The structure of every type the server publishes, by package. Prose is left out: it belongs to
 * the Kubernetes authors and no machine reads it. What there is of it is recorded apart, see
 * descriptions.ts. References become `package.Type`, and a default next to one is kept next to it.
 */
export async function recordSchemas(
  cluster: Cluster,
  groups: readonly RecordedGroup[],
): Promise<ReadonlyMap<string, RecordedSchemas>> {
  const packages = new Map<
    string,
    { readonly prefix: string; readonly types: Map<string, RecordedSchema> }
  >();
  for (const group of groups) {
    for (const { version } of group.versions) {
      const path = group.name === "" ? `api/${version}` : `apis/${group.name}/${version}`;
      const document = (await cluster.get(`/openapi/v3/${path}`)) as {
        components: { schemas: { [name: string]: Node } };
      };
      for (const [name, schema] of Object.entries(document.components.schemas)) {
        const dot = name.lastIndexOf(".");
        const prefix = name.slice(0, dot);
        const id = packageId(prefix);
        const known = packages.get(id) ?? { prefix, types: new Map() };
        if (known.prefix !== prefix) throw new Error(`${prefix} and ${known.prefix} would both be ${id}`);
        known.types.set(name.slice(dot + 1), structure(schema) as RecordedSchema);
        packages.set(id, known);
      }
    }
  }
  return new Map(
    [...packages].map(([id, { prefix, types }]) => [
      id,
      { prefix, types: Object.fromEntries([...types].sort(([a], [b]) => (a < b ? -1 : 1))) },
    ]),
  );
}

function structure(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(structure);
  if (typeof value !== "object" || value === null) return value;
  const node = value as Node;
  const copy: Node = {};
  for (const key of Object.keys(node).sort()) {
    const held = node[key];
    if (key === "description") continue;
    if (key === "$ref") copy[key] = reference(held as string);
    else if (key === "properties") copy[key] = properties(held as Node);
    else if (key === "default" || key === "enum" || key.startsWith("x-")) copy[key] = held;
    else if (key === "allOf" && isSingleReference(held)) copy.$ref = reference(held[0].$ref);
    else copy[key] = structure(held);
  }
  return copy;
}

function properties(value: Node): Node {
  return Object.fromEntries(
    Object.keys(value)
      .sort()
      .map((name) => [name, structure(value[name])]),
  );
}

function isSingleReference(value: unknown): value is [{ $ref: string }] {
  return Array.isArray(value) && value.length === 1 && typeof (value[0] as Node)?.$ref === "string";
}

function reference(ref: string): string {
  const name = ref.slice(ref.lastIndexOf("/") + 1);
  const dot = name.lastIndexOf(".");
  return `${packageId(name.slice(0, dot))}.${name.slice(dot + 1)}`;
}
