import type { Problems } from "./refusal.ts";

const label = /^[a-z]([-a-z0-9]*[a-z0-9])?$/;
const subdomain = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/;

/** The names by which a kind is known to the API and to `kubectl`. */
export interface ResourceNames {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  readonly plural: string;
  readonly singular: string;
  readonly shortNames: readonly string[];
  readonly categories: readonly string[];
}

/** The plural that `kubectl` users would guess: `webapps`, `policies`, `gateways`, `ingresses`. */
export function pluralOf(kind: string): string {
  const word = kind.toLowerCase();
  if (/(?:s|x|z|ch|sh)$/.test(word)) return `${word}es`;
  if (/[^aeiou]y$/.test(word)) return `${word.slice(0, -1)}ies`;
  return `${word}s`;
}

/** Adds a problem for every name that the API server would not take. */
export function checkNames(names: ResourceNames, problems: Problems): void {
  if (!subdomain.test(names.group) || !names.group.includes(".")) {
    problems.add("group", `${quoted(names.group)} must be a domain name with a dot, such as example.com`);
  }
  checkLabel("version", names.version, "v1 or v1beta1", problems);
  checkLabel("plural", names.plural, "webapps", problems);
  checkLabel("singular", names.singular, "webapp", problems);
  if (!label.test(names.kind.toLowerCase()) || names.kind.length > 63) {
    problems.add("kind", `${quoted(names.kind)} must be a word in CamelCase, such as WebApp`);
  }
  if (`${names.plural}.${names.group}`.length > 253) {
    problems.add("plural", `${names.plural}.${names.group} must not be longer than 253 characters`);
  }
  checkList("shortNames", names.shortNames, "wa", problems);
  checkList("categories", names.categories, "all", problems);
  for (const [index, name] of names.shortNames.entries()) {
    if (name === names.plural || name === names.singular) {
      problems.add(`shortNames[${index}]`, `${quoted(name)} is the kind's own name already`);
    }
  }
}

function checkList(path: string, list: readonly string[], example: string, problems: Problems): void {
  for (const [index, name] of list.entries()) {
    checkLabel(`${path}[${index}]`, name, example, problems);
    if (list.indexOf(name) !== index) problems.add(`${path}[${index}]`, `${quoted(name)} is listed twice`);
  }
}

function checkLabel(path: string, name: string, example: string, problems: Problems): void {
  if (label.test(name) && name.length <= 63) return;
  problems.add(
    path,
    `${quoted(name)} must be lower-case letters, digits and dashes, start with a letter, end with a letter or digit, and have at most 63 characters, such as ${example}`,
  );
}

/** Groups that belong to Kubernetes itself: a CRD there needs an approval annotation. */
export function isProtectedGroup(group: string): boolean {
  return /(^|\.)(k8s|kubernetes)\.io$/.test(group);
}

function quoted(text: string): string {
  return JSON.stringify(text);
}
