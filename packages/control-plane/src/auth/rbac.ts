import { append } from "../append.ts";
import type { JsonObject } from "../json.ts";
import { objectAt, objectsAt, textAt } from "../json-fields.ts";
import { goQuote } from "../schema/go-text.ts";
import { forbidden, StatusError } from "../status.ts";
import type { User } from "./identity.ts";
import { identityOf } from "./object-identity.ts";
import { type PolicyRule, rulesOf } from "./rules.ts";

/** A request for a resource, as authorization sees it. */
export interface ResourceRequest {
  readonly verb: string;
  readonly group: string;
  readonly resource: string;
  readonly subresource?: string | undefined;
  /** Absent for create and deletecollection, and for lists and watches of more than one name. */
  readonly name?: string | undefined;
  /** Absent at the cluster scope. A request for a Namespace itself carries its own name here. */
  readonly namespace?: string | undefined;
}

/**
 * A request for something that is no resource, such as /healthz. The verb is the HTTP method in
 * lower case.
 */
export interface PathRequest {
  readonly verb: string;
  readonly path: string;
}

export type Attributes = ResourceRequest | PathRequest;

/**
 * Whether a request is allowed. The reason names the binding that allowed it, or the errors of the
 * evaluation.
 */
export interface Decision {
  readonly allowed: boolean;
  readonly reason: string;
}

/**
 * Where roles and bindings come from. Lists must come in the same order each time, by name best,
 * for decisions to give the same reason each time.
 */
export interface RoleSource {
  /**
   * A value that changes whenever a role or binding does, such as the resourceVersion of the last
   * write to one. Results are cached while it stays the same.
   */
  revision(): string | number;
  clusterRoles(): readonly JsonObject[];
  clusterRoleBindings(): readonly JsonObject[];
  roles(namespace: string): readonly JsonObject[];
  roleBindings(namespace: string): readonly JsonObject[];
}

/** The rules that hold for a user, and the roles bound to it that do not exist. */
export interface UserRules {
  readonly rules: readonly PolicyRule[];
  readonly missing: readonly RoleReference[];
}

/** Decides by roles and bindings what users may do. */
export interface Authorizer {
  authorize(user: User, attributes: Attributes): Decision;
  /**
   * All rules that hold for the user in the namespace, those of the cluster scope among them; ""
   * for those alone.
   */
  rulesFor(user: User, namespace: string): UserRules;
  /** The rules of the role that a binding refers to; undefined when there is no such role. */
  rulesOfRole(reference: RoleReference, namespace: string): readonly PolicyRule[] | undefined;
}

/** A binding's `roleRef`. */
export interface RoleReference {
  readonly kind: string;
  readonly name: string;
}

/** Members are allowed everything, so that a mistake in RBAC cannot lock everyone out. */
export const superusers = "system:masters";

interface Rule {
  readonly verbs: ReadonlySet<string>;
  readonly groups: ReadonlySet<string>;
  readonly resources: ReadonlySet<string>;
  readonly names: ReadonlySet<string>;
  readonly paths: readonly string[];
}

interface Role {
  readonly rules: readonly PolicyRule[];
  readonly compiled: readonly Rule[];
}

interface Grant {
  /** Place among the bindings, so that grants found by different subjects can be put in order. */
  readonly order: number;
  /**
   * Place of the subject in its binding: of several that reach a user, the first gives the reason.
   */
  readonly subject: number;
  readonly description: string;
  readonly role: Role | { readonly missing: RoleReference };
}

/** The grants of one scope, by `User:name` and `Group:name`. */
type Grants = ReadonlyMap<string, readonly Grant[]>;

interface Compiled {
  readonly revision: string | number;
  readonly clusterRoles: ReadonlyMap<string, Role>;
  readonly cluster: Grants;
  readonly namespaces: Map<string, Grants>;
  /** What reaches a user in a namespace, by both: requests come in long runs by few users. */
  readonly reached: Map<string, readonly Grant[]>;
}

/**
 * The most users and namespaces that are cached between changes of roles; beyond it the cache is
 * cleared.
 */
const rememberedUsers = 1_000;

/**
 * An authorizer over live roles and bindings. Each change counts for the next decision; between
 * changes a decision looks only at rules bound to the user or one of its groups.
 */
