import * as fc from "fast-check";

/** What is read here of a document of `/openapi/v3`. */
export interface OpenApiDocument {
  readonly components: { readonly schemas: Readonly<Record<string, Schema>> };
}

interface Schema {
  readonly $ref?: string;
  readonly type?: string;
  readonly format?: string;
  readonly enum?: readonly string[];
  readonly required?: readonly string[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly items?: Schema;
  readonly additionalProperties?: Schema;
  readonly allOf?: readonly Schema[];
  readonly "x-kubernetes-list-type"?: string;
  readonly "x-kubernetes-list-map-keys"?: readonly string[];
}

/**
 * Random values of a type, from the schema that an API server publishes: all required fields of an
 * object, and some of the others. Strings are chosen by the name of the field, so that Kubernetes
 * accepts most of them.
 */
export function valuesOf(document: OpenApiDocument, type: string): fc.Arbitrary<Record<string, unknown>> {
  return objectValues({ $ref: `#/components/schemas/${type}` }, document, 3);
}

function resolved(schema: Schema, { components }: OpenApiDocument): Schema {
  const reference = schema.$ref ?? schema.allOf?.[0]?.$ref;
  return reference === undefined
    ? schema
    : (components.schemas[reference.slice("#/components/schemas/".length)] ?? {});
}

function objectValues(
  schema: Schema,
  document: OpenApiDocument,
  most: number,
): fc.Arbitrary<Record<string, unknown>> {
  const { properties = {}, required = [] } = resolved(schema, document);
  const optional = Object.keys(properties).filter((name) => !required.includes(name));
  return fc
    .subarray(optional, { maxLength: Math.min(optional.length, most) })
    .chain((chosen) =>
      fc.record(
        Object.fromEntries(
          [...required, ...chosen].map((name) => [
            name,
            fieldValues(properties[name] ?? {}, name, document, Math.max(1, most - 1)),
          ]),
        ),
      ),
    );
}

function fieldValues(
  schema: Schema,
  name: string,
  document: OpenApiDocument,
  most: number,
): fc.Arbitrary<unknown> {
  const reference = schema.$ref ?? schema.allOf?.[0]?.$ref ?? "";
  if (reference.endsWith(".Quantity")) return quantities;
  const { type, format, enum: values, items, additionalProperties, properties } = resolved(schema, document);
  if (values !== undefined) return fc.constantFrom(...values);
  if (type === "array") return listValues(schema, fieldValues(items ?? {}, name, document, most));
  if (additionalProperties !== undefined) {
    return fc.dictionary(mapKeys, fieldValues(additionalProperties, name, document, most), { maxKeys: 2 });
  }
  if (properties !== undefined) return objectValues(schema, document, most);
  if (type === "string" && format === undefined) return stringValues(name);
  return scalars[format ?? type ?? ""] ?? fc.constantFrom<unknown>({}, { a: { b: [1, null] } });
}

function listValues(schema: Schema, items: fc.Arbitrary<unknown>): fc.Arbitrary<unknown[]> {
  const keys = schema["x-kubernetes-list-map-keys"];
  // The server fills in the protocol before it looks for duplicates.
  const identity = (item: unknown) =>
    JSON.stringify(
      keys?.map((key) => (item as Record<string, unknown>)[key] ?? (key === "protocol" ? "TCP" : "")) ?? item,
    );
  return schema["x-kubernetes-list-type"] === "atomic"
    ? fc.array(items, { maxLength: 2 })
    : fc.uniqueArray(items, { maxLength: 2, selector: identity });
}

function stringValues(name: string): fc.Arbitrary<string> {
  return fc.constantFrom(...(words.find(([pattern]) => pattern.test(name))?.[1] ?? labels));
}

const labels = ["a", "b", "web", "example-1"];
const words: readonly (readonly [RegExp, readonly string[]])[] = [
  [/^image$/, ["nginx:1.29", "registry.example.com/app@sha256:0"]],
  [/path$/i, ["/a", "/var/b"]],
  [/ip$|ips$/i, ["10.0.0.1", "fd00::1"]],
  [/cidr/i, ["10.0.0.0/8", "192.168.1.0/24"]],
  [/^operator$/, ["In", "Exists"]],
  [/^key$/, ["a", "example.com/b"]],
  [/^fieldPath$/, ["metadata.name", "status.podIP"]],
  [/^resource$/, ["limits.cpu", "requests.memory"]],
  [/^schedule$/, ["*/5 * * * *", "@daily"]],
  [/^host$/, ["a.example.com", "*.example.com"]],
  [/^verbs$/, ["get", "*"]],
];
const mapKeys = fc.constantFrom("cpu", "memory", "example.com/a");
const quantities = fc.constantFrom<unknown>(1, 2, "1", "500m", "0.5", "1Gi", "2e3", "+1k");
const scalars: Readonly<Record<string, fc.Arbitrary<unknown>>> = {
  boolean: fc.boolean(),
  int32: fc.oneof(fc.integer({ min: 1, max: 100 }), fc.constantFrom(0, -1, 1000, 70_000)),
  int64: fc.oneof(fc.integer({ min: 1, max: 100 }), fc.constantFrom(0, -1, 70_000)),
  double: fc.constantFrom(0, 0.5, 1e9),
  byte: fc.constantFrom("", "YQ=="),
  "date-time": fc.constantFrom("2026-01-02T03:04:05Z", "2026-01-02T03:04:05.678+01:00"),
  "int-or-string": fc.constantFrom<unknown>(1, 80, "http", "50%"),
};
