import { isObject, type Json, type JsonObject, textOf } from "../../json.ts";
import type { GroupVersionKind, KindInfo } from "../../kinds/index.ts";
import type { AdmissionRequest } from "../../registry/admission.ts";
import { selectorMatcher } from "../../registry/label-selector.ts";
import type { Registry } from "../../registry/registry.ts";
import type { Resource } from "../../registry/resource.ts";
import { notFound, type StatusError } from "../../status.ts";

/** One entry of a webhook's `rules`, or of a policy's `resourceRules`. */
export interface Rule {
  readonly operations: readonly string[];
  readonly apiGroups: readonly string[];
  readonly apiVersions: readonly string[];
  readonly resources: readonly string[];
  readonly scope: string;
  /** Policies only. Empty means every name. */
  readonly resourceNames: readonly string[];
}

/** What a webhook or policy applies to. */
export interface MatchCriteria {
  readonly rules: readonly Rule[];
  readonly excluded: readonly Rule[];
  /**
   * Whether a rule that names another version of the kind applies, with the object converted to
   * that version.
   */
  readonly equivalent: boolean;
  readonly namespaceSelector: Json | undefined;
  readonly objectSelector: Json | undefined;
}

/** The version of the kind under which a request is to be shown. */
export interface Match {
  readonly resource: Resource;
  readonly kind: GroupVersionKind;
}

/** A match, no match, or an error of the evaluation. */
export type Matching = Match | "no match" | { readonly error: StatusError };

export function readRules(list: Json | undefined): Rule[] {
  return (Array.isArray(list) ? list : []).filter(isObject).map((rule) => ({
    operations: texts(rule.operations),
    apiGroups: texts(rule.apiGroups),
    apiVersions: texts(rule.apiVersions),
    resources: texts(rule.resources),
    scope: textOf(rule.scope) || "*",
    resourceNames: texts(rule.resourceNames),
  }));
}

export function texts(list: Json | undefined): string[] {
  return Array.isArray(list) ? list.map(textOf) : [];
}

/**
 * Whether a request is exempt: the configuration of admission must stay writable when admission is
 * broken.
 */
export function isExempt({ resource }: Pick<AdmissionRequest, "resource">): boolean {
  return resource.info.group === "admissionregistration.k8s.io" && exempt.has(resource.info.kind);
}

const exempt = new Set([
  "ValidatingWebhookConfiguration",
  "MutatingWebhookConfiguration",
  "ValidatingAdmissionPolicy",
  "ValidatingAdmissionPolicyBinding",
  "MutatingAdmissionPolicy",
  "MutatingAdmissionPolicyBinding",
]);

/** Finds out whether a request is one that `criteria` ask for. */
export function matchRequest(
  criteria: MatchCriteria,
  request: AdmissionRequest,
  registry: Pick<Registry, "kinds" | "resourceFor" | "store">,
): Matching {
  const inNamespace = matchesNamespace(criteria.namespaceSelector, request, registry);
  if (inNamespace === false) return "no match";
  if (!matchesObject(criteria.objectSelector, request)) return "no match";
  if (criteria.excluded.length > 0 && matchRules(criteria, criteria.excluded, request, registry))
    return "no match";
  const match = matchRules(criteria, criteria.rules, request, registry);
  if (!match) return "no match";
  // A selector that cannot be evaluated is an error only for requests that the rules match.
  return inNamespace === true ? match : { error: inNamespace };
}

function matchRules(
  { equivalent }: MatchCriteria,
  rules: readonly Rule[],
  request: AdmissionRequest,
  registry: Pick<Registry, "kinds" | "resourceFor">,
): Match | undefined {
  const { resource } = request;
  if (rules.some((rule) => ruleMatches(rule, request, resource.info))) {
    return { resource, kind: kindShown(resource.info, request.subresource) };
  }
  if (!equivalent) return undefined;
  const others = versionsOf(resource, registry);
  for (const rule of rules) {
    const other = others.find((info) => ruleMatches(rule, request, info));
    if (other) return { resource: registry.resourceFor(other), kind: kindShown(other, request.subresource) };
  }
  return undefined;
}

/**
 * The other served versions of a kind. Events are served by two groups, and are the same in both.
 */
