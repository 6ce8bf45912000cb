import { type Authorizer, checkEscalation, type RbacWrite, type User } from "../auth/index.ts";
import type { Admission, Requester } from "../registry/admission.ts";

const kinds = new Set(["roles", "clusterroles", "rolebindings", "clusterrolebindings"]);

/** Prevents privilege escalation through roles and bindings. */
export function noEscalation(authorizer: Authorizer): Admission {
  return {
    name: "RBACEscalation",
    mutate: ({ resource, object, oldObject, operation, user, addressed }) => {
      const { group, plural } = resource.info;
      if (group !== "rbac.authorization.k8s.io" || !kinds.has(plural) || !object) return;
      if (operation !== "CREATE" && operation !== "UPDATE") return;
      checkEscalation(
        userOf(user),
        { resource: plural as RbacWrite["resource"], object, old: oldObject, addressed },
        authorizer,
      );
    },
  };
}

/** The requester as authorization sees it. */
export function userOf({ name, uid, groups, extra }: Requester): User {
  return {
    name,
    groups: [...groups],
    ...(uid === undefined ? {} : { uid }),
    ...(extra === undefined
      ? {}
      : { extra: Object.fromEntries(Object.entries(extra).map(([key, values]) => [key, [...values]])) }),
  };
}
