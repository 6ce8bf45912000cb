export {
  type AccessRule,
  type Admins,
  type Decision,
  decide,
  isAdmin,
  type Limits,
  type PoolAccess,
  type Verb,
  verbs,
} from "./access.ts";
export { type AuditedRequest, AuditLog } from "./audit.ts";
export {
  Authenticator,
  type AuthenticatorOptions,
  type Credentials,
  type StaticTokenOrigin,
  type StaticTokens,
} from "./authenticator.ts";
export { AuthenticationError, VerifierUnavailableError } from "./errors.ts";
export { matchesGlob } from "./glob.ts";
export {
  type Claims,
  countsFor,
  describeIdentity,
  type Identity,
  type Origin,
  type Scope,
} from "./identity.ts";
export {
  type IdentityCertificateInit,
  identityCertificate,
  identityIn,
  signIdentityCertificate,
} from "./identity-certificate.ts";
export { type IssuerHttpOptions, issuerHttp } from "./issuer-http.ts";
export { type FetchJson, IssuerKeys, type KeyRules } from "./issuer-keys.ts";
export { claimedIssuer, type OidcProvider, signatureAlgorithms, verifyOidcToken } from "./oidc.ts";
export { defaultAudience, type ServiceAccountOptions, ServiceAccounts } from "./service-accounts.ts";
