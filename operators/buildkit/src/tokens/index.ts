export { type CarriedToken, tokenIn, tokenNames } from "./carrier.ts";
export {
  addKey,
  arrivingKeyring,
  type KeyRotation,
  type Keyring,
  keyringStep,
  neededKeys,
  poolKeyring,
  signingKey,
  type TokenKey,
} from "./keyring.ts";
export { KeyringError, keyringDataKey, readKeyring, writeKeyring } from "./keyring-secret.ts";
export { defaultTtlMs, longestTtlMs } from "./lifetime.ts";
export {
  type Revocation,
  type Revocations,
  RevocationsError,
  readRevocations,
  revocationsDataKey,
  revoked,
  unexpired,
  writeRevocations,
} from "./revocations.ts";
export {
  type AllocationHash,
  type IssuedToken,
  issueToken,
  newAllocationId,
  parseAllocationHash,
  type TokenInit,
  type Verification,
  verifyToken,
} from "./token.ts";
