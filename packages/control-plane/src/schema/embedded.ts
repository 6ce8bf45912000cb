import { append } from "../append.ts";
import { isObject, type Json, type JsonObject } from "../json.ts";
import { field } from "../json-fields.ts";
import type { Cause } from "../status.ts";
import { invalidValue, required } from "./causes.ts";
import { shownValue } from "./go-text.ts";
import { nodeOf, nodeOfField, type SchemaNode } from "./node.ts";
import { normaliseMetadata } from "./object-meta.ts";
import { childPath, keyPath } from "./paths.ts";
import type { Schema } from "./schema.ts";

const DNS_LABEL = /^[a-z]([-a-z0-9]*[a-z0-9])?$/;

/**
 * Visits each value that the schema says is a whole resource (`x-kubernetes-embedded-resource`),
 * outermost first.
 */
function visitEmbedded(
  value: Json,
  node: SchemaNode,
  path: string,
  visit: (resource: JsonObject, path: string) => void,
): void {
  if (typeof value !== "object" || value === null || !hasEmbedded(node)) return;
  if (isObject(value)) {
    if (node.embedded) visit(value, path);
    for (const name of Object.keys(value)) {
      const child = nodeOfField(node, name);
      if (child === undefined) continue;
      const at = node.properties.has(name) ? childPath(path, name) : keyPath(path, name);
      visitEmbedded(value[name] as Json, child, at, visit);
    }
  } else if (node.items !== undefined) {
    for (const [index, item] of value.entries()) visitEmbedded(item, node.items, keyPath(path, index), visit);
  }
}

const withEmbedded = new WeakMap<Schema, boolean>();

function hasEmbedded(node: SchemaNode): boolean {
  const known = withEmbedded.get(node.schema);
  if (known !== undefined) return known;
  withEmbedded.set(node.schema, true);
  let found = node.embedded;
  for (const property of node.properties.values()) if (hasEmbedded(property)) found = true;
  if (typeof node.additional === "object" && hasEmbedded(node.additional)) found = true;
  if (node.items !== undefined && hasEmbedded(node.items)) found = true;
  withEmbedded.set(node.schema, found);
  return found;
}

/**
 * Normalises the `metadata` of embedded resources; tells unknown fields, sorted, and the first
 * thing that cannot be read.
 */
export function normaliseEmbedded(object: JsonObject, schema: Schema): { unknown: string[]; fault?: string } {
  const unknown: string[] = [];
  let fault: string | undefined;
  visitEmbedded(object, nodeOf(schema), "", (resource, path) => {
    for (const name of ["apiVersion", "kind"]) {
      const value = field(resource, name);
      if (value === undefined || typeof value === "string") continue;
      fault ??= `${childPath(path, name)}: Invalid value: ${shownValue(value)}: must be a string`;
    }
    const metadata = field(resource, "metadata");
    if (metadata === undefined) return;
    const at = childPath(path, "metadata");
    const shown = shownValue(metadata);
    const findings = normaliseMetadata(metadata, at);
    append(unknown, findings.unknown);
    if (findings.fault !== undefined) fault ??= `${at}: Invalid value: ${shown}: ${findings.fault.message}`;
  });
  unknown.sort();
  return fault === undefined ? { unknown } : { unknown, fault };
}

/** What is wrong with embedded resources as resources: each needs an apiVersion and a kind. */
export function embeddedFaults(value: Json, schema: Schema, base = ""): Cause[] {
  const causes: Cause[] = [];
  visitEmbedded(value, nodeOf(schema), base, (resource, path) => {
    for (const name of ["apiVersion", "kind"]) {
      if (!Object.hasOwn(resource, name)) causes.push(required(childPath(path, name)));
    }
    for (const name of ["apiVersion", "kind"]) {
      const value = field(resource, name);
      if (value === undefined) continue;
      const at = childPath(path, name);
      if (typeof value !== "string") causes.push(invalidValue(at, value, "must be a string"));
      else if (value === "") causes.push(invalidValue(at, value, "must not be empty"));
      else if (name === "apiVersion" && value.split("/").length > 2) {
        causes.push(invalidValue(at, value, `unexpected GroupVersion string: ${value}`));
      } else if (name === "kind") {
        const lower = value.toLowerCase();
        if (lower.length > 63 || !DNS_LABEL.test(lower)) {
          causes.push(
            invalidValue(
              at,
              value,
              `may have mixed case, but should otherwise match: ${dnsLabelFault(lower)}`,
            ),
          );
        }
      }
    }
  });
  return causes;
}

/** The words for a name that is not a DNS-1035 label. */
export function dnsLabelFault(name: string): string {
  const faults: string[] = [];
  if (name.length > 63) faults.push("must be no more than 63 bytes");
  if (!DNS_LABEL.test(name)) {
    faults.push(
      "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', regex used for validation is '[a-z]([-a-z0-9]*[a-z0-9])?')",
    );
  }
  return faults.join(",");
}
