import { Declarations } from "./declarations.ts";
import { clientImport, declareKind, type RootFields } from "./kind-declaration.ts";
import {
  type OpenApiDocument,
  type OpenApiSchema,
  referenced,
  type ServedKind,
  servedKinds,
} from "./openapi-schema.ts";

/** One generated file. */
export interface GeneratedModule {
  /** Without extension, e.g. `apps-v1`. */
  readonly name: string;
  readonly text: string;
}

/** Where Kubernetes' own schemas live; a CRD's schema is named after its reversed group instead. */
const builtinPrefixes = [
  "io.k8s.api.",
  "io.k8s.apimachinery.",
  "io.k8s.apiextensions-apiserver.",
  "io.k8s.kube-aggregator.",
];

/** Schemas whose Go type writes JSON by hand: their OpenAPI says little or nothing of the real shape. */
const handWritten: Readonly<Record<string, string>> = {
  ObjectMeta: "ObjectMetaInput",
  OwnerReference: "OwnerReference",
  ManagedFieldsEntry: "ManagedFieldsEntry",
  Time: "string",
  MicroTime: "string",
  Quantity: "string",
  IntOrString: "number | string",
  FieldsV1: "unknown",
  RawExtension: "Readonly<Record<string, unknown>>",
  JSON: "unknown",
  JSONSchemaPropsOrArray: "JSONSchemaProps | readonly JSONSchemaProps[]",
  JSONSchemaPropsOrBool: "JSONSchemaProps | boolean",
  JSONSchemaPropsOrStringArray: "JSONSchemaProps | readonly string[]",
};

interface NamedSchema {
  readonly module: string;
  readonly type: string;
}

const qualifiedName = /([a-z0-9]+)\.(v\d+[a-z0-9]*)\.([A-Za-z0-9]+)$/;

/** `io.k8s.api.apps.v1.Deployment` → `apps-v1`, `Deployment`. */
function placeOf(schemaName: string): NamedSchema | undefined {
  const match = qualifiedName.exec(schemaName);
  return match === null ? undefined : { module: `${match[1]}-${match[2]}`, type: match[3] ?? "" };
}

/**
 * Types for Kubernetes' own kinds, one module per group version, from the documents of an API server's `/openapi/v3`.
 * Only generally available versions (`v1`, `v2`) are printed, with the types reachable from their kinds. Kinds that come
 * from CRDs are left out: `generateTypes` serves those.
 */
export function generateBuiltinKinds(documents: readonly OpenApiDocument[]): GeneratedModule[] {
  const schemas = new Map<string, OpenApiSchema>();
  const kinds = new Map<string, ServedKind>();
  for (const document of documents) {
    const own = Object.entries(document.components?.schemas ?? {});
    for (const [name, schema] of own) {
      if (builtinPrefixes.some((prefix) => name.startsWith(prefix))) schemas.set(name, schema);
    }
    for (const kind of servedKinds(document)) {
      if (!/^v\d+$/.test(kind.version)) continue;
      const name = own.find(([key, schema]) => schemas.has(key) && describes(schema, kind))?.[0];
      if (name !== undefined) kinds.set(name, kind);
    }
  }
  const byModule = new Map<string, string[]>();
  for (const name of reachable(kinds.keys(), schemas)) {
    const place = placeOf(name);
    if (place === undefined || Object.hasOwn(handWritten, place.type)) continue;
    byModule.set(place.module, [...(byModule.get(place.module) ?? []), name]);
  }
  return [...byModule]
    .map(([module, names]) => ({ name: module, text: printModule(module, names.sort(), kinds, schemas) }))
    .sort((a, b) => (a.name < b.name ? -1 : 1));
}

function describes(schema: OpenApiSchema, kind: ServedKind): boolean {
  const declared = schema["x-kubernetes-group-version-kind"] ?? [];
  return declared.some(
    (gvk) => gvk.group === kind.group && gvk.version === kind.version && gvk.kind === kind.kind,
  );
}

