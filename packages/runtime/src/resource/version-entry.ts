import type {
  CustomResourceColumnDefinition,
  CustomResourceDefinitionVersion,
} from "@windlass/kinds/builtin";
import type { $ZodType } from "zod/v4/core";
import { commonStatus } from "./condition.ts";
import type { ResourceDefinition } from "./definition.ts";
import { follow, segmentsOf } from "./field-path.ts";
import { structuralSchema } from "./from-zod.ts";
import type { Problems } from "./refusal.ts";
import { type StructuralSchema, setOwn } from "./structural.ts";
import { checkStructure } from "./structural-rules.ts";

/** The schema of a whole object of the kind, metadata included. */
export function objectSchemaOf(definition: ResourceDefinition, problems: Problems): StructuralSchema {
  const spec = structuralSchema(definition.spec, "spec", problems);
  if (spec.type !== "object") problems.add("spec", "must be an object: use z.object({ … })");
  const properties: Record<string, StructuralSchema> = {
    apiVersion: { type: "string" },
    kind: { type: "string" },
    metadata: { type: "object" },
    spec,
  };
  if (definition.status !== undefined) properties.status = statusSchema(definition.status, problems);
  const root: StructuralSchema = { type: "object", properties };
  if (definition.description !== undefined) root.description = definition.description;
  if (definition.spec._zod.optin === undefined) root.required = ["spec"];
  if (definition.validations !== undefined && definition.validations.length > 0) {
    root["x-kubernetes-validations"] = definition.validations.map((rule) => ({ ...rule }));
  }
  checkStructure({ ...root, properties: { ...properties, metadata: visibleMetadata } }, "", problems);
  return root;
}

/** Of its metadata, a rule sees these fields alone. */
const visibleMetadata: StructuralSchema = {
  type: "object",
  properties: { name: { type: "string" }, generateName: { type: "string" } },
};

function statusSchema(schema: $ZodType, problems: Problems): StructuralSchema {
  const status = structuralSchema(schema, "status", problems);
  if (status.type !== "object" || status.additionalProperties !== undefined) {
    problems.add("status", "must be an object with named fields: use z.object({ … })");
    return status;
  }
  if (schema._zod.optin !== undefined || status.default !== undefined) {
    problems.add("status", "is always optional and never defaulted: leave .optional() and .default() out");
  }
  const properties = { ...status.properties };
  for (const [name, field] of Object.entries(commonStatus)) {
    if (!Object.hasOwn(properties, name)) {
      setOwn(properties, name, structuralSchema(field, `status.${name}`, problems));
    }
  }
  return { ...status, properties };
}

/** The entry of a CRD for one version. */
export function versionEntry(
  definition: ResourceDefinition,
  storage: boolean,
  problems: Problems,
): CustomResourceDefinitionVersion {
  const schema = objectSchemaOf(definition, problems);
  const columns = printerColumns(definition, schema, problems);
  const selectable = selectableFields(definition, schema, problems);
  const scale = scaleSubresource(definition, schema, problems);
  const { served = true, deprecated } = definition;
  if (deprecated !== undefined && !/^[\P{C}]{1,256}$/u.test(deprecated)) {
    problems.add("deprecated", "the warning must be one line of at most 256 printable characters");
  }
  return {
    name: definition.version,
    served,
    storage,
    ...(deprecated === undefined ? {} : { deprecated: true, deprecationWarning: deprecated }),
    schema: { openAPIV3Schema: schema },
    ...(definition.status === undefined && scale === undefined
      ? {}
      : {
          subresources: {
            ...(definition.status === undefined ? {} : { status: {} }),
            ...(scale === undefined ? {} : { scale }),
          },
        }),
    ...(columns.length === 0 ? {} : { additionalPrinterColumns: columns }),
    ...(selectable.length === 0 ? {} : { selectableFields: selectable }),
  };
}

const columnTypes = ["string", "integer", "number", "boolean", "date"];
const columnFormats = ["int32", "int64", "float", "double", "byte", "date", "date-time", "password"];

function printerColumns(
  definition: ResourceDefinition,
  schema: StructuralSchema,
  problems: Problems,
): CustomResourceColumnDefinition[] {
  return (definition.printerColumns ?? []).map((column, index) => {
    const path = `printerColumns[${index}]`;
    const { type = "string" } = column;
    if (column.name === "") problems.add(`${path}.name`, "must not be empty");
    if (!columnTypes.includes(type)) problems.add(`${path}.type`, `must be one of ${columnTypes.join(", ")}`);
    if (column.format !== undefined && !columnFormats.includes(column.format)) {
      problems.add(`${path}.format`, `must be one of ${columnFormats.join(", ")}`);
    }
    checkColumnPath(column.jsonPath, `${path}.jsonPath`, schema, problems);
    return { ...column, type };
  });
}

