/**
 * A request that does not say who makes it, or not credibly. The message is for the client, and
 * says nothing that helps to forge a token; `detail` is for the audit log.
 */
export class AuthenticationError extends Error {
  override readonly name = "AuthenticationError";
  readonly detail: string;

  constructor(message: string, detail: string = message) {
    super(message);
    this.detail = detail;
  }
}

/**
 * It is not known at present whether a token is genuine: its issuer, or the API server, does not
 * answer.
 */
export class VerifierUnavailableError extends Error {
  override readonly name = "VerifierUnavailableError";
}
