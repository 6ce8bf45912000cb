import type { RecordedGoTypes } from "@windlass/kinds/go-types";
import {
  type BuiltinSource,
  builtinSource,
  handWritten,
  placeOf,
  referencesOf,
  requiredFields,
} from "./builtin-source.ts";
import { Declarations, type TypePair } from "./declarations.ts";
import { clientImport, declareKind, type RootFields } from "./kind-declaration.ts";
import type { OpenApiDocument, OpenApiSchema } from "./openapi-schema.ts";

/** One generated file. */
export interface GeneratedModule {
  /** Without extension, e.g. `apps-v1`. */
  readonly name: string;
  readonly text: string;
}

/**
 * Types for Kubernetes' own kinds, one module per group version, from the documents of an API
 * server's `/openapi/v3`. Only generally available versions (`v1`, `v2`) are printed, with the
 * types reachable from their kinds. Kinds that come from CRDs are left out: `generateTypes` serves
 * those.
 */
export function generateBuiltinKinds(
  documents: readonly OpenApiDocument[],
  goTypes: RecordedGoTypes,
): GeneratedModule[] {
  const source = builtinSource(documents, goTypes);
  const differing = differingTypes(source);
  const byModule = new Map<string, string[]>();
  for (const name of source.reachable) {
    const { module, type } = placeOf(name);
    if (module === "" || Object.hasOwn(handWritten, type)) continue;
    byModule.set(module, [...(byModule.get(module) ?? []), name]);
  }
  return [...byModule]
    .map(([module, names]) => ({ name: module, text: printModule(module, names, differing, source) }))
    .sort((a, b) => (a.name < b.name ? -1 : 1));
}

/**
 * The types of which one may send more than the server returns, directly or somewhere inside: a
 * quantity as a number, or a field that is undefined.
 */
export function differingTypes(source: BuiltinSource): ReadonlySet<string> {
  const { kinds, reachable, schemas } = source;
  const written = reachable.filter((name) => {
    const pair = handWritten[placeOf(name).type];
    if (pair !== undefined) return pair.read !== pair.write;
    const required = requiredFields(name, source);
    return Object.keys(schemas.get(name)?.properties ?? {}).some((field) => !required.has(field));
  });
  const differing = new Set<string>([...kinds.keys(), ...written]);
  for (let before = -1; before !== differing.size; ) {
    before = differing.size;
    for (const name of reachable) {
      if (referencesOf(schemas.get(name) ?? {}).some((part) => differing.has(part))) differing.add(name);
    }
  }
  return differing;
}

function printModule(
  module: string,
  names: readonly string[],
  differing: ReadonlySet<string>,
  source: BuiltinSource,
): string {
  const { schemas, kinds } = source;
  const own = new Set(names.map((name) => placeOf(name).type));
  const imports = new Map<string, Set<string>>();
  const reference = (name: string): TypePair | undefined => {
    const place = placeOf(name);
    const written = handWritten[place.type];
    if (written !== undefined) return written;
    if (place.module === "" || !schemas.has(name)) return undefined;
    const named = (type: string): string => {
      if (place.module === module) return type;
      // Two groups may use one name (`TokenRequest`): the foreign one is then imported under its
      // module's name.
      const alias = own.has(place.type) ? `${type}Of${place.module.replaceAll("-", "_")}` : type;
      const from = imports.get(place.module) ?? new Set();
      imports.set(place.module, from.add(alias === type ? alias : `${type} as ${alias}`));
      return alias;
    };
    // An object inside another, such as a claim template, is what one sends: it has no namespace of
    // its own.
    const read = named(kinds.has(name) ? `${place.type}Input` : place.type);
    return { read, write: differing.has(name) ? named(`${place.type}Input`) : read };
  };
  const declarations = new Declarations({ reference, wellKnown: () => undefined }, own);
  const values: string[] = [];
  for (const name of names) {
    const { type } = placeOf(name);
    const required = requiredFields(name, source);
    const schema = asReturned(schemas.get(name) ?? {}, required, (field) => source.isNullable(name, field));
    const kind = kinds.get(name);
    if (kind !== undefined) values.push(declareKind(declarations, kind, schema, rootRules(required)));
    else declarations.declare(type, schema);
  }
  const body = `${declarations.text}\n${values.join("")}`;
  const foreign = [...imports]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([from, types]) => `import type { ${[...types].sort().join(", ")} } from "./${from}.ts";\n`);
  return `// Generated from src/recorded by scripts/record-kubernetes.ts. Do not edit.\n${clientImport(body, "../object.ts")}${foreign.join("")}\n${body}`;
}

/** A schema without Go's zero values, which are no defaults, and with the nulls that Go writes. */
function asReturned(
  schema: OpenApiSchema,
  required: ReadonlySet<string>,
  isNullable: (field: string) => boolean,
): OpenApiSchema {
  const properties = Object.entries(schema.properties ?? {}).map(
    ([name, { default: _zero, ...property }]) =>
      [name, isNullable(name) ? { ...property, nullable: true } : property] as const,
  );
  return { ...schema, properties: Object.fromEntries(properties), required: [...required] };
}

function rootRules(required: ReadonlySet<string>): RootFields {
  return {
    presentOnRead: (field) => field === "spec" || required.has(field),
    requiredOnWrite: (field) => required.has(field),
  };
}
