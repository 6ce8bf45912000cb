import type { Authorizer } from "./rbac.ts";
import type { PolicyRule } from "./rules.ts";

const everything: readonly PolicyRule[] = [
  { verbs: ["*"], apiGroups: ["*"], resources: ["*"] },
  { verbs: ["*"], nonResourceURLs: ["*"] },
];

/**
 * Everybody may do everything, as with `--authorization-mode=AlwaysAllow`. Roles still grant what
 * they say when they are escalated.
 */
export function alwaysAllow(roles: Authorizer): Authorizer {
  return {
    authorize: () => ({ allowed: true, reason: "" }),
    rulesFor: () => ({ rules: everything, missing: [] }),
    rulesOfRole: (reference, namespace) => roles.rulesOfRole(reference, namespace),
  };
}
