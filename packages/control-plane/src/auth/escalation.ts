import { equal, isObject, type JsonObject } from "../json.ts";
import { objectAt, textAt } from "../json-fields.ts";
import { goQuote } from "../schema/go-text.ts";
import { forbidden, notFound } from "../status.ts";
import type { User } from "./identity.ts";
import { identityOf, omit } from "./object-identity.ts";
import { quoteList } from "./quote.ts";
import { type Authorizer, aggregate, superusers } from "./rbac.ts";
import { describeRules, type PolicyRule, rulesOf, uncovered } from "./rules.ts";

const group = "rbac.authorization.k8s.io";

/** A write of a role or a binding that is about to happen. */
export interface RbacWrite {
  readonly resource: "roles" | "clusterroles" | "rolebindings" | "clusterrolebindings";
  readonly object: JsonObject;
  /** What is stored now; absent on create. */
  readonly old?: JsonObject | undefined;
  /**
   * The name in the request's address, which a create by POST has not: only there does a right to
   * certain names count.
   */
  readonly addressed?: string | undefined;
}

const everything: readonly PolicyRule[] = [
  { verbs: ["*"], apiGroups: ["*"], resources: ["*"] },
  { verbs: ["*"], nonResourceURLs: ["*"] },
];

/**
 * Prevents privilege escalation. A role may not contain a rule that its writer does not have,
 * unless the writer may `escalate` it; a binding may not refer to such a role, unless the writer
 * may `bind` it; and only a user with all permissions may aggregate. Writes that only change
 * finalizers and owners pass, so that garbage collection always works.
 *
 * @throws StatusError 403 with the missing rules, 404 when a binding's role does not exist.
 */
export function checkEscalation(user: User, write: RbacWrite, authorizer: Authorizer): void {
  if (user.groups.includes(superusers)) return;
  if (write.old && onlyMovesOwnership(write.object, write.old)) return;
  const { name, namespace } = identityOf(write.object);
  const of = { group, resource: write.resource };

  if (write.resource === "rolebindings" || write.resource === "clusterrolebindings") {
    const reference = objectAt(write.object.roleRef);
    const role = { kind: textAt(reference.kind), name: textAt(reference.name) };
    const resource = role.kind === "ClusterRole" ? "clusterroles" : "roles";
    if (authorizer.authorize(user, { verb: "bind", group, resource, name: role.name, namespace }).allowed)
      return;
    const rules = authorizer.rulesOfRole(role, namespace);
    // The real server names the binding's resource and the role's name.
    if (!rules) throw notFound(of, role.name);
    const why = excess(user, rules, { resource: write.resource, namespace }, authorizer);
    if (why !== undefined) throw forbidden(of, name, why);
    return;
  }

  const { resource, addressed } = write;
  // A user who may escalate may also aggregate: the aggregation controller has no other permission.
  if (authorizer.authorize(user, { verb: "escalate", group, resource, name: addressed, namespace }).allowed)
    return;
  const why = excess(user, rulesOf(write.object), { resource, namespace }, authorizer);
  if (why !== undefined) throw forbidden(of, name, why);
  const aggregates = isObject(write.object.aggregationRule) || isObject(write.old?.aggregationRule);
  if (aggregates && excess(user, everything, { resource, namespace: "" }, authorizer) !== undefined) {
    throw forbidden(of, name, "must have cluster-admin privileges to use the aggregationRule");
  }
}

/**
 * The rules that the user does not have, as the real server lists them; undefined when there are
 * none.
 */
function excess(
  user: User,
  rules: readonly PolicyRule[],
  { resource, namespace }: { readonly resource: string; readonly namespace: string },
  authorizer: Authorizer,
): string | undefined {
  const held = authorizer.rulesFor(user, namespace);
  const missing = uncovered(held.rules, rules);
  if (missing.length === 0) return undefined;
  const who = `user ${goQuote(user.name)} (groups=${quoteList(user.groups)})`;
  const list = describeRules(missing).join("\n");
  // Roles are looked up as if they were what is being written, so that is what is said to be
  // missing.
  const faults = held.missing.map((role) => `${resource}.${group} ${goQuote(role.name)} not found`);
  const errors = faults.length === 0 ? "" : `; resolution errors: [${aggregate(faults)}]`;
  return `${who} is attempting to grant RBAC permissions not currently held:\n${list}${errors}`;
}

function onlyMovesOwnership(object: JsonObject, old: JsonObject): boolean {
  return equal(settled(object), settled(old));
}

function settled(object: JsonObject): JsonObject {
  return {
    ...object,
    metadata: omit(objectAt(object.metadata), "finalizers", "ownerReferences", "managedFields"),
  };
}
