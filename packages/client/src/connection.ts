import { type Clock, type Random, systemClock, systemRandom } from "@windlass/clock";
import type { Credential, Credentials } from "./credential.ts";
import { credentialsFor } from "./credentials.ts";
import { authenticate } from "./intercept/authenticate.ts";
import { impersonate } from "./intercept/impersonate.ts";
import { type ObserveOptions, observe, type RequestOutcome } from "./intercept/observe.ts";
import { type Retry, retry } from "./intercept/retry.ts";
import { tellExpiry } from "./intercept/tell-expiry.ts";
import type { ClusterAccess } from "./kubeconfig/access.ts";
import type { Log } from "./log.ts";
import type { TlsMaterial } from "./network/dial.ts";
import { RotatingFile } from "./network/file.ts";
import { parseProxy, proxyFromEnvironment } from "./network/proxy.ts";
import { type NetworkOptions, networkTransport } from "./network/transport.ts";
import { type Interceptor, intercept, type Transport } from "./transport.ts";

/** How {@link openTransport} connects, and its observers. */
export interface ConnectionOptions
  extends Pick<NetworkOptions, "connectTimeout" | "headersTimeout" | "idleTimeout" | "compression">,
    Pick<ObserveOptions, "onResponseSize"> {
  /**
   * Around all others, the first outermost: tracing, fault injection, what you like.
   *
   * @default none
   */
  readonly interceptors?: readonly Interceptor[];
  /** How often a request is made at most; see {@link retry}. @default 5 */
  readonly attempts?: number;
  /**
   * Told of every request made, repetitions singly. The source of `rest_client_*` metrics.
   * @default
   * none
   */
  readonly onOutcome?: (outcome: RequestOutcome) => void;
  /** Called for every retry. @default none */
  readonly onRetry?: (retry: Retry) => void;
  /** Requests at level debug. @default none */
  readonly log?: Log;
  /** Where HTTPS_PROXY and NO_PROXY are looked up. @default the process' */
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** @default the system's */
  readonly clock?: Clock;
  /** @default the system's */
  readonly random?: Random;
}

/**
 * A transport to the cluster, with its credentials, retries and telemetry around it. Credentials go
 * only to servers that speak TLS, as with kubectl: over plain HTTP anyone on the way could read
 * them.
 */
export function openTransport(access: ClusterAccess, options: ConnectionOptions = {}): Transport {
  const {
    clock = systemClock,
    random = systemRandom,
    log,
    onOutcome,
    onResponseSize,
    onRetry,
    attempts,
  } = options;
  const server = new URL(access.cluster.server);
  const isSecure = server.protocol === "https:";
  const credentials = credentialsFor(access, clock);
  const { proxyUrl, disableCompression } = access.cluster;
  const proxy = proxyUrl
    ? parseProxy(proxyUrl, `kubeconfig ${access.source}: proxy-url`)
    : proxyFromEnvironment(server, options.env ?? process.env);
  const compression = options.compression ?? (disableCompression ? "none" : "gzip");
  const tls = isSecure ? tlsSource(access, credentials, clock) : undefined;
  const network = networkTransport({
    server,
    clock,
    compression,
    ...(tls ? { tls } : {}),
    ...(proxy ? { proxy } : {}),
    ...(options.connectTimeout === undefined ? {} : { connectTimeout: options.connectTimeout }),
    ...(options.headersTimeout === undefined ? {} : { headersTimeout: options.headersTimeout }),
    ...(options.idleTimeout === undefined ? {} : { idleTimeout: options.idleTimeout }),
  });
  return intercept(network, [
    ...(options.interceptors ?? []),
    ...(attempts === 1
      ? []
      : [
          retry({
            clock,
            random,
            ...(attempts === undefined ? {} : { attempts }),
            ...(onRetry ? { onRetry } : {}),
          }),
        ]),
    ...(tls ? [tellExpiry(tls, access.source, clock), authenticate(credentials)] : []),
    ...(access.user.impersonate ? [impersonate(access.user.impersonate)] : []),
    observe({
      host: server.host,
      clock,
      ...(onOutcome ? { onOutcome } : {}),
      ...(onResponseSize ? { onResponseSize } : {}),
      ...(log ? { log } : {}),
    }),
  ]);
}

type Pem = string | Buffer | undefined;
type PemSource = () => Pem | Promise<Pem>;

/**
 * TLS material from inline data or files, and from an exec plugin; a new object only when a part of
 * it changed.
 */
function tlsSource(
  access: ClusterAccess,
  credentials: Credentials,
  clock: Clock,
): () => TlsMaterial | Promise<TlsMaterial> {
  const { cluster, user } = access;
  const ca = pem(cluster.certificateAuthorityData, cluster.certificateAuthority, clock);
  const cert = pem(user.clientCertificateData, user.clientCertificate, clock);
  const key = pem(user.clientKeyData, user.clientKey, clock);
  let last: TlsMaterial | undefined;
  const materialOf = (caNow: Pem, certNow: Pem, keyNow: Pem): TlsMaterial => {
    if (last && last.ca === caNow && last.cert === certNow && last.key === keyNow) return last;
    last = {
      ...(caNow ? { ca: caNow } : {}),
      ...(certNow ? { cert: certNow } : {}),
      ...(keyNow ? { key: keyNow } : {}),
      ...(cluster.tlsServerName ? { serverName: cluster.tlsServerName } : {}),
      ...(cluster.insecureSkipTlsVerify ? { insecureSkipVerify: true } : {}),
    };
    return last;
  };
  const materialFor = (issued: Credential): TlsMaterial | Promise<TlsMaterial> => {
    const caNow = ca();
    const certNow = issued.cert ?? cert();
    const keyNow = issued.key ?? key();
    if (caNow instanceof Promise || certNow instanceof Promise || keyNow instanceof Promise)
      return Promise.all([caNow, certNow, keyNow]).then((all) => materialOf(...all));
    return materialOf(caNow, certNow, keyNow);
  };
  return () => {
    const issued = user.exec ? credentials.current() : {};
    return issued instanceof Promise ? issued.then(materialFor) : materialFor(issued);
  };
}

function pem(data: string | undefined, path: string | undefined, clock: Clock): PemSource {
  if (data) {
    const decoded = Buffer.from(data, "base64");
    return () => decoded;
  }
  if (!path) return () => undefined;
  const file = new RotatingFile(path, clock);
  return () => file.read();
}
