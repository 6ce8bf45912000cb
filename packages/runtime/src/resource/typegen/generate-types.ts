import { checkDefinition } from "./check-definition.ts";
import { Declarations, pascal, same, type TypePair } from "./declarations.ts";
import { clientImport, clientTypes, declareKind, type RootFields } from "./kind-declaration.ts";
import { type OpenApiDocument, type OpenApiSchema, type ServedKind, servedKinds } from "./openapi-schema.ts";

/** What `generateTypes` reads of a CustomResourceDefinition. */
export interface CrdSource {
  readonly kind: "CustomResourceDefinition";
  readonly spec: {
    readonly group: string;
    readonly scope: string;
    readonly names: { readonly kind: string; readonly plural: string };
    readonly versions: readonly {
      readonly name: string;
      readonly served?: boolean;
      readonly schema?: { readonly openAPIV3Schema?: unknown };
    }[];
  };
}

/** Which types are generated, and from what. */
export interface GenerateTypesOptions {
  /**
   * Which version of a CRD.
   *
   * @default the one Kubernetes prefers of those served: v2 before v1 before v1beta1
   */
  readonly version?: string;
  /**
   * The package that types are imported from: one that the program depends on.
   *
   * @default "@windlass/client"
   */
  readonly importFrom?: "@windlass/client" | "@windlass/runtime";
}

interface Described {
  readonly kind: ServedKind;
  readonly schema: OpenApiSchema;
}

/**
 * TypeScript for kinds that others define: from a CustomResourceDefinition, or from a document of a
 * server's `/openapi/v3`. Each kind becomes a value and a type of the same name, and an `…Input`
 * type for what one may send. The text imports types from `importFrom` and nothing else.
 *
 * @throws TypeError when the source describes no kind
 * @throws ResourceDefinitionError for a definition that no server would take
 */
export function generateTypes(
  source: CrdSource | OpenApiDocument,
  options: GenerateTypesOptions = {},
): string {
  if (isCrd(source)) checkDefinition(source.spec, options.version);
  const kinds = isCrd(source) ? fromCrd(source, options.version) : fromDocument(source);
  if (kinds.length === 0) {
    throw new TypeError(
      "no kind to generate types for: give a CustomResourceDefinition, or a document of /openapi/v3",
    );
  }
  const schemas = isCrd(source) ? {} : (source.components?.schemas ?? {});
  const reserved = [
    ...clientTypes,
    ...kinds.flatMap(({ kind }) => [pascal(kind.kind), `${pascal(kind.kind)}Input`]),
  ];
  const declarations = new Declarations(
    { wellKnown, reference: (name) => wellKnownReference(name, schemas) },
    reserved,
  );
  const values = kinds.map(({ kind, schema }) => declareKind(declarations, kind, schema, rootRules(schema)));
  const body = `${declarations.text}\n${values.join("")}`;
  return `${clientImport(body, options.importFrom)}\n${body}`;
}

function isCrd(source: CrdSource | OpenApiDocument): source is CrdSource {
  return "kind" in source && source.kind === "CustomResourceDefinition";
}

function fromCrd({ spec }: CrdSource, wanted: string | undefined): Described[] {
  const known = spec.versions.map((version) => version.name);
  if (wanted !== undefined && !known.includes(wanted)) {
    throw new TypeError(`${spec.names.kind} has no version ${wanted}: there are ${known.join(", ")}`);
  }
  const served = spec.versions.filter((version) => version.served !== false);
  const version =
    wanted === undefined
      ? served.toSorted((a, b) => preference(b.name) - preference(a.name))[0]
      : spec.versions.find((one) => one.name === wanted);
  if (version === undefined) return [];
  const scope = spec.scope === "Cluster" ? "Cluster" : "Namespaced";
  const { kind, plural } = spec.names;
  return [
    {
      kind: { group: spec.group, version: version.name, kind, plural, scope },
      schema: (version.schema?.openAPIV3Schema ?? {}) as OpenApiSchema,
    },
  ];
}

/** Kubernetes' order of versions: stable before beta before alpha, and higher numbers first. */
function preference(version: string): number {
  const match = /^v(\d+)(?:(alpha|beta)(\d+))?$/.exec(version);
  if (match === null) return -1;
  const stage = { alpha: 0, beta: 1 }[match[2] ?? ""] ?? 2;
  return stage * 1_000_000 + Number(match[1]) * 1000 + Number(match[3] ?? 0);
}

function fromDocument(document: OpenApiDocument): Described[] {
  const schemas = Object.values(document.components?.schemas ?? {});
  return servedKinds(document).flatMap((kind) => {
    const schema = schemas.find((one) =>
      (one["x-kubernetes-group-version-kind"] ?? []).some(
        (gvk) => gvk.group === kind.group && gvk.version === kind.version && gvk.kind === kind.kind,
      ),
    );
    return schema === undefined ? [] : [{ kind, schema }];
  });
}

function wellKnown(schema: OpenApiSchema): string | undefined {
  return schema["x-kubernetes-embedded-resource"] === true ? "AnyObject" : undefined;
}

/** A document of a CRD's group refers to nothing but metadata; other references are left open. */
function wellKnownReference(
  name: string,
  schemas: Readonly<Record<string, OpenApiSchema>>,
): TypePair | undefined {
  if (name.endsWith(".ObjectMeta")) return same("ObjectMetaInput");
  return schemas[name]?.type === "string" ? same("string") : undefined;
}

function rootRules(schema: OpenApiSchema): RootFields {
  const required = new Set(schema.required ?? []);
  return {
    presentOnRead: (field, property) =>
      field !== "status" && (required.has(field) || property.default !== undefined),
    requiredOnWrite: (field, property) =>
      field !== "status" && required.has(field) && property.default === undefined,
  };
}
