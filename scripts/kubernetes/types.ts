import type { RecordedSchema } from "@windlass/kinds/recorded";
import {
  type GeneratedModule,
  generateBuiltinKinds,
} from "../../packages/runtime/src/resource/typegen/builtin.ts";
import { generateBuiltinTypes } from "../../packages/runtime/src/resource/typegen/builtin-types.ts";
import type {
  OpenApiDocument,
  OpenApiSchema,
} from "../../packages/runtime/src/resource/typegen/openapi-schema.ts";
import type { TypeFacts } from "./facts.ts";

/** The modules of `packages/kinds/src/generated`: they follow from what was recorded. */
export function typeModules(facts: TypeFacts): readonly GeneratedModule[] {
  const documents = documentsOf(facts);
  const kinds = generateBuiltinKinds(documents, facts.goTypes);
  return [...kinds, ...generateBuiltinTypes(documents, facts.goTypes)];
}

/** What the server's `/openapi/v3` says of its kinds, as far as types depend on it. */
function documentsOf({ kinds, schemas }: TypeFacts): OpenApiDocument[] {
  const published = (type: string): string => {
    const dot = type.lastIndexOf(".");
    return `${schemas.get(type.slice(0, dot))?.prefix}.${type.slice(dot + 1)}`;
  };
  const all = Object.fromEntries(
    [...schemas].flatMap(([id, { types }]) =>
      Object.entries(types).map(([name, schema]) => [published(`${id}.${name}`), openApi(schema, published)]),
    ),
  );
  return kinds.groups.flatMap(({ name: group, versions }) =>
    versions.map(({ version, resources }) => {
      const base = group === "" ? `/api/${version}` : `/apis/${group}/${version}`;
      const paths = resources.map(({ plural, kind, namespaced, verbs }) => {
        const operation = { "x-kubernetes-group-version-kind": { group, version, kind } };
        const path = namespaced ? `${base}/namespaces/{namespace}/${plural}` : `${base}/${plural}`;
        return [
          path,
          {
            ...(verbs.includes("list") ? { get: operation } : {}),
            ...(verbs.includes("create") ? { post: operation } : {}),
          },
        ];
      });
      return { paths: Object.fromEntries(paths), components: { schemas: all } };
    }),
  );
}

function openApi(
  { $ref, properties, items, additionalProperties, ...plain }: RecordedSchema,
  published: (type: string) => string,
): OpenApiSchema {
  const inner = (schema: RecordedSchema) => openApi(schema, published);
  return {
    ...plain,
    ...($ref === undefined ? {} : { $ref: `#/components/schemas/${published($ref)}` }),
    ...(properties === undefined
      ? {}
      : {
          properties: Object.fromEntries(
            Object.entries(properties).map(([name, property]) => [name, inner(property)]),
          ),
        }),
    ...(items === undefined ? {} : { items: inner(items) }),
    ...(additionalProperties === undefined
      ? {}
      : {
          additionalProperties:
            typeof additionalProperties === "boolean" ? additionalProperties : inner(additionalProperties),
        }),
  };
}
