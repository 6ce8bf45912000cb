export {
  type Authority,
  type AuthorityInit,
  type AuthorityWorld,
  type Bytes,
  createAuthority,
  type KeyPair,
  type LeafInit,
  loadAuthority,
  type Now,
  type Validity,
} from "./authority.ts";
export { CertificateError, type CertificateErrorCode } from "./errors.ts";
export { expired, type Inspection, inspect, needsRenewal, type Subject, splitBundle } from "./inspect.ts";
export type { Usage } from "./x509.ts";
