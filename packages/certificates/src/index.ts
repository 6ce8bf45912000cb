export {
  type Authority,
  type AuthorityDependencies,
  type AuthorityInit,
  type Bytes,
  createAuthority,
  type KeyPair,
  type LeafInit,
  loadAuthority,
  type Now,
  type SigningWish,
  type Validity,
} from "./authority.ts";
export { CertificateError, type CertificateErrorCode } from "./errors.ts";
export { expired, type Inspection, inspect, needsRenewal, type Subject, splitBundle } from "./inspect.ts";
export { readSigningRequest, type SigningRequest } from "./signing-request.ts";
export { type ClientTrust, provesClient } from "./verify-client.ts";
export { provesServer, type ServerTrust } from "./verify-server.ts";
export type { KeyUsage, Usage } from "./x509.ts";
