import { append } from "../append.ts";
import { equal, isLarge, type JsonObject } from "../json.ts";
import { field, presentObjectAt, specOf, textAt, textsAt } from "../json-fields.ts";
import type { Matcher } from "../patterns/index.ts";
import {
  duplicateValue,
  forbiddenValue,
  invalidShown,
  invalidValue,
  notSupported,
  required,
  tooMany,
} from "../schema/causes.ts";
import { dnsLabelFault } from "../schema/embedded.ts";
import { goJson } from "../schema/go-text.ts";
import { internalSchema } from "../schema/internal-text.ts";
import { childPath, keyPath } from "../schema/paths.ts";
import type { Schema } from "../schema/schema.ts";
import type { Cause } from "../status.ts";
import { type Steps, turnIf } from "../steps.ts";
import { conversionFaults } from "./conversion-rules.ts";
import { defaultFaults } from "./default-rules.ts";
import { type CrdVersion, isConditionTrue, versionsOf } from "./definition.ts";
import { schemaAtFieldPath } from "./field-path.ts";
import { openApiFaults, ROOT_CONTEXT } from "./openapi-rules.ts";
import { defaultRulesOf, RuleReview } from "./rule-review.ts";
import { isConvertible, structuralFaults } from "./structural-rules.ts";

const COLUMN_TYPES = ["boolean", "date", "integer", "number", "string"];
const COLUMN_FORMATS = ["byte", "date", "date-time", "double", "float", "int32", "int64", "password"];
const MAX_SELECTABLE_FIELDS = 8;
const APPROVAL = "api-approved.kubernetes.io";
const DNS_SUBDOMAIN = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/;

/**
 * What is wrong with a CustomResourceDefinition, beyond its metadata (only the rule on its name is
 * checked here). Apply `defaultCrd` first; when the CRD has CEL rules, await `prepareCrd` first.
 * With `old`, also what an update may not change.
 */
export function* validateCrd(matcher: Matcher, crd: JsonObject, old?: JsonObject): Steps<Cause[]> {
  const spec = specOf(crd);
  const causes: Cause[] = [];
  const names = presentObjectAt(spec, "names");
  const name = textAt(presentObjectAt(crd, "metadata"), "name");
  if (old === undefined && name !== "" && name !== `${textAt(names, "plural")}.${textAt(spec, "group")}`) {
    causes.push(invalidValue("metadata.name", name, 'must be spec.names.plural+"."+spec.group'));
  }
  append(causes, yield* specFaults(matcher, crd, old));
  if (old !== undefined) append(causes, changeFaults(spec, specOf(old), isConditionTrue(old, "Established")));
  const status = presentObjectAt(crd, "status");
  append(causes, nameFaults(presentObjectAt(status, "acceptedNames"), "status.acceptedNames"));
  append(causes, storedVersionFaults(textsAt(status, "storedVersions"), versionsOf(crd)));
  append(causes, approvalFaults(crd, old));
  const preserved = old !== undefined && field(specOf(old), "preserveUnknownFields") === true;
  if (field(spec, "preserveUnknownFields") === true && !preserved) {
    const detail =
      "cannot set to true, set x-kubernetes-preserve-unknown-fields to true in spec.versions[*].schema instead";
    causes.push(invalidValue("spec.preserveUnknownFields", true, detail));
  }
  return causes;
}

/**
 * What versions have in common stands at the top in the API server's own form, and errors name it
 * there.
 */
function sharedBy<T>(versions: readonly CrdVersion[], part: (version: CrdVersion) => T): boolean {
  const [first] = versions;
  return first !== undefined && versions.every((version) => equal(part(version), part(first)));
}