export function createAuthorizer(source: RoleSource): Authorizer {
  let compiled: Compiled | undefined;

  const current = (): Compiled => {
    const revision = source.revision();
    if (compiled?.revision !== revision) {
      const clusterRoles = rolesByName(source.clusterRoles());
      compiled = {
        revision,
        clusterRoles,
        cluster: grants(source.clusterRoleBindings(), "", (reference) => clusterRoles.get(reference.name)),
        namespaces: new Map(),
        reached: new Map(),
      };
    }
    return compiled;
  };

  const inNamespace = (state: Compiled, namespace: string): Grants => {
    const known = state.namespaces.get(namespace);
    if (known) return known;
    const roles = rolesByName(source.roles(namespace));
    const made = grants(source.roleBindings(namespace), namespace, ({ kind, name }) =>
      kind === "ClusterRole" ? state.clusterRoles.get(name) : roles.get(name),
    );
    // Requests can name namespaces that do not exist: the cache is bounded.
    if (made.size > 0 || state.namespaces.size < 10_000) state.namespaces.set(namespace, made);
    return made;
  };

  const grantsTo = (user: User, namespace: string): readonly Grant[] => {
    const state = current();
    const key = JSON.stringify([namespace, user.name, user.groups]);
    const known = state.reached.get(key);
    if (known) return known;
    const found = grantsFor(state.cluster, user);
    if (namespace !== "") append(found, grantsFor(inNamespace(state, namespace), user));
    if (state.reached.size >= rememberedUsers) state.reached.clear();
    state.reached.set(key, found);
    return found;
  };

  return {
    authorize(user, attributes) {
      if (user.groups.includes(superusers)) return { allowed: true, reason: "" };
      const allows = "path" in attributes ? pathMatcher(attributes) : resourceMatcher(attributes);
      const namespace = "path" in attributes ? "" : (attributes.namespace ?? "");
      const missing: RoleReference[] = [];
      for (const { role, description } of grantsTo(user, namespace)) {
        if ("missing" in role) missing.push(role.missing);
        else if (role.compiled.some(allows)) {
          return { allowed: true, reason: `RBAC: allowed by ${description}` };
        }
      }
      return { allowed: false, reason: missing.length === 0 ? "" : `RBAC: ${rolesNotFound(missing)}` };
    },

    rulesFor(user, namespace) {
      const rules: PolicyRule[] = [];
      const missing: RoleReference[] = [];
      for (const { role } of grantsTo(user, namespace)) {
        if ("missing" in role) missing.push(role.missing);
        else append(rules, role.rules);
      }
      return { rules, missing };
    },

    rulesOfRole({ kind, name }, namespace) {
      if (kind === "ClusterRole") return current().clusterRoles.get(name)?.rules;
      return rolesByName(source.roles(namespace)).get(name)?.rules;
    },
  };
}

/** What the real authorizer says of bindings to roles that do not exist. */
export function rolesNotFound(missing: readonly RoleReference[]): string {
  return aggregate(
    missing.map(
      ({ kind, name }) => `${kind.toLowerCase()}.rbac.authorization.k8s.io ${goQuote(name)} not found`,
    ),
  );
}

/**
 * Several errors as the real server joins them: without doubles, in brackets when there is more
 * than one.
 */
export function aggregate(errors: readonly string[]): string {
  const distinct = [...new Set(errors)];
  return distinct.length === 1 ? (distinct[0] ?? "") : `[${distinct.join(", ")}]`;
}

/**
 * The 403 of a request that was not allowed, in the real server's words.
 *
 * @param reason what the decision gave, if anything.
 */
export function forbiddenRequest(user: User, attributes: Attributes, reason = ""): StatusError {
  const because = reason === "" ? "" : `: ${reason}`;
  if ("path" in attributes) {
    return new StatusError({
      code: 403,
      reason: "Forbidden",
      message: `forbidden: User ${goQuote(user.name)} cannot ${attributes.verb} path ${goQuote(attributes.path)}${because}`,
      details: {},
    });
  }
  const { verb, group, resource, subresource, name = "", namespace = "" } = attributes;
  const full = subresource ? `${resource}/${subresource}` : resource;
  const where = namespace === "" ? "at the cluster scope" : `in the namespace ${goQuote(namespace)}`;
  return forbidden(
    { group, resource },
    name,
    `User ${goQuote(user.name)} cannot ${verb} resource ${goQuote(full)} in API group ${goQuote(group)} ${where}${because}`,
  );
}