function checkColumnPath(jsonPath: string, path: string, schema: StructuralSchema, problems: Problems): void {
  if (!jsonPath.startsWith(".")) {
    problems.add(path, `${JSON.stringify(jsonPath)} must start with a dot, as in .status.phase`);
    return;
  }
  if (/[{}]/.test(jsonPath) || jsonPath.endsWith(".") || unclosed(jsonPath)) {
    problems.add(path, `${JSON.stringify(jsonPath)} is not a JSONPath; write it bare, as in .status.phase`);
    return;
  }
  const segments = segmentsOf(jsonPath);
  if (segments === undefined || segments[0] === "metadata") return;
  const target = follow(schema, segments);
  if (target.at === "nothing") {
    problems.add(path, `${jsonPath} leads nowhere: the schema has no ${target.missing}`);
  }
}

function unclosed(jsonPath: string): boolean {
  const bare = jsonPath.replaceAll(/'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"/g, "");
  const count = (character: string) => bare.split(character).length;
  return count("[") !== count("]") || count("(") !== count(")") || /['"]/.test(bare);
}

const mostSelectable = 8;

function selectableFields(
  definition: ResourceDefinition,
  schema: StructuralSchema,
  problems: Problems,
): { readonly jsonPath: string }[] {
  const paths = definition.selectableFields ?? [];
  if (paths.length > mostSelectable) {
    problems.add(
      "selectableFields",
      `has ${paths.length} fields; the API server takes at most ${mostSelectable}`,
    );
  }
  for (const [index, jsonPath] of paths.entries()) {
    const path = `selectableFields[${index}]`;
    if (paths.indexOf(jsonPath) !== index) problems.add(path, `${jsonPath} is listed twice`);
    const target = plainField(jsonPath, path, schema, problems);
    if (target === undefined) continue;
    if (/^\.(?:metadata|apiVersion|kind)\b/.test(jsonPath)) {
      problems.add(
        path,
        `${jsonPath} is selectable by itself or never; only fields of spec and status can be listed`,
      );
    } else if (!["string", "boolean", "integer"].includes(target.type ?? "")) {
      problems.add(path, `${jsonPath} must be a string, a boolean or an integer`);
    }
  }
  return paths.map((jsonPath) => ({ jsonPath }));
}

interface ScalePaths {
  readonly specReplicasPath: string;
  readonly statusReplicasPath: string;
  readonly labelSelectorPath?: string;
}

function scaleSubresource(
  definition: ResourceDefinition,
  schema: StructuralSchema,
  problems: Problems,
): ScalePaths | undefined {
  if (definition.scale === undefined) return undefined;
  const scale: ScalePaths = {
    specReplicasPath: ".spec.replicas",
    statusReplicasPath: ".status.replicas",
    ...definition.scale,
  };
  const check = (name: keyof ScalePaths, under: RegExp, type: string) => {
    const jsonPath = scale[name];
    if (jsonPath === undefined) return;
    const path = `scale.${name}`;
    if (!under.test(jsonPath)) {
      problems.add(
        path,
        `${jsonPath} must lie under ${under.source.replaceAll(/[\\^]|\(\?:|\)/g, "").replace("|", " or ")}`,
      );
      return;
    }
    const node = plainField(jsonPath, path, schema, problems);
    if (node !== undefined && node.type !== type)
      problems.add(path, `${jsonPath} must be a field of type ${type}`);
  };
  check("specReplicasPath", /^\.spec\./, "integer");
  check("statusReplicasPath", /^\.status\./, "integer");
  check("labelSelectorPath", /^(?:\.spec\.|\.status\.)/, "string");
  return scale;
}

/** The node at a path of plain field names; a problem where there is none. */
function plainField(
  jsonPath: string,
  path: string,
  schema: StructuralSchema,
  problems: Problems,
): StructuralSchema | undefined {
  const segments = segmentsOf(jsonPath);
  if (segments === undefined || segments.length === 0 || jsonPath.includes("[")) {
    problems.add(
      path,
      `${JSON.stringify(jsonPath)} must be field names joined by dots, as in .spec.replicas`,
    );
    return undefined;
  }
  const target = follow(schema, segments);
  if (target.at === "field") return target.node;
  const missing = target.at === "nothing" ? target.missing : jsonPath;
  problems.add(path, `${jsonPath} leads nowhere: the schema has no ${missing}`);
  return undefined;
}