function* specFaults(matcher: Matcher, crd: JsonObject, old: JsonObject | undefined): Steps<Cause[]> {
  const causes: Cause[] = [];
  const spec = specOf(crd);
  const versions = versionsOf(crd);
  const isSlow = isLarge(crd);
  const names = presentObjectAt(spec, "names");
  append(causes, groupFaults(textAt(spec, "group")));
  const scope = textAt(spec, "scope");
  if (scope === "") causes.push(required("spec.scope"));
  else if (scope !== "Cluster" && scope !== "Namespaced") {
    causes.push(notSupported("spec.scope", scope, ["Cluster", "Namespaced"]));
  }

  const sharedSchema = sharedBy(versions, (version) => version.raw.schema);
  const sharedSubresources = sharedBy(versions, (version) => version.raw.subresources);
  const sharedColumns = sharedBy(versions, (version) => version.columns);
  const sharedFields = sharedBy(versions, (version) => version.selectableFields);
  for (const [index, version] of versions.entries()) {
    if (version.schema === undefined) {
      causes.push(required(`spec.versions[${index}].schema.openAPIV3Schema`));
    }
  }
  for (const [index, version] of versions.entries()) {
    const path = keyPath("spec.versions", index);
    const label = dnsLabelFault(version.name);
    if (label !== "") causes.push(invalidValue(childPath(path, "name"), version.name, label));
    append(causes, deprecationFaults(version.raw, childPath(path, "deprecationWarning")));
    const { schema } = version;
    if (!sharedSchema && schema !== undefined) {
      const hasStatus = presentObjectAt(version.subresources, "status") !== undefined;
      const at = childPath(path, "schema.openAPIV3Schema");
      append(causes, yield* schemaFaults(matcher, schema, at, hasStatus, old, version.name, isSlow));
    }
    if (!sharedSubresources) append(causes, subresourceFaults(version, childPath(path, "subresources")));
    if (!sharedColumns) append(causes, columnFaults(version, childPath(path, "additionalPrinterColumns")));
    if (!sharedFields) append(causes, selectableFaults(version, childPath(path, "selectableFields")));
  }
  const shown = `[${versions.map(shownVersion).join(",")}]`;
  if (new Set(versions.map((version) => version.name)).size < versions.length) {
    causes.push(invalidShown("spec.versions", shown, "must contain unique version names"));
  }
  if (versions.filter((version) => version.storage).length !== 1) {
    causes.push(
      invalidShown("spec.versions", shown, "must have exactly one version marked as storage version"),
    );
  }
  const [first] = versions;
  const firstLabel = first === undefined ? "" : dnsLabelFault(first.name);
  if (first !== undefined && first.name !== "" && firstLabel !== "") {
    causes.push(invalidValue("spec.version", first.name, firstLabel));
  }
  for (const part of ["plural", "singular", "kind", "listKind"]) {
    if (textAt(names, part) === "") causes.push(required(`spec.names.${part}`));
  }
  append(causes, nameFaults(names, "spec.names"));

  if (first !== undefined) {
    if (sharedSchema && first.schema !== undefined) {
      const hasStatus = versions.some(
        (version) => presentObjectAt(version.subresources, "status") !== undefined,
      );
      const at = "spec.validation.openAPIV3Schema";
      append(causes, yield* schemaFaults(matcher, first.schema, at, hasStatus, old, first.name, isSlow));
    }
    if (sharedSubresources) append(causes, subresourceFaults(first, "spec.subresources"));
    if (sharedColumns) append(causes, columnFaults(first, "spec.additionalPrinterColumns"));
    if (sharedFields) append(causes, selectableFaults(first, "spec.selectableFields"));
  }
  append(causes, conversionFaults(presentObjectAt(spec, "conversion")));
  return causes;
}

/** A version in the API server's internal form, without the parts that stand at the top there. */
function shownVersion(version: CrdVersion): string {
  const warning = goJson(field(version.raw, "deprecationWarning") ?? null);
  const deprecated = field(version.raw, "deprecated") === true;
  return (
    `{"Name":${goJson(version.name)},"Served":${version.served},"Storage":${version.storage},` +
    `"Deprecated":${deprecated},"DeprecationWarning":${warning},"Schema":null,"Subresources":null,` +
    `"AdditionalPrinterColumns":null,"SelectableFields":null}`
  );
}

function groupFaults(group: string): Cause[] {
  if (group === "") return [required("spec.group")];
  const faults: string[] = [];
  if (group.length > 253) faults.push("must be no more than 253 bytes");
  if (!DNS_SUBDOMAIN.test(group)) {
    faults.push(
      "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')",
    );
  }
  if (faults.length > 0) return [invalidValue("spec.group", group, faults.join(","))];
  if (!group.includes(".")) {
    return [invalidValue("spec.group", group, "should be a domain with at least one dot")];
  }
  return [];
}

