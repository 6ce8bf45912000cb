import { ResourceDefinitionError } from "../refusal.ts";
import { clientTypes } from "./kind-declaration.ts";

const label = /^[a-z]([-a-z0-9]{0,61}[a-z0-9])?$/;
const subdomain = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/;
const labelWords = "must be letters, digits and dashes, and begin with a letter";

/**
 * Refuses a definition that no server would have taken: it may come from a file. Its names become
 * names of types, and of files.
 *
 * @param spec of a CustomResourceDefinition
 * @param wanted the version that types are generated for, if one is named
 * @throws ResourceDefinitionError naming the fields at fault
 */
export function checkDefinition(spec: unknown, wanted: string | undefined): void {
  const problems: { readonly path: string; readonly message: string }[] = [];
  const { group, names, versions } = fieldsOf(spec);
  const { kind, plural } = fieldsOf(names);
  const check = (isGood: boolean, path: string, message: string) => {
    if (!isGood) problems.push({ path, message });
  };
  check(typeof group === "string" && subdomain.test(group), "spec.group", "must be a domain name");
  check(typeof kind === "string" && label.test(kind.toLowerCase()), "spec.names.kind", labelWords);
  const imported: readonly unknown[] = clientTypes;
  check(!imported.includes(kind), "spec.names.kind", "is the name of a type that generated code imports");
  check(typeof plural === "string" && label.test(plural), "spec.names.plural", labelWords);
  const isList = Array.isArray(versions) && versions.length > 0;
  check(isList, "spec.versions", "must list at least one version");
  for (const [index, version] of (isList ? versions : []).entries()) {
    const { name, schema } = fieldsOf(version);
    const path = `spec.versions[${index}]`;
    check(typeof name === "string" && label.test(name), `${path}.name`, labelWords);
    const root = fieldsOf(schema).openAPIV3Schema;
    const fault = root === undefined ? undefined : schemaFault(root, `${path}.schema.openAPIV3Schema`);
    if (fault !== undefined) check(false, fault, "must be a schema: an object");
  }
  const isServed = isList && versions.some((version) => fieldsOf(version).served !== false);
  check(!isList || wanted !== undefined || isServed, "spec.versions", "none is served: name a version");
  if (problems.length > 0)
    throw new ResourceDefinitionError(`CustomResourceDefinition of ${JSON.stringify(kind)}`, problems);
}

/** The path of the first malformed part of a schema. */
function schemaFault(schema: unknown, path: string): string | undefined {
  if (!isObject(schema)) return path;
  const { properties, items, additionalProperties: values } = schema;
  if (properties !== undefined && !isObject(properties)) return `${path}.properties`;
  const parts = Object.entries(properties ?? {}).map(([name, one]) => [`properties.${name}`, one] as const);
  const others = [["items", items] as const, ["additionalProperties", values] as const];
  for (const [name, part] of [...parts, ...others.filter(([, one]) => typeof one === "object")]) {
    const fault = schemaFault(part, `${path}.${name}`);
    if (fault !== undefined) return fault;
  }
  return undefined;
}

function isObject(value: unknown): value is Readonly<{ [field: string]: unknown }> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function fieldsOf(value: unknown): Readonly<{ [field: string]: unknown }> {
  return isObject(value) ? value : {};
}
