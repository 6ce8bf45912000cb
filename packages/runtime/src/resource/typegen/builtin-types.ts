import { apiVersionOf } from "@windlass/client";
import type { RecordedGoTypes } from "@windlass/kinds/go-types";
import {
  type FieldNotation,
  type FieldType,
  type Merge,
  printType,
  type Scalar,
  type TypeNotation,
} from "../builtin/notation.ts";
import { differingTypes, type GeneratedModule } from "./builtin.ts";
import {
  type BuiltinSource,
  builtinSource,
  handWritten,
  placeOf,
  reachableFrom,
  requiredFields,
} from "./builtin-source.ts";
import { clientImport } from "./kind-declaration.ts";
import { type OpenApiDocument, type OpenApiSchema, referenced } from "./openapi-schema.ts";

/** Types that the notation has a word for. */
const scalarTypes: Readonly<Record<string, Scalar>> = {
  Time: "date-time",
  MicroTime: "date-time",
  Quantity: "quantity",
  IntOrString: "int-or-string",
  FieldsV1: "object",
  RawExtension: "object",
  JSON: "any",
  JSONSchemaPropsOrArray: "any",
  JSONSchemaPropsOrBool: "any",
  JSONSchemaPropsOrStringArray: "any",
};

const scalarFormats: Readonly<Record<string, Scalar>> = {
  "string ": "string",
  "string byte": "byte",
  "string date-time": "date-time",
  "boolean ": "boolean",
  "integer int32": "int32",
  "integer int64": "int64",
  "number double": "double",
};

/**
 * Kubernetes' own types, for `builtin` to make zod schemas of: a module with the notation of their
 * fields and with their static types.
 */
export function generateBuiltinTypes(
  documents: readonly OpenApiDocument[],
  goTypes: RecordedGoTypes,
): GeneratedModule[] {
  const source = builtinSource(documents, goTypes);
  const names = source.reachable.filter((name) => !Object.hasOwn(scalarTypes, placeOf(name).type));
  return [{ name: "builtin-types", text: typesModule(names, source) }];
}

const heading = "// Generated from src/recorded by scripts/record-kubernetes.ts. Do not edit.\n";