/** Keywords of a root schema that survive when `status` is validated on its own. */
const KEPT_AT_ROOT = new Set([
  "type",
  "description",
  "format",
  "title",
  "maximum",
  "exclusiveMaximum",
  "minimum",
  "exclusiveMinimum",
  "maxLength",
  "minLength",
  "pattern",
  "maxItems",
  "minItems",
  "uniqueItems",
  "multipleOf",
  "required",
  "enum",
  "items",
  "properties",
  "externalDocs",
  "example",
  "x-kubernetes-preserve-unknown-fields",
  "x-kubernetes-validations",
]);

function* schemaFaults(
  matcher: Matcher,
  schema: Schema,
  path: string,
  hasStatus: boolean,
  old: JsonObject | undefined,
  version: string,
  isSlow: boolean,
): Steps<Cause[]> {
  const causes: Cause[] = [];
  if (hasStatus) {
    const stray = Object.keys(schema).some((key) => !KEPT_AT_ROOT.has(key) && key !== "nullable");
    if (schema.type !== undefined && schema.type !== "object") {
      const detail =
        'only "object" is allowed as the type at the root of the schema if the status subresource is enabled';
      causes.push(invalidValue(`${path}.type`, schema.type, detail));
    } else if (stray) {
      const detail =
        "only [Description Type Format Title Maximum ExclusiveMaximum Minimum ExclusiveMinimum MaxLength MinLength Pattern MaxItems MinItems UniqueItems MultipleOf Required Items Properties ExternalDocs Example XPreserveUnknownFields XValidations] fields are allowed at the root of the schema if the status subresource is enabled";
      causes.push(invalidShown(path, internalSchema(schema), detail));
    }
  }
  if (schema.nullable === true) {
    causes.push(forbiddenValue(`${path}.nullable`, "nullable cannot be true at the root"));
  }
  const convertible = isConvertible(schema);
  yield* turnIf(isSlow);
  const structural = yield* matcher.attempt(() =>
    convertible ? structuralFaults(schema, path, matcher) : [],
  );
  append(causes, structural);
  yield* turnIf(isSlow);
  const defaults =
    !convertible || structural.length > 0 ? [] : yield* defaultFaults(matcher, schema, path, defaultRulesOf);
  append(causes, defaults);
  const sound = convertible && structural.length === 0 && defaults.length === 0;
  const oldVersion = old && versionsOf(old).find(({ name }) => name === version);
  const unchanged = equal(oldVersion?.schema, schema);
  yield* turnIf(isSlow);
  const rules = yield* matcher.attempt(() => {
    const review = new RuleReview(schema, path, { unchanged, matcher });
    const openApi = openApiFaults(schema, path, true, ROOT_CONTEXT, (node, at, context) => {
      if (sound) review.visit(node, at, context);
    });
    return [...openApi, ...review.faults()];
  });
  return [...causes, ...rules];
}

function nameFaults(names: JsonObject | undefined, path: string): Cause[] {
  const causes: Cause[] = [];
  const label = (value: string, at: string, prefix = ""): void => {
    const fault = dnsLabelFault(prefix === "" ? value : value.toLowerCase());
    if (value !== "" && fault !== "") causes.push(invalidValue(at, value, `${prefix}${fault}`));
  };
  const mixed = "may have mixed case, but should otherwise match: ";
  label(textAt(names, "plural"), `${path}.plural`);
  label(textAt(names, "singular"), `${path}.singular`);
  label(textAt(names, "kind"), `${path}.kind`, mixed);
  label(textAt(names, "listKind"), `${path}.listKind`, mixed);
  for (const [index, name] of textsAt(names, "shortNames").entries()) {
    const fault = dnsLabelFault(name);
    if (fault !== "") causes.push(invalidValue(keyPath(`${path}.shortNames`, index), name, fault));
  }
  const kind = textAt(names, "kind");
  if (kind !== "" && kind === textAt(names, "listKind")) {
    causes.push(invalidValue(`${path}.listKind`, kind, "kind and listKind may not be the same"));
  }
  for (const [index, name] of textsAt(names, "categories").entries()) {
    const fault = dnsLabelFault(name);
    if (fault !== "") causes.push(invalidValue(keyPath(`${path}.categories`, index), name, fault));
  }
  return causes;
}

