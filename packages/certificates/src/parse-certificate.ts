import { X509Certificate } from "node:crypto";
import { CertificateError } from "./errors.ts";

/** @throws CertificateError `NOT_A_CERTIFICATE`. */
export function parseCertificate(pemOrDer: string | Uint8Array): X509Certificate {
  try {
    return new X509Certificate(pemOrDer);
  } catch (cause) {
    throw new CertificateError("NOT_A_CERTIFICATE", "not an X.509 certificate in PEM or DER", { cause });
  }
}
