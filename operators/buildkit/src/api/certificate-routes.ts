import { inspect, readSigningRequest, splitBundle } from "@windlass/certificates";
import { ignoreNotFound } from "@windlass/client";
import { Secret } from "@windlass/runtime/kinds";
import { identityCertificate, signIdentityCertificate } from "../identity/index.ts";
import { poolNames } from "../names.ts";
import type { PoolName } from "../pool-name.ts";
import { spanMs } from "../span.ts";
import { defaultTtlMs } from "../tokens/index.ts";
import { invalidField, notFound, Problem } from "./problem.ts";
import { type Call, type Route, route } from "./route.ts";
import type { Admitted, Service } from "./service.ts";
import {
  certificateRequest,
  certificateResponse,
  gatewayCertificateResponse,
  longestGrantMs,
  namespaceQuery,
} from "./shapes.ts";
import { commonAnswers } from "./worker-routes.ts";

/** Certificates: for clients of the API, and what clients of a pool have to trust. */
export function certificateRoutes(service: Service): readonly Route[] {
  const { credentials, client, clock, metrics, state } = service.options;

  /**
   * The first identity of a caller that may have certificates for all of some pools. A certificate
   * stands for one.
   *
   * @throws Problem 403. Like the original's, it does not disclose which pools exist.
   */
  const admitToAll = (
    call: Pick<Call<unknown, unknown>, "caller" | "request">,
    wanted: readonly { readonly text: string; readonly name: PoolName }[],
  ): readonly Admitted[] => {
    let refused: string | undefined;
    for (const identity of call.caller.identities) {
      const own = { ...call, caller: { ...call.caller, identities: [identity] as const } };
      const decided = wanted.map(({ text, name }) => {
        const found = state.pool(name);
        return { text, admitted: found && service.ifAdmitted(own, "certs", found) };
      });
      const admitted = decided.flatMap((one) => one.admitted ?? []);
      if (admitted.length === wanted.length) return admitted;
      refused ??= decided.find((one) => !one.admitted)?.text;
    }
    throw new Problem(403, "Forbidden", `you may not have certificates for pool ${refused}`, {
      details: { pool: refused },
    });
  };

  const request = route({
    method: "POST",
    path: "/api/v1/certs/request",
    summary:
      "Have a certificate that stands for the caller at this API, for some pools. It opens no worker by itself",
    body: certificateRequest,
    answers: { 200: { description: "A certificate", schema: certificateResponse }, ...commonAnswers },
    handle: async (call) => {
      const { pools, namespace, duration, csr } = call.body;
      const wanted = pools.map((text) => ({ text, name: parsePool(text, namespace) }));
      // The original refuses pools that do not exist as it does those of others: it is not said
      // which exist.
      const admitted = admitToAll(call, wanted);
      const [first] = admitted;
      if (!first) throw invalidField("pools", "must name a pool");
      const spanned = duration === undefined ? defaultTtlMs : spanMs(duration, "duration");
      const limits = admitted.map((one) => service.ttlMs(one, "24h"));
      const { origin } = first.identity;
      // A certificate is never replaced by one that lasts longer.
      const latest = origin.is === "certificate" ? origin.notAfter : Number.POSITIVE_INFINITY;
      const notAfter = Math.min(latest, clock.now() + Math.min(spanned, longestGrantMs, ...limits));
      const init = { identity: first.identity, pools: admitted.map(({ name }) => name), notAfter };
      const authority = await credentials.clientAuthority();
      const pair = csr
        ? { certificate: signIdentityCertificate(authority, readSigningRequest(csr), init) }
        : identityCertificate(authority, init);
      metrics.certified("identity");
      const bundles = await Promise.all(admitted.map(({ name }) => credentials.serverTrust(name)));
      return {
        status: 200,
        body: {
          caCert: [...new Set(bundles.flatMap(splitBundle))].join(""),
          clientCert: pair.certificate,
          ...("key" in pair ? { clientKey: pair.key } : {}),
          expiresAt: new Date(notAfter).toISOString(),
          endpoints: Object.fromEntries(
            wanted.map(({ text, name }) => [text, service.endpointsOf(name).endpoint]),
          ),
        },
      };
    },
  });

  const read = route({
    method: "GET",
    path: "/api/v1/certs/{name}",
    summary:
      "The certificate of a pool's gateways, and what clients have to trust. By the pool's name, or that of its Secret",
    query: namespaceQuery,
    answers: {
      200: { description: "The certificate, without its key", schema: gatewayCertificateResponse },
      ...commonAnswers,
    },
    handle: async (call) => {
      const given = call.params.name ?? "";
      const { namespace } = call.query;
      const bare =
        given.endsWith("-tls") && !state.pool({ namespace, name: given }) ? given.slice(0, -4) : given;
      const { name } = service.admit(call, "view", { namespace, name: bare });
      const secret = poolNames(name.name).tlsSecret;
      const found = await ignoreNotFound(client.get(Secret, { namespace, name: secret }));
      const certificate = Buffer.from(found?.data?.["tls.crt"] ?? "", "base64").toString("utf8");
      if (certificate === "")
        throw notFound(
          "CertificateNotFound",
          `the pool has no certificate yet: there is no Secret ${secret}`,
        );
      const { serialNumber, notBefore, notAfter } = inspect(certificate);
      return {
        status: 200,
        body: {
          name: secret,
          namespace,
          caCert: await credentials.serverTrust(name),
          certificate,
          serialNumber,
          notBefore: new Date(notBefore).toISOString(),
          notAfter: new Date(notAfter).toISOString(),
        },
      };
    },
  });

  return [request, read];
}

function parsePool(text: string, namespace: string): PoolName {
  const [first = "", second, ...more] = text.split("/");
  if (more.length > 0 || first === "" || second === "")
    throw invalidField("pools", `${JSON.stringify(text)} is not a pool: give name, or namespace/name`);
  return second === undefined ? { namespace, name: first } : { namespace: first, name: second };
}
