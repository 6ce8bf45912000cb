export {
  type AuthorityRing,
  type AuthorityRotation,
  addAuthority,
  authorityStep,
  neededAuthorities,
  type StoredAuthority,
  signingAuthority,
  trustBundle,
} from "./authorities.ts";
export {
  AuthoritySecretError,
  authorityDataKeys,
  readAuthorities,
  writeAuthorities,
} from "./authority-secret.ts";
export {
  type ApiNamesInit,
  apiServerNames,
  gatewayNames,
  poolsIn,
  poolUri,
  type ServerNames,
  serviceNames,
  workerNames,
  workerServerName,
} from "./names.ts";
export {
  type AllocationCertificateInit,
  allocationCertificate,
  checkKeyLength,
  gatewayCertificate,
  gatewayClientCertificate,
  signAllocationCertificate,
  WeakKeyError,
  workerCertificate,
} from "./profiles.ts";
export { type CertificateStep, certificateStep, type WantedCertificate } from "./renewal.ts";
export { CredentialsError, checkPair, checkTrust } from "./usable.ts";
