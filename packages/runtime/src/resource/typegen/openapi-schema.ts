/**
 * The part of OpenAPI v3 that Kubernetes uses to describe objects: what types are generated from.
 */
export interface OpenApiSchema {
  readonly $ref?: string;
  readonly description?: string;
  readonly type?: string;
  readonly format?: string;
  readonly nullable?: boolean;
  readonly default?: unknown;
  readonly enum?: readonly unknown[];
  readonly properties?: Readonly<Record<string, OpenApiSchema>>;
  readonly additionalProperties?: OpenApiSchema | boolean;
  readonly items?: OpenApiSchema;
  readonly required?: readonly string[];
  readonly allOf?: readonly OpenApiSchema[];
  readonly oneOf?: readonly OpenApiSchema[];
  readonly anyOf?: readonly OpenApiSchema[];
  readonly "x-kubernetes-int-or-string"?: boolean;
  readonly "x-kubernetes-preserve-unknown-fields"?: boolean;
  readonly "x-kubernetes-embedded-resource"?: boolean;
  readonly "x-kubernetes-list-type"?: string;
  readonly "x-kubernetes-list-map-keys"?: readonly string[];
  readonly "x-kubernetes-map-type"?: string;
  readonly "x-kubernetes-group-version-kind"?: readonly GroupVersionKind[];
}

/** A kind in one version of its group. */
export interface GroupVersionKind {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
}

/** One document of `/openapi/v3`: the paths and schemas of a group version. */
export interface OpenApiDocument {
  readonly openapi?: string;
  readonly paths?: Readonly<Record<string, unknown>>;
  readonly components?: { readonly schemas?: Readonly<Record<string, OpenApiSchema>> };
}

/** A kind that a document serves, with what only its paths tell. */
export interface ServedKind extends GroupVersionKind {
  readonly plural: string;
  readonly scope: "Namespaced" | "Cluster";
  /**
   * Its objects can be created and not read, as reviews and bindings: nothing of them is stored.
   */
  readonly createOnly?: true;
}

/** The name at the end of `#/components/schemas/NAME`. */
export function referenced(schema: OpenApiSchema): string | undefined {
  const prefix = "#/components/schemas/";
  const direct = schema.$ref ?? (schema.allOf?.length === 1 ? schema.allOf[0]?.$ref : undefined);
  return direct?.startsWith(prefix) === true ? direct.slice(prefix.length) : undefined;
}

const collectionPath =
  /^\/(?:api|apis\/([^/{}]+))\/(v\d+[a-z0-9]*)(\/namespaces\/\{namespace\})?\/([^/{}]+)$/;

/**
 * Every kind with a collection of its own in the document; subresources and watches are not kinds.
 */
export function servedKinds(document: OpenApiDocument): ServedKind[] {
  const found = new Map<string, ServedKind>();
  for (const [path, item] of Object.entries(document.paths ?? {})) {
    const match = collectionPath.exec(path);
    if (match === null) continue;
    const [, group = "", version = "", namespaced, plural = ""] = match;
    const kind = kindOf(item);
    if (kind === undefined) continue;
    const scope = namespaced === undefined ? "Cluster" : "Namespaced";
    const key = `${kind.kind}/${plural}`;
    // A namespaced kind also has a collection over all namespaces, which looks like a
    // cluster-scoped one.
    if (found.has(key) && scope === "Cluster") continue;
    const createOnly = Object.hasOwn(item as object, "get") ? {} : { createOnly: true as const };
    found.set(key, { group, version, kind: kind.kind, plural, scope, ...createOnly });
  }
  return [...found.values()].sort((a, b) => (a.kind < b.kind ? -1 : 1));
}

function kindOf(item: unknown): GroupVersionKind | undefined {
  if (typeof item !== "object" || item === null) return undefined;
  const operations = item as Record<string, { "x-kubernetes-group-version-kind"?: GroupVersionKind }>;
  return (operations.post ?? operations.get)?.["x-kubernetes-group-version-kind"];
}
