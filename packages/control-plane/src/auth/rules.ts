import { append } from "../append.ts";
import { equal, isObject, type JsonObject } from "../json.ts";
import { objectAt, objectsAt, textsAt } from "../json-fields.ts";
import { selectorMatcher } from "../registry/label-selector.ts";
import { identityOf } from "./object-identity.ts";
import { quoteList } from "./quote.ts";

/** A rule of a Role or ClusterRole. */
export interface PolicyRule {
  readonly verbs: readonly string[];
  readonly apiGroups?: readonly string[];
  readonly resources?: readonly string[];
  readonly resourceNames?: readonly string[];
  readonly nonResourceURLs?: readonly string[];
}

/** The rules of a stored Role or ClusterRole. What is not of the right shape counts as absent. */
export function rulesOf(role: JsonObject): PolicyRule[] {
  return objectsAt(role.rules).map((rule) => ({
    verbs: textsAt(rule.verbs),
    ...part(rule, "apiGroups"),
    ...part(rule, "resources"),
    ...part(rule, "resourceNames"),
    ...part(rule, "nonResourceURLs"),
  }));
}

/** A rule as JSON, its fields in the real server's order and empty ones left out. */
export function ruleToJson(rule: PolicyRule): JsonObject {
  const json: JsonObject = { verbs: [...rule.verbs] };
  for (const field of ["apiGroups", "resources", "resourceNames", "nonResourceURLs"] as const) {
    const values = rule[field];
    if (values && values.length > 0) json[field] = [...values];
  }
  return json;
}

/**
 * Those of the wanted rules, one per verb and resource, that no held rule covers. This is how the
 * real server keeps anyone from granting more than they hold.
 */
export function uncovered(held: readonly PolicyRule[], wanted: readonly PolicyRule[]): PolicyRule[] {
  return wanted.flatMap(breakdown).filter((single) => !held.some((rule) => covers(rule, single)));
}

/**
 * Rules as the real server's escalation message lists them: verbs of one resource together, sorted,
 * no doubles.
 */
export function describeRules(rules: readonly PolicyRule[]): string[] {
  const merged = new Map<string, { rule: PolicyRule; verbs: string[] }>();
  const others: PolicyRule[] = [];
  for (const rule of rules) {
    if (rule.nonResourceURLs && rule.nonResourceURLs.length > 0) {
      others.push(rule);
      continue;
    }
    const key = JSON.stringify([rule.apiGroups, rule.resources, rule.resourceNames ?? []]);
    const known = merged.get(key);
    if (known) append(known.verbs, rule.verbs);
    else merged.set(key, { rule, verbs: [...rule.verbs] });
  }
  const all = [...others, ...[...merged.values()].map(({ rule, verbs }) => ({ ...rule, verbs }))];
  return [...new Set(all.map(describe))].sort((a, b) => (a < b ? -1 : a > b ? 1 : 0));
}

function describe(rule: PolicyRule): string {
  const parts = [
    ["APIGroups", rule.apiGroups],
    ["Resources", rule.resources],
    ["NonResourceURLs", rule.nonResourceURLs],
    ["ResourceNames", rule.resourceNames],
    ["Verbs", rule.verbs],
  ] as const;
  const written = parts.flatMap(([name, values]) =>
    values && values.length > 0 ? [`${name}:${quoteList(values)}`] : [],
  );
  return `{${written.join(", ")}}`;
}

function breakdown(rule: PolicyRule): PolicyRule[] {
  const singles: PolicyRule[] = [];
  const names = rule.resourceNames && rule.resourceNames.length > 0 ? rule.resourceNames : [undefined];
  for (const group of rule.apiGroups ?? []) {
    for (const resource of rule.resources ?? []) {
      for (const verb of rule.verbs) {
        for (const name of names) {
          singles.push({
            verbs: [verb],
            apiGroups: [group],
            resources: [resource],
            ...(name === undefined ? {} : { resourceNames: [name] }),
          });
        }
      }
    }
  }
  for (const url of rule.nonResourceURLs ?? []) {
    for (const verb of rule.verbs) singles.push({ verbs: [verb], nonResourceURLs: [url] });
  }
  return singles;
}

/** Whether a rule grants all that a broken-down one does. */
function covers(rule: PolicyRule, single: PolicyRule): boolean {
  const holds = (values: readonly string[] | undefined, wanted: string) =>
    !!values && (values.includes("*") || values.includes(wanted));
  if (!single.verbs.every((verb) => holds(rule.verbs, verb))) return false;
  const [url] = single.nonResourceURLs ?? [];
  if (url !== undefined) {
    return (rule.nonResourceURLs ?? []).some(
      (held) => held === url || (held.endsWith("*") && url.startsWith(held.replace(/(?<!\*)\*+$/, ""))),
    );
  }
  const [group = "", resource = "", name] = [
    single.apiGroups?.[0],
    single.resources?.[0],
    single.resourceNames?.[0],
  ];
  if (!holds(rule.apiGroups, group)) return false;
  const slash = resource.indexOf("/");
  const anyParent = slash >= 0 && !!rule.resources?.includes(`*${resource.slice(slash)}`);
  if (!holds(rule.resources, resource) && !anyParent) return false;
  const names = rule.resourceNames ?? [];
  return names.length === 0 || (name !== undefined && names.includes(name));
}

/**
 * The rules an aggregating ClusterRole should have: those of all other ClusterRoles its selectors
 * match, in the order of their names, each rule once. Undefined for a role that aggregates nothing.
 */
export function aggregatedRules(
  role: JsonObject,
  clusterRoles: readonly JsonObject[],
): JsonObject[] | undefined {
  if (!isObject(role.aggregationRule)) return undefined;
  const own = identityOf(role).name;
  const others = clusterRoles
    .map((candidate) => ({ candidate, name: identityOf(candidate).name }))
    .filter(({ name }) => name !== own)
    .sort((a, b) => (a.name < b.name ? -1 : 1));
  const rules: JsonObject[] = [];
  for (const selector of objectsAt(role.aggregationRule.clusterRoleSelectors)) {
    const matches = selectorMatcher(selector);
    for (const { candidate } of others) {
      if (!matches(objectAt(objectAt(candidate.metadata).labels))) continue;
      for (const rule of objectsAt(candidate.rules)) {
        if (!rules.some((known) => equal(known, rule))) rules.push(rule);
      }
    }
  }
  return rules;
}

function part(rule: JsonObject, field: string): Record<string, string[]> {
  const values = textsAt(rule[field]);
  return values.length > 0 ? { [field]: values } : {};
}
