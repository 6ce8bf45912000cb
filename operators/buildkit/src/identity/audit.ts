import type { Logger } from "@windlass/runtime";
import { type PoolName, poolText } from "../pool-name.ts";
import type { Decision, Verb } from "./access.ts";
import type { AuthenticationError } from "./errors.ts";

/** What a decision was about. */
export interface AuditedRequest {
  /** Unlike any other's. */
  readonly requestId: string;
  /** Method and path, without its query. */
  readonly request: string;
  /** The client's address. */
  readonly from: string;
}

/**
 * Writes each decision as one line of the log, with the same fields for all of them. Holds no
 * token.
 */
export class AuditLog {
  readonly #log: Logger;

  constructor(log: Logger) {
    this.#log = log.child({ audit: true });
  }

  /** A client that could not say who it is. */
  unauthenticated(request: AuditedRequest, error: AuthenticationError): void {
    this.#log.warn({ ...request, decision: "unauthenticated", why: error.detail }, "request refused");
  }

  /** Whether an identity may do something with a pool. */
  decided(request: AuditedRequest, verb: Verb, pool: PoolName, { is, as, why }: Decision): void {
    const fields = {
      ...request,
      decision: is,
      verb,
      pool: poolText(pool),
      user: as.user,
      identity: as.id,
      why,
    };
    if (is === "allowed") this.#log.info(fields, "request allowed");
    else this.#log.warn(fields, "request denied");
  }
}
