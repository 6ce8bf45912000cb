export { alwaysAllow } from "./always-allow.ts";
export { type Bootstrap, readBootstrap, systemNamespaces } from "./bootstrap.ts";
export { checkEscalation, type RbacWrite } from "./escalation.ts";
export {
  anonymous,
  authenticate,
  bearerToken,
  type ClientCertificates,
  type Credentials,
  certificateUser,
  serviceAccountOf,
  serviceAccountUser,
  type TokenAuthenticator,
  type TokenVerdict,
  type User,
  unauthorized,
  userInfo,
} from "./identity.ts";
export { type DistinctHeaders, impersonate } from "./impersonation.ts";
export { type KubeconfigInit, type KubeconfigUser, kubeconfig, kubeconfigYaml } from "./kubeconfig.ts";
export {
  type Attributes,
  type Authorizer,
  createAuthorizer,
  type Decision,
  forbiddenRequest,
  type PathRequest,
  type ResourceRequest,
  type RoleReference,
  type RoleSource,
  type UserRules,
} from "./rbac.ts";
export {
  requestToken,
  reviewLocalAccess,
  reviewOwnAccess,
  reviewOwnRules,
  reviewSelf,
  reviewSubjectAccess,
  reviewToken,
} from "./reviews.ts";
export { aggregatedRules, type PolicyRule } from "./rules.ts";
export { rolesIn } from "./stored-roles.ts";
export {
  type BoundReference,
  createTokens,
  type FindBound,
  type Tokens,
  type TokensInit,
  type TokenWish,
} from "./tokens.ts";
