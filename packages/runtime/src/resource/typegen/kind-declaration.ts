import { apiVersionOf } from "@windlass/client";
import { type Declarations, pascal } from "./declarations.ts";
import type { OpenApiSchema, ServedKind } from "./openapi-schema.ts";

/** The types from `@windlass/client` that a kind's declaration may name. */
export const clientTypes = [
  "AnyObject",
  "ClusterMetaInput",
  "ClusterObjectMeta",
  "KubernetesObject",
  "ManagedFieldsEntry",
  "NamedMetaInput",
  "NamespacedObjectMeta",
  "ObjectMetaInput",
  "OwnerReference",
  "ResourceKind",
] as const;

/** How a kind's `spec` and other top-level fields relate what is read to what is written. */
export interface RootFields {
  /** Present in everything the server returns. */
  presentOnRead(field: string, schema: OpenApiSchema): boolean;
  /** Refused by the server when it is missing. */
  requiredOnWrite(field: string, schema: OpenApiSchema): boolean;
}

/**
 * Prints a kind: the interface of its objects, the one of what may be sent, and the value that
 * addresses it.
 */
export function declareKind(
  declarations: Declarations,
  kind: ServedKind,
  schema: OpenApiSchema,
  rules: RootFields,
): string {
  const name = pascal(kind.kind);
  const properties = schema.properties ?? {};
  const fixed = new Set(["apiVersion", "kind", "metadata"]);
  const members = declarations
    .members(
      {
        ...schema,
        properties: Object.fromEntries(Object.entries(properties).filter(([field]) => !fixed.has(field))),
      },
      name,
    )
    .map((member) => ({
      ...member,
      required: {
        read: rules.presentOnRead(member.name, properties[member.name] ?? {}),
        write: rules.requiredOnWrite(member.name, properties[member.name] ?? {}),
      },
    }));
  const optional = (field: string, type: string) => ({
    name: field,
    type: { read: type, write: type },
    required: { read: false, write: false },
  });
  // A review is answered in its status and not stored, so it has no name.
  const isReview = kind.createOnly === true && Object.hasOwn(properties, "status");
  const [readMeta, writeMeta] =
    kind.scope === "Namespaced"
      ? ["NamespacedObjectMeta", "NamedMetaInput"]
      : ["ClusterObjectMeta", "ClusterMetaInput"];
  const metadata = {
    name: "metadata",
    type: { read: readMeta, write: isReview ? "ObjectMetaInput" : writeMeta },
    required: { read: true, write: !isReview },
  };
  const all = [
    optional("apiVersion", JSON.stringify(apiVersionOf(kind))),
    optional("kind", JSON.stringify(kind.kind)),
    metadata,
    ...members,
  ];
  const open = schema["x-kubernetes-preserve-unknown-fields"] === true;
  declarations.print(name, all, "read", open);
  declarations.print(`${name}Input`, all, "write", open);
  const { group, version, plural, scope } = kind;
  const value = Object.entries({ group, version, kind: kind.kind, plural, scope })
    .map(([field, text]) => `${field}: ${JSON.stringify(text)}`)
    .join(", ");
  return `export const ${name}: ResourceKind<${name}, ${name}Input, ${JSON.stringify(scope)}> = { ${value} };\n`;
}

/** The import line for those of the client's types that the text uses. */
export function clientImport(text: string, from = "@windlass/client"): string {
  const used = clientTypes.filter((name) => new RegExp(`\\b${name}\\b`).test(text));
  return used.length === 0 ? "" : `import type { ${used.join(", ")} } from ${JSON.stringify(from)};\n`;
}