function versionsOf(resource: Resource, registry: Pick<Registry, "kinds">): KindInfo[] {
  const { group, version, plural } = resource.info;
  const groups = resource.bucket === "events" ? eventGroups : [group];
  return groups.flatMap((served) =>
    (registry.kinds.group(served)?.versions ?? []).flatMap((other) => {
      const isSame = served === group && other === version;
      const info = isSame ? undefined : registry.kinds.byResource(served, other, plural);
      return info ? [info] : [];
    }),
  );
}

const eventGroups = ["", "events.k8s.io"];

/** The kind that a request's object is of: subresources such as `scale` have one of their own. */
export function kindShown(info: KindInfo, subresource: string | undefined): GroupVersionKind {
  const own = info.subresources.find(({ name }) => name === subresource)?.kind ?? info;
  return { group: own.group, version: own.version, kind: own.kind };
}

function ruleMatches(rule: Rule, request: AdmissionRequest, info: KindInfo): boolean {
  return (
    scopeMatches(rule.scope, request) &&
    oneOf(rule.operations, request.operation) &&
    oneOf(rule.apiGroups, info.group) &&
    oneOf(rule.apiVersions, info.version) &&
    rule.resources.some((wanted) => resourceMatches(wanted, info.plural, request.subresource ?? "")) &&
    (rule.resourceNames.length === 0 || rule.resourceNames.includes(request.name))
  );
}

function oneOf(allowed: readonly string[], value: string): boolean {
  return allowed.includes("*") || allowed.includes(value);
}

function scopeMatches(scope: string, { resource }: AdmissionRequest): boolean {
  if (scope === "*") return true;
  return scope === (resource.info.namespaced ? "Namespaced" : "Cluster");
}

/**
 * `pods`, `pods/log`, `pods/*`, `*`, every `…/scale`, and a star on both sides: a bare name or star
 * leaves subresources out.
 */
function resourceMatches(wanted: string, plural: string, subresource: string): boolean {
  const slash = wanted.indexOf("/");
  const resource = slash < 0 ? wanted : wanted.slice(0, slash);
  const sub = slash < 0 ? "" : wanted.slice(slash + 1);
  return (resource === "*" || resource === plural) && (sub === "*" || sub === subresource);
}

/** The namespace a request is about. A Namespace is in itself. */
export function namespaceOf({ resource, namespace, name }: AdmissionRequest): string | undefined {
  if (namespace !== undefined) return namespace;
  return isNamespace(resource) && name !== "" ? name : undefined;
}

function isNamespace(resource: Resource): boolean {
  return resource.info.group === "" && resource.info.plural === "namespaces";
}

function matchesNamespace(
  selector: Json | undefined,
  request: AdmissionRequest,
  { store }: Pick<Registry, "store">,
): boolean | StatusError {
  const { resource, operation, subresource } = request;
  const name = namespaceOf(request);
  if (name === undefined && !isNamespace(resource)) return true;
  if (isEmptySelector(selector)) return true;
  const matches = selectorMatcher(selector);
  const isOwn = isNamespace(resource) && subresource === undefined;
  if (isOwn && (operation === "CREATE" || operation === "UPDATE")) return matches(labelsOf(request.object));
  const namespace = name === undefined ? undefined : store.get("namespaces", name);
  if (!namespace) return notFound({ group: "", resource: "namespaces" }, name ?? "");
  return matches(labelsOf(namespace.object));
}

function matchesObject(selector: Json | undefined, { object, oldObject }: AdmissionRequest): boolean {
  if (isEmptySelector(selector)) return true;
  const matches = selectorMatcher(selector);
  return [object, oldObject].some((one) => one !== undefined && matches(labelsOf(one)));
}

function isEmptySelector(selector: Json | undefined): boolean {
  if (!isObject(selector)) return true;
  const { matchLabels, matchExpressions } = selector;
  const noLabels = !isObject(matchLabels) || Object.keys(matchLabels).length === 0;
  return noLabels && (!Array.isArray(matchExpressions) || matchExpressions.length === 0);
}

function labelsOf(object: JsonObject | undefined): JsonObject | undefined {
  const labels = isObject(object?.metadata) ? object.metadata.labels : undefined;
  return isObject(labels) ? labels : undefined;
}
