import { UsageError } from "../errors.ts";

/** What a new operator and its kind are called. */
export interface OperatorNames {
  /** The name of the folder and of the npm package: `shop`. */
  readonly project: string;
  /** The name of the Deployment, the lease and the roles: `shop-operator`. */
  readonly operator: string;
  /** Where it is installed: `shop-system`. */
  readonly namespace: string;
  /** The API group: `example.com`. */
  readonly group: string;
  /** The kind: `ShopItem`. */
  readonly kind: string;
  /** What kubectl calls one of it: `shopitem`. */
  readonly singular: string;
  /** What kubectl calls many of it: `shopitems`. */
  readonly plural: string;
  /** What a variable is called: `shopItem`. */
  readonly variable: string;
}

const label = /^[a-z]([-a-z0-9]*[a-z0-9])?$/;
const domain = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)+$/;
const suffix = "-operator";
const longestBase = 40 - suffix.length;

/**
 * Kinds of Kubernetes that the new operator uses itself, words that mean something else in YAML,
 * and those of JavaScript.
 */
const taken = new Set([
  "Deployment",
  "Service",
  "True",
  "False",
  "Null",
  "Yes",
  "No",
  "On",
  "Off",

  "Array",
  "BigInt",
  "Boolean",
  "Date",
  "Error",
  "Function",
  "Infinity",
  "Iterator",
  "JSON",
  "Map",
  "Math",
  "NaN",
  "Number",
  "Object",
  "Promise",
  "Proxy",
  "Reflect",
  "RegExp",
  "Set",
  "String",
  "Symbol",
]);

/** The kind that an operator is probably for: `shop-item-operator` → `ShopItem`. */
export function kindFor(project: string): string {
  return withoutSuffix(project)
    .split("-")
    .map((word) => word.charAt(0).toUpperCase() + word.slice(1))
    .join("");
}

/** All names, from those that are chosen. @throws UsageError naming the one that cannot be */
export function operatorNames(project: string, kind: string, group: string): OperatorNames {
  checkProject(project);
  checkKind(kind);
  checkGroup(group);
  const base = withoutSuffix(project);
  const singular = kind.toLowerCase();
  return {
    project,
    operator: `${base}${suffix}`,
    namespace: `${base}-system`,
    group,
    kind,
    singular,
    plural: pluralOf(singular),
    variable: kind.charAt(0).toLowerCase() + kind.slice(1),
  };
}

/** @throws UsageError */
export function checkProject(project: string): void {
  // Names of pods end with a hash, and have at most 63 characters. "-operator" is added where it is
  // missing.
  if (label.test(project) && withoutSuffix(project).length <= longestBase) return;
  throw new UsageError(
    `the name ${JSON.stringify(project)} must be lower-case letters, digits and dashes, begin with a letter, and have at most ${longestBase} characters besides ${suffix}, such as shop-operator`,
  );
}

/** @throws UsageError */
export function checkKind(kind: string): void {
  if (!/^[A-Z][A-Za-z0-9]{0,62}$/.test(kind))
    throw new UsageError(
      `the kind ${JSON.stringify(kind)} must be a word in CamelCase, such as Shop or ShopItem`,
    );
  if (taken.has(kind)) throw new UsageError(`the kind ${kind} means something else already: choose another`);
}

/**
 * Whether a group is Kubernetes' own: servers take definitions in it only with the project's
 * approval.
 */
export function isReservedGroup(group: string): boolean {
  return /(^|\.)(k8s|kubernetes)\.io$/.test(group);
}

/** @throws UsageError */
export function checkGroup(group: string): void {
  if (!domain.test(group))
    throw new UsageError(
      `the group ${JSON.stringify(group)} must be a domain name with a dot, such as shop.example.com`,
    );
  if (isReservedGroup(group))
    throw new UsageError(
      `the group ${group} belongs to Kubernetes: take a domain of your own, such as shop.example.com`,
    );
}

function withoutSuffix(project: string): string {
  return project.endsWith(suffix) ? project.slice(0, -suffix.length) : project;
}

/** The plural that the runtime gives a kind. */
function pluralOf(word: string): string {
  if (/(?:s|x|z|ch|sh)$/.test(word)) return `${word}es`;
  if (/[^aeiou]y$/.test(word)) return `${word.slice(0, -1)}ies`;
  return `${word}s`;
}