function typesModule(names: readonly string[], source: BuiltinSource): string {
  const differing = differingTypes(source);
  const printer = new NotationPrinter(names, source);
  const modules = new Set<string>();
  const typeNames = names.map((name) => {
    const { module, type } = placeOf(name);
    const written = handWritten[type];
    if (written !== undefined) return written.write;
    modules.add(module);
    return differing.has(name) ? `${goName(name)}Input` : goName(name);
  });
  const members = names.map((name, index) => `  readonly "${goName(name)}": ${typeNames[index]};\n`);
  const texts = names.map((name) => {
    const text = printType(printer.notation(name)).replaceAll(/[\\`]|\$\{/g, "\\$&");
    return `  "${goName(name)}": \`\n${text.replaceAll(/^(?=.)/gm, "    ")}\n  \`,\n`;
  });
  const imports = [...modules]
    .sort()
    .map((module) => `import type * as ${goPackage(module)} from "./${module}.ts";\n`);
  return `${heading}${clientImport(typeNames.join("\n"), "../object.ts")}${imports.join("")}
/** Kubernetes' own types as one writes them, by the names that Go programs use. */
export interface BuiltinTypes {
${members.join("")}}

/** The fields of each type, to be read by \`parseType\`. */
export const builtinTypes: Readonly<Record<keyof BuiltinTypes, string>> = {
${texts.join("")}};
`;
}

/** `io.k8s.api.core.v1.Pod` → `corev1.Pod`, as Go programs name it. */
function goName(name: string): string {
  const { module, type } = placeOf(name);
  return `${goPackage(module)}.${type}`;
}

function goPackage(module: string): string {
  return module.replace("-", "");
}

/** Writes down types as a CRD can hold them. */
class NotationPrinter {
  readonly #source: BuiltinSource;
  readonly #keyDefaults: ReadonlyMap<string, string>;

  constructor(names: readonly string[], source: BuiltinSource) {
    this.#source = source;
    this.#keyDefaults = new Map(names.flatMap((name) => this.#defaultsOfKeys(name)));
  }

  notation(name: string): TypeNotation {
    const schema = this.#schema(name);
    const required = requiredFields(name, this.#source);
    const kind = this.#source.kinds.get(name);
    const literals = new Map(
      kind === undefined ? [] : Object.entries({ apiVersion: apiVersionOf(kind), kind: kind.kind }),
    );
    const fields = Object.entries(schema.properties ?? {}).map(([field, property]): FieldNotation => {
      const literal = literals.get(field);
      const type: FieldType =
        literal === undefined ? this.#type(property, name, field) : { at: "enum", values: [literal] };
      const merge = this.#merge(property);
      const filledIn = this.#keyDefaults.get(`${name}.${field}`);
      return {
        name: field,
        required: required.has(field),
        type,
        nullable: this.#source.isNullable(name, field),
        ...(merge === undefined ? {} : { merge }),
        ...(filledIn === undefined ? {} : { default: filledIn }),
      };
    });
    return { atomic: schema["x-kubernetes-map-type"] === "atomic", fields };
  }

  #schema(name: string): OpenApiSchema {
    return this.#source.schemas.get(name) ?? {};
  }

  /**
   * The keys of a type's lists that may be left out because the server fills them in. Of the
   * server's defaults a CRD needs these alone: it takes no list that is merged by a key which may
   * be missing.
   */
  #defaultsOfKeys(name: string): (readonly [string, string])[] {
    return Object.values(this.#schema(name).properties ?? {}).flatMap((property) => {
      const items = referenced(property.items ?? {}) ?? "";
      const { required, properties } = this.#schema(items);
      return (property["x-kubernetes-list-map-keys"] ?? []).flatMap((key) => {
        const value = properties?.[key]?.default;
        return required?.includes(key) !== true && typeof value === "string"
          ? [[`${items}.${key}`, value] as const]
          : [];
      });
    });
  }

  #type(schema: OpenApiSchema, owner: string, field: string): FieldType {
    const reference = referenced(schema);
    if (reference !== undefined) return this.#referenceType(reference, owner);
    if (schema.enum !== undefined) return { at: "enum", values: schema.enum.map(String) };
    if (schema.type === "array") {
      return { at: "list", items: this.#type(schema.items ?? {}, owner, field) };
    }
    if (schema.type === "object" && typeof schema.additionalProperties === "object") {
      return { at: "map", values: this.#type(schema.additionalProperties, owner, field) };
    }
    const scalar = scalarFormats[`${schema.type} ${schema.format ?? ""}`];
    if (scalar === undefined)
      throw new TypeError(`${owner}.${field}: no notation for ${JSON.stringify(schema)}`);
    return { at: "scalar", scalar };
  }

  #referenceType(name: string, owner: string): FieldType {
    const scalar = scalarTypes[placeOf(name).type];
    if (scalar !== undefined) return { at: "scalar", scalar };
    // A CRD cannot express a type that contains itself (`JSONSchemaProps`): inside, everything is
    // kept.
    const recursive = reachableFrom([name], this.#source.schemas).has(owner);
    return recursive ? { at: "scalar", scalar: "object" } : { at: "type", name: goName(name) };
  }

  #merge(property: OpenApiSchema): Merge | undefined {
    // Bytes are a list to Go and a string in JSON: how the list would be merged does not matter.
    if (property.type === "string") return undefined;
    const listType = property["x-kubernetes-list-type"];
    if (listType === "map") return this.#mergeByKeys(property);
    if (listType === "set" || listType === "atomic") return { as: listType };
    const mapType = property["x-kubernetes-map-type"];
    if (mapType === "atomic") return { as: mapType };
    // Maps are granular by default; a type that is atomic elsewhere is granular where this says so.
    return mapType === "granular" && referenced(property) !== undefined ? { as: mapType } : undefined;
  }

  #mergeByKeys(property: OpenApiSchema): Merge {
    const items = referenced(property.items ?? {}) ?? "";
    const [first, ...more] = property["x-kubernetes-list-map-keys"] ?? [];
    if (first === undefined) throw new TypeError(`a list of ${items} is merged by no key`);
    const always = (key: string) =>
      requiredFields(items, this.#source).has(key) || this.#keyDefaults.has(`${items}.${key}`);
    return [first, ...more].every(always) ? { as: "by", keys: [first, ...more] } : { as: "atomic" };
  }
}