function deprecationFaults(version: JsonObject, path: string): Cause[] {
  const warning = field(version, "deprecationWarning");
  if (typeof warning !== "string") return [];
  const fault = (detail: string): Cause => invalidShown(path, goJson(warning), detail);
  if (field(version, "deprecated") !== true) return [fault("can only be set for deprecated versions")];
  const causes: Cause[] = [];
  if (Buffer.byteLength(warning) > 256) causes.push(fault("must be <= 256 characters long"));
  if (warning === "") causes.push(fault("must not be an empty string"));
  const odd = /[^\p{L}\p{M}\p{N}\p{P}\p{S} ]/u.exec(warning);
  if (odd !== null) {
    const index = Buffer.byteLength(warning.slice(0, odd.index));
    const detail = `must only contain printable UTF-8 characters; non-printable character found at index ${index}`;
    causes.push(fault(detail));
  }
  return causes;
}

function pathFault(path: string, at: string): Cause | undefined {
  return path.startsWith(".")
    ? undefined
    : invalidValue(at, path, "must be a simple json path starting with .");
}

function subresourceFaults(version: CrdVersion, path: string): Cause[] {
  const scale = presentObjectAt(version.subresources, "scale");
  if (scale === undefined) return [];
  const causes: Cause[] = [];
  for (const [name, prefix] of [
    ["specReplicasPath", ".spec"],
    ["statusReplicasPath", ".status"],
  ] as const) {
    const value = textAt(scale, name);
    const at = `${path}.scale.${name}`;
    const fault = pathFault(value, at);
    if (value === "") causes.push(required(at));
    else if (fault !== undefined) causes.push(fault);
    else if (!value.startsWith(`${prefix}.`)) {
      causes.push(invalidValue(at, value, `should be a json path under ${prefix}`));
    }
  }
  const selector = textAt(scale, "labelSelectorPath");
  if (selector !== "") {
    const at = `${path}.scale.labelSelectorPath`;
    const fault = pathFault(selector, at);
    if (fault !== undefined) causes.push(fault);
    else if (!selector.startsWith(".spec.") && !selector.startsWith(".status.")) {
      causes.push(invalidValue(at, selector, "should be a json path under either .spec or .status"));
    }
  }
  return causes;
}

function columnFaults(version: CrdVersion, path: string): Cause[] {
  const causes: Cause[] = [];
  for (const [index, column] of version.columns.entries()) {
    const at = keyPath(path, index);
    const type = textAt(column, "type");
    const format = textAt(column, "format");
    const jsonPath = textAt(column, "jsonPath");
    const types = `must be one of ${COLUMN_TYPES.join(",")}`;
    if (textAt(column, "name") === "") causes.push(required(childPath(at, "name")));
    if (type === "") causes.push(required(childPath(at, "type"), types));
    else if (!COLUMN_TYPES.includes(type)) causes.push(invalidValue(childPath(at, "type"), type, types));
    if (format !== "" && !COLUMN_FORMATS.includes(format)) {
      causes.push(
        invalidValue(childPath(at, "format"), format, `must be one of ${COLUMN_FORMATS.join(",")}`),
      );
    }
    const fault = pathFault(jsonPath, childPath(at, "JSONPath"));
    if (jsonPath === "") causes.push(required(childPath(at, "JSONPath")));
    else if (fault !== undefined) causes.push(fault);
  }
  return causes;
}

