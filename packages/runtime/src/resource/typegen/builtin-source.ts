import type { RecordedGoTypes } from "@windlass/kinds/go-types";
import { same, type TypePair } from "./declarations.ts";
import { NullableFields } from "./nullable-fields.ts";
import {
  type OpenApiDocument,
  type OpenApiSchema,
  referenced,
  type ServedKind,
  servedKinds,
} from "./openapi-schema.ts";

/** Kubernetes' own types, as the documents of an API server's `/openapi/v3` describe them. */
export interface BuiltinSource {
  /** By the name in the documents, e.g. `io.k8s.api.core.v1.Pod`. */
  readonly schemas: ReadonlyMap<string, OpenApiSchema>;
  readonly kinds: ReadonlyMap<string, ServedKind>;
  /** The types that generally available kinds (`v1`, `v2`) are made of, in order. */
  readonly reachable: readonly string[];
  /** Whether a server may return a field of a schema as null. */
  readonly isNullable: (name: string, field: string) => boolean;
}

/** Where Kubernetes' own schemas live; a CRD's schema is named after its reversed group instead. */
const builtinPrefixes = [
  "io.k8s.api.",
  "io.k8s.apimachinery.",
  "io.k8s.apiextensions-apiserver.",
  "io.k8s.kube-aggregator.",
];

/**
 * Schemas whose Go type writes JSON by hand: their OpenAPI says little or nothing of the real
 * shape.
 */
export const handWritten: Readonly<Record<string, TypePair>> = {
  ObjectMeta: same("ObjectMetaInput"),
  OwnerReference: same("OwnerReference"),
  ManagedFieldsEntry: same("ManagedFieldsEntry"),
  Time: same("string"),
  MicroTime: same("string"),
  // The server takes `cpu: 1`, and returns "1".
  Quantity: { read: "string", write: "number | string" },
  IntOrString: same("number | string"),
  FieldsV1: same("unknown"),
  RawExtension: same("Readonly<Record<string, unknown>>"),
  JSON: same("unknown"),
  JSONSchemaPropsOrArray: {
    read: "JSONSchemaProps | readonly JSONSchemaProps[]",
    write: "JSONSchemaPropsInput | readonly JSONSchemaPropsInput[]",
  },
  JSONSchemaPropsOrBool: { read: "JSONSchemaProps | boolean", write: "JSONSchemaPropsInput | boolean" },
  JSONSchemaPropsOrStringArray: {
    read: "JSONSchemaProps | readonly string[]",
    write: "JSONSchemaPropsInput | readonly string[]",
  },
};

interface FieldLocation {
  /** The group version's module, e.g. `apps-v1`; empty for the few types outside any version. */
  readonly module: string;
  readonly type: string;
}

const qualifiedName = /([a-z0-9]+)\.(v\d+[a-z0-9]*)\.([A-Za-z0-9]+)$/;

/** `io.k8s.api.apps.v1.Deployment` → `apps-v1`, `Deployment`. */
export function placeOf(schemaName: string): FieldLocation {
  const [, group, version, type] = qualifiedName.exec(schemaName) ?? [];
  return group === undefined || type === undefined
    ? { module: "", type: schemaName.slice(schemaName.lastIndexOf(".") + 1) }
    : { module: `${group}-${version}`, type };
}

/** `io.k8s.api.apps.v1.Deployment` → `apps.v1.Deployment`, as Go types are recorded. */
function goTypeOf(schemaName: string): string {
  const { module, type } = placeOf(schemaName);
  return `${module.replace("-", ".")}.${type}`;
}

/**
 * Reads the documents. Kinds that come from CRDs, and versions that are not generally available,
 * are left out.
 */
export function builtinSource(
  documents: readonly OpenApiDocument[],
  goTypes: RecordedGoTypes,
): BuiltinSource {
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
  const nullable = new NullableFields(goTypes);
  const isNullable = (name: string, field: string) => nullable.has(goTypeOf(name), field);
  return { schemas, kinds, reachable: [...reachableFrom(kinds.keys(), schemas)].sort(), isNullable };
}

function describes(schema: OpenApiSchema, kind: ServedKind): boolean {
  const declared = schema["x-kubernetes-group-version-kind"] ?? [];
  return declared.some(
    (gvk) => gvk.group === kind.group && gvk.version === kind.version && gvk.kind === kind.kind,
  );
}

/** The types that these are made of, themselves included. */
export function reachableFrom(
  roots: Iterable<string>,
  schemas: ReadonlyMap<string, OpenApiSchema>,
): Set<string> {
  const seen = new Set<string>();
  const pending = [...roots];
  for (let name = pending.pop(); name !== undefined; name = pending.pop()) {
    const schema = schemas.get(name);
    if (schema === undefined || seen.has(name)) continue;
    seen.add(name);
    pending.push(...referencesOf(schema));
  }
  return seen;
}

/** The names of the types that a type is made of, as often as it uses them. */
export function referencesOf(schema: OpenApiSchema): string[] {
  return [...JSON.stringify(schema).matchAll(/"#\/components\/schemas\/([^"]+)"/g)].map(
    ([, name = ""]) => name,
  );
}

/**
 * The fields that one must send. Built-in schemas mark Go's zero values as defaults: `default: {}`
 * on a struct says that the server always prints it, and where the struct itself has required
 * fields, that leaving it out is refused. Other defaults are zero values that a client is not
 * obliged to send back, and carry no news.
 */
export function requiredFields(name: string, { schemas, kinds }: BuiltinSource): ReadonlySet<string> {
  const { required, properties = {} } = schemas.get(name) ?? {};
  const fields = new Set(required);
  if (name.endsWith("Status")) return fields;
  for (const [field, property] of Object.entries(properties)) {
    const filled = property.default !== undefined || (field === "spec" && kinds.has(name));
    const inner = referenced(property);
    if (filled && inner !== undefined && schemas.get(inner)?.required !== undefined) fields.add(field);
  }
  if (kinds.has(name)) fields.add("metadata").delete("status");
  return fields;
}
