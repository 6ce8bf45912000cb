/** Why a request is not served by its target. */
export type Failure =
  /** Too many requests wait, for this service or in all. */
  | { readonly why: "queue-full" }
  /** The operator reports that the target cannot be woken for now. */
  | { readonly why: "unavailable"; readonly message: string; readonly retryAfterSeconds: number }
  /** No endpoint became ready in time. */
  | { readonly why: "hold-timeout" }
  /**
   * The endpoint was lost after the request was sent, and it is not known whether it was served.
   */
  | { readonly why: "endpoint-lost" }
  /** The endpoint's answer is not HTTP. */
  | { readonly why: "malformed-response" }
  /** There is no such service here. */
  | { readonly why: "unknown-service" }
  /** The resolver is ending, and has no time left for the request. */
  | { readonly why: "shutting-down" };

/** How a failure is reported to a client. */
export interface FailureAnswer {
  readonly status: 404 | 502 | 503 | 504;
  /** gRPC's own status code. */
  readonly grpcStatus: 4 | 5 | 14;
  readonly message: string;
  readonly retryAfterSeconds: number | undefined;
}

const GRPC_DEADLINE_EXCEEDED = 4;
const GRPC_NOT_FOUND = 5;
const GRPC_UNAVAILABLE = 14;

/** How a failure is reported to a client. */
export function answerFor(failure: Failure): FailureAnswer {
  switch (failure.why) {
    case "queue-full":
      return unavailable("too many requests wait for this service to start", 5);
    case "unavailable":
      return unavailable(failure.message, failure.retryAfterSeconds);
    case "shutting-down":
      return unavailable("the resolver is shutting down", 1);
    case "hold-timeout":
      return {
        status: 504,
        grpcStatus: GRPC_DEADLINE_EXCEEDED,
        message: "the service did not start in time",
        retryAfterSeconds: undefined,
      };
    case "endpoint-lost":
      return badGateway("the service closed the connection before it answered");
    case "malformed-response":
      return badGateway("the service sent a malformed response");
    case "unknown-service":
      return {
        status: 404,
        grpcStatus: GRPC_NOT_FOUND,
        message: "no service that scales to zero has this name",
        retryAfterSeconds: undefined,
      };
  }
}

function unavailable(message: string, retryAfterSeconds: number): FailureAnswer {
  return { status: 503, grpcStatus: GRPC_UNAVAILABLE, message, retryAfterSeconds };
}

function badGateway(message: string): FailureAnswer {
  return { status: 502, grpcStatus: GRPC_UNAVAILABLE, message, retryAfterSeconds: undefined };
}
