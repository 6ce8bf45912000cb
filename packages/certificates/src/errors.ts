/**
 * What can be wrong with a certificate or with a wish for one.
 *
 * | code | what to do |
 * |---|---|
 * | `NOT_A_CERTIFICATE` | hand in PEM or DER of an X.509 certificate; the file may be empty, cut short or a key |
 * | `NOT_A_REQUEST` | hand in PEM of a PKCS#10 certificate request, signed with the key that it is for |
 * | `NOT_A_KEY` | hand in an unencrypted PEM private key (PKCS#8, SEC1 or PKCS#1) |
 * | `NOT_AN_AUTHORITY` | the certificate is a leaf (`CA:FALSE`), so nothing it signs would be trusted |
 * | `KEY_MISMATCH` | the key is another certificate's |
 * | `UNSUPPORTED_KEY` | sign with an EC, RSA or Ed25519 key |
 * | `INVALID_SUBJECT` | give a common name and, if any, organizations that are not empty and hold no control characters |
 * | `INVALID_NAME` | the message names the DNS name, address or URI that cannot go into a certificate |
 * | `INVALID_VALIDITY` | give a lifetime above zero, and an authority that has not expired |
 */
export type CertificateErrorCode =
  | "NOT_A_CERTIFICATE"
  | "NOT_A_REQUEST"
  | "NOT_A_KEY"
  | "NOT_AN_AUTHORITY"
  | "KEY_MISMATCH"
  | "UNSUPPORTED_KEY"
  | "INVALID_SUBJECT"
  | "INVALID_NAME"
  | "INVALID_VALIDITY";

/** The only error this package throws. Its message never holds key material. */
export class CertificateError extends Error {
  readonly code: CertificateErrorCode;

  constructor(code: CertificateErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = "CertificateError";
    this.code = code;
  }
}