function reachable(roots: Iterable<string>, schemas: ReadonlyMap<string, OpenApiSchema>): Set<string> {
  const seen = new Set<string>();
  const pending = [...roots];
  for (let name = pending.pop(); name !== undefined; name = pending.pop()) {
    const schema = schemas.get(name);
    if (schema === undefined || seen.has(name)) continue;
    seen.add(name);
    for (const match of JSON.stringify(schema).matchAll(/"#\/components\/schemas\/([^"]+)"/g)) {
      pending.push(match[1] ?? "");
    }
  }
  return seen;
}

function printModule(
  module: string,
  names: readonly string[],
  kinds: ReadonlyMap<string, ServedKind>,
  schemas: ReadonlyMap<string, OpenApiSchema>,
): string {
  const own = new Set(names.map((name) => placeOf(name)?.type ?? ""));
  const imports = new Map<string, Set<string>>();
  const reference = (name: string): string | undefined => {
    const found = placeOf(name) ?? { module: "", type: name.slice(name.lastIndexOf(".") + 1) };
    const written = handWritten[found.type];
    if (written !== undefined) return written;
    // An object inside another, such as a claim template, is what one sends: it has no namespace of its own.
    const place = kinds.has(name) ? { ...found, type: `${found.type}Input` } : found;
    if (place.module === "" || !schemas.has(name)) return undefined;
    if (place.module === module) return place.type;
    // Two groups may use one name (`TokenRequest`): the foreign one is then imported under its module's name.
    const alias = own.has(place.type) ? `${place.type}Of${place.module.replaceAll("-", "_")}` : place.type;
    const from = imports.get(place.module) ?? new Set();
    imports.set(place.module, from.add(alias === place.type ? alias : `${place.type} as ${alias}`));
    return alias;
  };
  const declarations = new Declarations({ reference, wellKnown: () => undefined }, own);
  const values: string[] = [];
  for (const name of names) {
    const type = placeOf(name)?.type ?? "";
    const schema = effective(schemas.get(name) ?? {}, type, schemas);
    const kind = kinds.get(name);
    if (kind !== undefined) values.push(declareKind(declarations, kind, schema, rootRules(schema, schemas)));
    else declarations.declare(type, schema);
  }
  const body = `${declarations.text}\n${values.join("")}`;
  const foreign = [...imports]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([from, types]) => `import type { ${[...types].sort().join(", ")} } from "./${from}.ts";\n`);
  return `// Generated from an API server's OpenAPI by scripts/generate-kinds.ts. Do not edit.\n${clientImport(body)}${foreign.join("")}\n${body}`;
}

/**
 * Built-in schemas mark Go's zero values as defaults. `default: {}` on a struct says that the server always prints it, and
 * where the struct itself has required fields, that leaving it out is refused: such a field is required on both sides.
 * Other defaults are zero values that nobody is obliged to send back, and carry no news.
 */
function effective(
  schema: OpenApiSchema,
  type: string,
  schemas: ReadonlyMap<string, OpenApiSchema>,
): OpenApiSchema {
  const required = new Set(schema.required ?? []);
  const properties: Record<string, OpenApiSchema> = {};
  for (const [name, { default: zero, ...property }] of Object.entries(schema.properties ?? {})) {
    properties[name] = property;
    if (zero !== undefined && !type.endsWith("Status") && hasRequired(property, schemas)) required.add(name);
  }
  return { ...schema, properties, required: [...required] };
}

function hasRequired(property: OpenApiSchema, schemas: ReadonlyMap<string, OpenApiSchema>): boolean {
  const name = referenced(property);
  return name !== undefined && (schemas.get(name)?.required?.length ?? 0) > 0;
}

function rootRules(schema: OpenApiSchema, schemas: ReadonlyMap<string, OpenApiSchema>): RootFields {
  const required = new Set(schema.required ?? []);
  return {
    presentOnRead: (field) => field === "spec" || (field !== "status" && required.has(field)),
    requiredOnWrite: (field, property) =>
      field !== "status" && (required.has(field) || (field === "spec" && hasRequired(property, schemas))),
  };
}
