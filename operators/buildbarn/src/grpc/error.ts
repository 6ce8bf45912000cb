/** The codes of gRPC, each at the place of its number. */
export const grpcCodes = [
  "OK",
  "CANCELLED",
  "UNKNOWN",
  "INVALID_ARGUMENT",
  "DEADLINE_EXCEEDED",
  "NOT_FOUND",
  "ALREADY_EXISTS",
  "PERMISSION_DENIED",
  "RESOURCE_EXHAUSTED",
  "FAILED_PRECONDITION",
  "ABORTED",
  "OUT_OF_RANGE",
  "UNIMPLEMENTED",
  "INTERNAL",
  "UNAVAILABLE",
  "DATA_LOSS",
  "UNAUTHENTICATED",
] as const;

/** How a call may end. */
export type GrpcCode = (typeof grpcCodes)[number];

/** A call that did not succeed. */
export class GrpcError extends Error {
  override readonly name = "GrpcError";
  readonly code: GrpcCode;

  constructor(code: GrpcCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}
