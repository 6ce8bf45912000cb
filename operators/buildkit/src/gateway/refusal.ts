import { type PoolName, poolText } from "../pool-name.ts";
import type { Verification } from "../tokens/index.ts";
import type { ConnectionStatus } from "./metrics.ts";

/** The codes of gRPC that a gateway answers with. */
export const grpcStatus = {
  PERMISSION_DENIED: 7,
  RESOURCE_EXHAUSTED: 8,
  FAILED_PRECONDITION: 9,
  UNAVAILABLE: 14,
  UNAUTHENTICATED: 16,
} as const;

/** Why a connection is not passed on. */
export interface Refusal {
  /** How the connection is counted. */
  readonly status: Exclude<ConnectionStatus, "success">;
  /** Clients try again by themselves after `UNAVAILABLE`, and give up after any other. */
  readonly code: keyof typeof grpcStatus;
  /** What the client prints: the fault, and the way out. */
  readonly message: string;
}

const again = "allocate a worker again, and connect with the certificate that comes with it";

/** Nothing was shown. */
export const noCertificate: Refusal = {
  status: "no_cert",
  code: "UNAUTHENTICATED",
  message: `no client certificate was sent: ${again}`,
};

const certificateFaults = new Map([
  ["CERT_HAS_EXPIRED", "has expired"],
  ["CERT_NOT_YET_VALID", "is not valid yet; compare the clocks"],
  ["INVALID_PURPOSE", "is not for clients"],
  ["UNABLE_TO_GET_ISSUER_CERT_LOCALLY", "is not signed by this pool's authority"],
  ["UNABLE_TO_VERIFY_LEAF_SIGNATURE", "is not signed by this pool's authority"],
  ["SELF_SIGNED_CERT_IN_CHAIN", "is not signed by this pool's authority"],
  ["DEPTH_ZERO_SELF_SIGNED_CERT", "is not signed by this pool's authority"],
]);

/** The certificate does not verify. @param error OpenSSL's code */
export function badCertificate(error: string): Refusal {
  const fault = certificateFaults.get(error) ?? `does not verify (${error})`;
  return {
    status: "bad_cert",
    code: "UNAUTHENTICATED",
    message: `the client certificate ${fault}: ${again}`,
  };
}

/** The certificate verifies but stands for no allocation. */
export const noToken: Refusal = {
  status: "no_token",
  code: "UNAUTHENTICATED",
  message: `the client certificate carries no allocation token: ${again}`,
};

/** The certificate stands for more than one allocation. */
export const severalTokens: Refusal = {
  status: "bad_token",
  code: "UNAUTHENTICATED",
  message: `the client certificate carries several allocation tokens: ${again}`,
};

/** The certificate is for another pool. */
export function wrongPool(theirs: string, ours: PoolName): Refusal {
  return {
    status: "wrong_pool",
    code: "PERMISSION_DENIED",
    message: `the client certificate is for pool ${theirs}, and this is the gateway of pool ${poolText(ours)}`,
  };
}

/** The token does not verify. */
export function badToken(verification: Exclude<Verification, { readonly is: "valid" }>): Refusal {
  if (verification.is === "expired") {
    const at = new Date(verification.expiresAt).toISOString();
    return {
      status: "expired",
      code: "UNAUTHENTICATED",
      message: `the allocation expired at ${at}: ${again}`,
    };
  }
  const fault = {
    malformed: "is malformed",
    "unknown-key": "is signed with a key that this gateway does not know",
    forged: "has a signature that does not verify",
  }[verification.is];
  return { status: "bad_token", code: "UNAUTHENTICATED", message: `the allocation token ${fault}: ${again}` };
}

/** The token verifies, and there is no such allocation. */
export const unknownAllocation: Refusal = {
  status: "lookup_failed",
  code: "UNAUTHENTICATED",
  message: `the allocation has been released, or its worker is gone: ${again}`,
};

/** The allocation was taken back. */
export function revokedAllocation(reason: string): Refusal {
  return {
    status: "revoked",
    code: "UNAUTHENTICATED",
    message: `the allocation was revoked (${reason}): ${again}`,
  };
}

/** The worker is not there yet. */
export function workerStarting(worker: string): Refusal {
  return {
    status: "worker_starting",
    code: "UNAVAILABLE",
    message: `worker ${worker} is still starting: try again in a few seconds`,
  };
}

/** The worker is no longer there, and will not come back. */
export function workerLost(worker: string, reason: string): Refusal {
  return {
    status: "worker_lost",
    code: "FAILED_PRECONDITION",
    message: `worker ${worker} is lost (${reason}): ${again}`,
  };
}

/** The worker does not answer. */
export function workerUnreachable(worker: string, fault: string): Refusal {
  return {
    status: "worker_connect_failed",
    code: "UNAVAILABLE",
    message: `worker ${worker} cannot be reached (${fault}): try again, or allocate another`,
  };
}

/** What answers at the worker's address is not the worker. */
export function wrongWorker(worker: string, fault: string): Refusal {
  return {
    status: "worker_connect_failed",
    code: "FAILED_PRECONDITION",
    message: `worker ${worker} cannot be reached (another answers at its address: ${fault}): ${again}`,
  };
}

/** There are too many connections. */
export function overLimit(limit: string): Refusal {
  return {
    status: "over_limit",
    code: "RESOURCE_EXHAUSTED",
    message: `this gateway takes no more connections: ${limit}`,
  };
}

/** The gateway is going away. */
export const shuttingDown: Refusal = {
  status: "shutting_down",
  code: "UNAVAILABLE",
  message: "this gateway is shutting down: connect again to reach another",
};
