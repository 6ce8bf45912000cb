import { CertificateError } from "@windlass/certificates";
import { ApiError, TransportError } from "@windlass/client";
import { AllocationError, type AllocationErrorCode } from "../allocation/index.ts";
import { WeakKeyError } from "../certificates/index.ts";
import { AuthenticationError, VerifierUnavailableError } from "../identity/index.ts";

/** What is wrong with one field of a request. */
export interface FieldFault {
  readonly field: string;
  readonly message: string;
}

/** What went wrong, as clients receive it: `{ code, message, details }`. */
export interface ProblemBody {
  readonly code: string;
  readonly message: string;
  readonly details: Readonly<Record<string, unknown>>;
}

interface ProblemOptions extends ErrorOptions {
  readonly details?: Readonly<Record<string, unknown>>;
  readonly retryAfterSeconds?: number | undefined;
  readonly headers?: Readonly<Record<string, string>>;
}

/** A request that is answered with an error. The message is for the client. */
export class Problem extends Error {
  override readonly name = "Problem";
  readonly status: number;
  readonly code: string;
  readonly details: Readonly<Record<string, unknown>>;
  readonly headers: Readonly<Record<string, string>>;

  constructor(status: number, code: string, message: string, options: ProblemOptions = {}) {
    super(message, options);
    const { details = {}, retryAfterSeconds, headers = {} } = options;
    this.status = status;
    this.code = code;
    this.details = details;
    this.headers =
      retryAfterSeconds === undefined
        ? headers
        : { ...headers, "retry-after": String(Math.ceil(retryAfterSeconds)) };
  }

  get body(): ProblemBody {
    return { code: this.code, message: this.message, details: this.details };
  }
}

const allocationStatuses: Readonly<Record<AllocationErrorCode, number>> = {
  QueueFull: 429,
  QueueTimeout: 503,
  QuotaExceeded: 429,
  PoolTerminating: 409,
  NotAllocated: 404,
  LifetimeExceeded: 409,
  WorkerLost: 409,
  CredentialsUnavailable: 503,
  Contended: 503,
};

/** What a client receives about an error. Undefined for a fault of this program. */
export function problemOf(error: unknown): Problem | undefined {
  if (error instanceof Problem) return error;
  if (error instanceof AllocationError)
    return new Problem(allocationStatuses[error.code], error.code, error.message, {
      cause: error,
      retryAfterSeconds: error.retryAfterSeconds,
    });
  if (error instanceof AuthenticationError)
    return new Problem(401, "Unauthenticated", error.message, {
      cause: error,
      headers: { "www-authenticate": 'Bearer realm="buildkit"' },
    });
  if (error instanceof VerifierUnavailableError)
    return unavailable("VerifierUnavailable", "it cannot be said at present who you are: try again", error);
  if (error instanceof WeakKeyError || (error instanceof CertificateError && error.code === "NOT_A_REQUEST"))
    return invalidField("csr", error.message);
  // What the server or the network says is for the log: it may name objects that are none of the
  // client's business.
  if (error instanceof ApiError || error instanceof TransportError)
    return unavailable("ClusterUnavailable", "the cluster did not do what was asked of it: try again", error);
  return undefined;
}

/** A field that is understood, and cannot be granted. */
export function invalidField(field: string, message: string): Problem {
  return new Problem(422, "InvalidField", `${field}: ${message}`, {
    details: { fields: [{ field, message }] },
  });
}

/** Something that is not there, or not for the one who asks. */
export function notFound(code: string, message: string): Problem {
  return new Problem(404, code, message);
}

function unavailable(code: string, message: string, cause: unknown): Problem {
  return new Problem(503, code, message, { cause, retryAfterSeconds: 2 });
}