function rolesByName(roles: readonly JsonObject[]): Map<string, Role> {
  const byName = new Map<string, Role>();
  for (const role of roles) {
    const rules = rulesOf(role);
    byName.set(identityOf(role).name, { rules, compiled: rules.map(compile) });
  }
  return byName;
}

function compile(rule: PolicyRule): Rule {
  return {
    verbs: new Set(rule.verbs),
    groups: new Set(rule.apiGroups ?? []),
    resources: new Set(rule.resources ?? []),
    names: new Set(rule.resourceNames ?? []),
    paths: rule.nonResourceURLs ?? [],
  };
}

function grants(
  bindings: readonly JsonObject[],
  namespace: string,
  find: (reference: RoleReference) => Role | undefined,
): Grants {
  const bySubject = new Map<string, Grant[]>();
  for (const [order, binding] of bindings.entries()) {
    const name = identityOf(binding).name;
    const reference = {
      kind: textAt(objectAt(binding.roleRef).kind),
      name: textAt(objectAt(binding.roleRef).name),
    };
    const role = find(reference) ?? { missing: reference };
    const self =
      namespace === ""
        ? `ClusterRoleBinding ${goQuote(name)}`
        : `RoleBinding ${goQuote(`${name}/${namespace}`)}`;
    const seen = new Set<string>();
    for (const [index, item] of objectsAt(binding.subjects).entries()) {
      const subject = subjectOf(item, namespace);
      if (!subject || seen.has(subject.key)) continue;
      seen.add(subject.key);
      const description = `${self} of ${reference.kind} ${goQuote(reference.name)} to ${subject.description}`;
      const list = bySubject.get(subject.key) ?? [];
      list.push({ order, subject: index, description, role });
      bySubject.set(subject.key, list);
    }
  }
  return bySubject;
}

function subjectOf(
  subject: JsonObject,
  bindingNamespace: string,
): { key: string; description: string } | undefined {
  const name = textAt(subject.name);
  switch (subject.kind) {
    case "User":
      return { key: `User:${name}`, description: `User ${goQuote(name)}` };
    case "Group":
      return { key: `Group:${name}`, description: `Group ${goQuote(name)}` };
    case "ServiceAccount": {
      const namespace = textAt(subject.namespace) || bindingNamespace;
      if (namespace === "") return undefined;
      return {
        key: `User:system:serviceaccount:${namespace}:${name}`,
        description: `ServiceAccount ${goQuote(`${name}/${namespace}`)}`,
      };
    }
    default:
      return undefined;
  }
}

/** The grants of a scope that reach the user, in the order of their bindings, each binding once. */
function grantsFor(scope: Grants, user: User): Grant[] {
  const byOrder = new Map<number, Grant>();
  for (const key of [`User:${user.name}`, ...user.groups.map((group) => `Group:${group}`)]) {
    for (const grant of scope.get(key) ?? []) {
      const known = byOrder.get(grant.order);
      if (!known || grant.subject < known.subject) byOrder.set(grant.order, grant);
    }
  }
  return [...byOrder.values()].sort((a, b) => a.order - b.order);
}

function resourceMatcher({ verb, group, resource, subresource, name = "" }: ResourceRequest) {
  const full = subresource ? `${resource}/${subresource}` : resource;
  return (rule: Rule): boolean =>
    has(rule.verbs, verb) &&
    has(rule.groups, group) &&
    (has(rule.resources, full) || (!!subresource && rule.resources.has(`*/${subresource}`))) &&
    (rule.names.size === 0 || rule.names.has(name));
}

function pathMatcher({ verb, path }: PathRequest) {
  return (rule: Rule): boolean =>
    has(rule.verbs, verb) && rule.paths.some((wanted) => pathMatches(wanted, path));
}

/** Whether a `nonResourceURLs` entry covers a path: "*" at its end stands for anything. */
export function pathMatches(wanted: string, path: string): boolean {
  if (wanted === "*" || wanted === path) return true;
  return wanted.endsWith("*") && path.startsWith(wanted.replace(/(?<!\*)\*+$/, ""));
}

function has(set: ReadonlySet<string>, value: string): boolean {
  return set.has(value) || set.has("*");
}
