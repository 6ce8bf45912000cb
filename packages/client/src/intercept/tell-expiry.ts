import { X509Certificate } from "node:crypto";
import type { Clock } from "@windlass/clock";
import { abortable } from "../abortable.ts";
import { discardBody, orDiscard } from "../body.ts";
import { TransportError } from "../errors.ts";
import type { Interceptor } from "../transport.ts";

interface CertificateHolder {
  readonly cert?: string | Buffer;
}

/**
 * Says when it is the client certificate's age that the server objects to. A server answers an
 * expired certificate with a bare 401, as it answers everything that it does not believe. Looked at
 * only after a refusal: this machine's clock may be wrong.
 *
 * @param source where the certificate came from, for the message.
 */
export function tellExpiry(
  material: () => CertificateHolder | Promise<CertificateHolder>,
  source: string,
  clock: Pick<Clock, "now">,
): Interceptor {
  return (next) => ({
    async request(request) {
      const response = await next.request(request);
      if (response.status !== 401) return response;
      const getting = Promise.resolve(material());
      const { cert } = await orDiscard(response, abortable(getting, request.signal));
      const expiredAt = cert && expiryOf(cert);
      if (!expiredAt || expiredAt.getTime() > clock.now()) return response;
      await discardBody(response.body);
      throw new TransportError(
        "CLIENT_CERTIFICATE_REJECTED",
        `${request.method} ${request.path}: the server does not accept the client certificate of ${source}, which expired at ${expiredAt.toISOString()}; renew it`,
        { mayHaveBeenSent: false, configuredBy: source },
      );
    },
    close: () => next.close(),
  });
}

function expiryOf(pem: string | Buffer): Date | undefined {
  try {
    return new X509Certificate(pem).validToDate;
  } catch {
    // Not one that this can read; the 401 stands as it is.
    return undefined;
  }
}