function selectableFaults(version: CrdVersion, path: string): Cause[] {
  const { schema } = version;
  if (version.selectableFields.length === 0 || schema === undefined) return [];
  const causes: Cause[] = [];
  const seen = new Set<string>();
  for (const [index, selectable] of version.selectableFields.entries()) {
    const at = childPath(keyPath(path, index), "jsonPath");
    const jsonPath = textAt(selectable, "jsonPath");
    if (jsonPath === "") {
      causes.push(required(at));
      continue;
    }
    const found = schemaAtFieldPath(jsonPath, schema, "forbidden");
    if (found.fault !== undefined) {
      causes.push(invalidValue(at, jsonPath, `is an invalid path: ${found.fault}`));
      continue;
    }
    if (found.path === "metadata" || /^metadata[.[]/.test(found.path)) {
      causes.push(invalidValue(at, jsonPath, "must not point to fields in metadata"));
    }
    if (!["string", "boolean", "integer"].includes(found.schema?.type ?? "")) {
      const detail =
        "must point to a field of type string, boolean or integer. Enum string fields and strings with formats are allowed.";
      causes.push(invalidValue(at, jsonPath, detail));
    }
    if (seen.has(found.path)) causes.push(duplicateValue(at, jsonPath));
    seen.add(found.path);
  }
  if (seen.size > MAX_SELECTABLE_FIELDS) causes.push(tooMany(path, seen.size, MAX_SELECTABLE_FIELDS));
  return causes;
}

function changeFaults(spec: JsonObject, old: JsonObject, established: boolean): Cause[] {
  const causes: Cause[] = [];
  const fixed = (path: string, value: string, was: string): void => {
    if (value !== was) causes.push(invalidValue(path, value, "field is immutable"));
  };
  const names = presentObjectAt(spec, "names");
  const oldNames = presentObjectAt(old, "names");
  if (established) {
    fixed("spec.scope", textAt(spec, "scope"), textAt(old, "scope"));
    fixed("spec.names.kind", textAt(names, "kind"), textAt(oldNames, "kind"));
  }
  fixed("spec.group", textAt(spec, "group"), textAt(old, "group"));
  fixed("spec.names.plural", textAt(names, "plural"), textAt(oldNames, "plural"));
  return causes;
}

function storedVersionFaults(stored: readonly string[], versions: readonly CrdVersion[]): Cause[] {
  const path = "status.storedVersions";
  if (stored.length === 0) return [invalidValue(path, null, "must have at least one stored version")];
  const causes: Cause[] = [];
  for (const version of versions) {
    if (version.storage && !stored.includes(version.name)) {
      causes.push(invalidValue(path, [...stored], `must have the storage version ${version.name}`));
    }
  }
  for (const [index, name] of stored.entries()) {
    if (versions.some((version) => version.name === name)) continue;
    const detail = `missing from spec.versions; ${name} was previously a storage version, and must remain in spec.versions until a storage migration ensures no data remains persisted in ${name} and removes ${name} from status.storedVersions`;
    causes.push(invalidValue(keyPath(path, index), name, detail));
  }
  return causes;
}

type Approval = "missing" | "bypassed" | "approved" | "invalid";

function approvalOf(crd: JsonObject): { state: Approval; annotation: string } {
  const annotation = textAt(presentObjectAt(presentObjectAt(crd, "metadata"), "annotations"), APPROVAL);
  if (annotation === "") return { state: "missing", annotation };
  if (annotation.startsWith("unapproved")) return { state: "bypassed", annotation };
  return { state: URL.parse(annotation)?.host ? "approved" : "invalid", annotation };
}

/** Groups of the Kubernetes community want a word that the API was approved. */
function approvalFaults(crd: JsonObject, old: JsonObject | undefined): Cause[] {
  const group = textAt(specOf(crd), "group");
  if (!/(^|\.)(k8s|kubernetes)\.io$/.test(group)) return [];
  const { state, annotation } = approvalOf(crd);
  if (old !== undefined && approvalOf(old).state === state) return [];
  const path = keyPath("metadata.annotations", APPROVAL);
  const need = `protected groups must have approval annotation "${APPROVAL}"`;
  const see = "see https://github.com/kubernetes/enhancements/pull/1111";
  if (state === "missing") return [required(path, `${need}, ${see}`)];
  if (state === "invalid") {
    const detail = `${need} with either a URL or a reason starting with "unapproved", ${see}`;
    return [invalidValue(path, annotation, detail)];
  }
  return [];
}
