import { type JsonObject, textOf } from "../json.ts";
import { valueAt } from "../json-fields.ts";
import { badRequest, StatusError } from "../status.ts";
import type { Resource } from "./resource.ts";

export interface FieldRequirement {
  readonly path: string;
  readonly operator: "=" | "!=";
  readonly value: string;
}

/**
 * Splits a `fieldSelector` query parameter. Commas, equals signs and backslashes in a value are
 * escaped by a backslash.
 *
 * @throws StatusError 400, in the words of the real server.
 */
export function parseFieldSelector(text: string): FieldRequirement[] {
  const requirements: FieldRequirement[] = [];
  // In the order of the real server, which finds the first fault, and the first name, in it.
  for (const term of splitTerms(text).sort()) {
    if (term === "") continue;
    const match = /^((?:\\.|[^=!\\])*)(!=|==|=)(.*)$/s.exec(term);
    if (!match) throw badRequest(`invalid selector: '${text}'; can't understand '${term}'`);
    requirements.push({
      path: unescapeTerm(match[1] as string),
      operator: match[2] === "!=" ? "!=" : "=",
      value: unescapeTerm(match[3] as string),
    });
  }
  return requirements;
}

/**
 * The name that objects must have to be selected, if it can be part of a path: lists and watches
 * are authorized for it.
 */
export function selectedName(selector: string): string | undefined {
  let requirements: readonly FieldRequirement[];
  try {
    requirements = parseFieldSelector(selector);
  } catch (error) {
    // The list itself is refused later.
    if (error instanceof StatusError) return undefined;
    throw error;
  }
  const exact = requirements.find(({ path, operator }) => path === "metadata.name" && operator === "=");
  const name = exact?.value ?? "";
  return name === "" || name === "." || name === ".." || /[/%]/.test(name) ? undefined : name;
}

function splitTerms(text: string): string[] {
  const terms: string[] = [];
  let start = 0;
  for (let i = 0; i < text.length; i++) {
    if (text[i] === "\\") i++;
    else if (text[i] === ",") {
      terms.push(text.slice(start, i));
      start = i + 1;
    }
  }
  terms.push(text.slice(start));
  return terms;
}

function unescapeTerm(text: string): string {
  return text.replace(/\\(.?)/gs, (sequence, character: string) => {
    if (character === "\\" || character === "," || character === "=") return character;
    throw badRequest(`invalid field selector: invalid escape sequence: ${sequence}`);
  });
}

/** Whether an object matches a field selector of its kind. */
export type FieldMatcher = (object: JsonObject) => boolean;

/** @throws StatusError 400 for a field that cannot be selected by. */
export function fieldMatcher(
  { info, selectableFields }: Pick<Resource, "info" | "selectableFields">,
  requirements: readonly FieldRequirement[],
): FieldMatcher {
  for (const { path } of requirements) {
    if (path === "metadata.name" || path === "metadata.namespace") continue;
    if (selectableFields.includes(path)) continue;
    throw badRequest(
      selectableFields.length > 0 || info.origin === "custom"
        ? `field label not supported: ${path}`
        : `"${path}" is not a known field selector: only "metadata.name", "metadata.namespace"`,
    );
  }
  // There are few fields to select by, and any number of requirements.
  const wanted = Map.groupBy(requirements, ({ path }) => path);
  const paths = Array.from(wanted, ([path, all]) => ({
    path,
    equal: new Set(all.flatMap(({ operator, value }) => (operator === "=" ? [value] : []))),
    unequal: new Set(all.flatMap(({ operator, value }) => (operator === "=" ? [] : [value]))),
  }));
  return (object) =>
    paths.every(({ path, equal, unequal }) => {
      const text = selectedText(object, path);
      return !unequal.has(text) && (equal.size === 0 || (equal.size === 1 && equal.has(text)));
    });
}

/** Events are stored in their core form, whichever form they are asked for in. */
const storedPaths = new Map([["reportingController", "reportingComponent"]]);

function selectedText(object: JsonObject, path: string): string {
  if (path === "status.podIPs") {
    const ips = (valueAt(object, "status", "podIPs") ?? []) as { ip: string }[];
    return ips.map(({ ip }) => ip).join(",");
  }
  if (path === "source") {
    return textOf(valueAt(object, "source", "component") ?? valueAt(object, "reportingComponent") ?? "");
  }
  if (path === "status.successful") return textOf(valueAt(object, "status", "succeeded") ?? 0);
  const value = valueAt(
    object,
    ...(storedPaths.get(path) ?? path.replace(/^regarding\./, "involvedObject.")).split("."),
  );
  if (value === undefined || value === null) {
    return path === "spec.unschedulable" || path === "spec.hostNetwork" ? "false" : "";
  }
  return textOf(value);
}
