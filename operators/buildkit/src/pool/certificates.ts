import { inspect, type KeyPair } from "@windlass/certificates";
import type { Clock } from "@windlass/clock";
import { child, ignoreNotFound, ReconcileError } from "@windlass/runtime";
import { ConfigMap, Secret } from "@windlass/runtime/kinds";
import {
  certificateStep,
  gatewayCertificate,
  gatewayClientCertificate,
  gatewayNames,
  trustBundle,
} from "../certificates/index.ts";
import { type CredentialStore, managedByLabel } from "../credentials.ts";
import { poolLabel, poolNames } from "../names.ts";
import { type SecretClient, textData } from "../secret-data.ts";
import { spanMs } from "../span.ts";
import { keyringDataKey, poolKeyring, writeKeyring } from "../tokens/index.ts";
import type { Pool } from "./pool.ts";

/** The Secrets of a pool's gateway, and when they change next. */
export interface PoolCertificates {
  readonly children: readonly ReturnType<typeof secretFor | typeof trustFor>[];
  readonly server: { readonly notBefore: number; readonly notAfter: number; readonly renewAt: number };
  /** Epoch milliseconds. */
  readonly until: number;
}

/** What certificates are made with. */
export interface CertificatesInit {
  readonly client: SecretClient;
  readonly credentials: CredentialStore;
  readonly clock: Clock;
  /** Other names or addresses by which clients call the gateway. */
  readonly hosts: readonly string[];
}

/**
 * How soon rings are looked at again: a new key must reach gateways before it signs, ten minutes
 * after it was added.
 */
const LOOK_MS = 5 * 60_000;

const ORIGINAL_ROTATE_BEFORE_MS = 30 * 24 * 3_600_000;

/**
 * The Secrets that the gateway mounts, with new certificates where the present ones are due.
 * Gateways take them up while they run.
 *
 * @throws ReconcileError that says which Secret of a person is missing, or lacks what.
 */
export async function poolCertificates(pool: Pool, init: CertificatesInit): Promise<PoolCertificates> {
  const { client, credentials, clock, hosts } = init;
  const { auto } = pool.spec.tls;
  const { namespace, name } = pool.metadata;
  const names = poolNames(name);
  const [clients, workers, keys] = await Promise.all([
    credentials.clientAuthorities(client),
    credentials.workerAuthorities(client, pool),
    credentials.tokenKeys(client),
  ]);
  const now = clock.now();
  const validFor = spanMs(auto.serverCertDuration, "spec.tls.auto.serverCertDuration");
  const rotateBefore =
    auto.rotateBeforeExpiry === undefined
      ? Math.min(validFor / 3, ORIGINAL_ROTATE_BEFORE_MS)
      : spanMs(auto.rotateBeforeExpiry, "spec.tls.auto.rotateBeforeExpiry");
  const [tls, clientCerts] = await Promise.all([
    secretData(client, namespace, names.tlsSecret),
    secretData(client, namespace, names.clientCertsSecret),
  ]);

  const clientSigner = credentials.signer(clients, "clients");
  const own = await kept(
    pairIn(tls, "tls.crt", "tls.key"),
    { names: gatewayNames(pool.metadata, hosts), issuer: clientSigner.certificate, rotateBefore },
    now,
    () =>
      gatewayCertificate(clientSigner, {
        pool: pool.metadata,
        names: gatewayNames(pool.metadata, hosts),
        validFor,
        ...(auto.organization !== undefined && { organization: auto.organization }),
      }),
  );
  const server =
    pool.spec.tls.mode === "manual" ? await manualPair(pool, client) : { ...own, ca: trustBundle(clients) };
  const workerSigner = credentials.signer(workers, "workers");
  const toWorkers = await kept(
    pairIn(clientCerts, "client.crt", "client.key"),
    { names: { dnsNames: [], ipAddresses: [] }, issuer: workerSigner.certificate, rotateBefore },
    now,
    () => gatewayClientCertificate(workerSigner, { pool: pool.metadata, validFor }),
  );
  const { notBefore, notAfter } = inspect(server.pair.certificate);
  return {
    children: [
      secretFor(pool, names.tlsSecret, {
        "tls.crt": server.pair.certificate,
        "tls.key": server.pair.key,
        "ca.crt": trustBundle(clients),
        "server-ca.crt": server.ca,
      }),
      secretFor(pool, names.clientCertsSecret, {
        "client.crt": toWorkers.pair.certificate,
        "client.key": toWorkers.pair.key,
        "ca.crt": trustBundle(workers),
      }),
      secretFor(pool, names.tokenKeysSecret, {
        [keyringDataKey]: writeKeyring(poolKeyring(keys, pool.metadata)),
      }),
      trustFor(pool, trustBundle(clients)),
    ],
    server: { notBefore, notAfter, renewAt: server.until },
    until: Math.min(server.until, toWorkers.until, now + LOOK_MS),
  };
}

/**
 * What clients in the pool's namespace mount to trust the allocation API. Pods cannot mount what is
 * in another namespace.
 */
function trustFor(pool: Pool, bundle: string) {
  const { name } = pool.metadata;
  const metadata = { name: poolNames(name).trust, labels: { ...managedByLabel, [poolLabel]: name } };
  return child(ConfigMap, { metadata, data: { "ca.crt": bundle } });
}

function secretFor(pool: Pool, name: string, data: Readonly<Record<string, string>>) {
  const labels = { ...managedByLabel, [poolLabel]: pool.metadata.name };
  return child(Secret, { metadata: { name, labels }, type: "Opaque", stringData: data });
}

interface Kept {
  readonly pair: KeyPair;
  readonly until: number;
}

/** The present certificate if it will do, else a new one. */
async function kept(
  present: KeyPair | undefined,
  wanted: Parameters<typeof certificateStep>[1],
  now: number,
  issue: () => KeyPair,
): Promise<Kept> {
  const step = certificateStep(present, wanted, now);
  if (step.do === "keep" && present) return { pair: present, until: step.until };
  const pair = issue();
  const next = certificateStep(pair, wanted, now);
  return { pair, until: next.do === "keep" ? next.until : now + LOOK_MS };
}

function pairIn(
  data: Readonly<Record<string, string>>,
  certificate: string,
  key: string,
): KeyPair | undefined {
  const [pem, secret] = [data[certificate], data[key]];
  return pem === undefined || secret === undefined ? undefined : { certificate: pem, key: secret };
}

async function secretData(
  client: SecretClient,
  namespace: string,
  name: string,
): Promise<Readonly<Record<string, string>>> {
  const found = await ignoreNotFound(client.get(Secret, { namespace, name }));
  return found ? textData(found) : {};
}

/** A certificate that somebody else makes and renews. */
async function manualPair(pool: Pool, client: SecretClient): Promise<Kept & { readonly ca: string }> {
  const { manual } = pool.spec.tls;
  if (!manual)
    throw new ReconcileError("CertificateMissing", "spec.tls.manual must be set if mode is manual");
  const { namespace } = pool.metadata;
  const [server, authority] = await Promise.all([
    secretData(client, namespace, manual.serverCertSecret),
    secretData(client, namespace, manual.caSecret),
  ]);
  const pair = pairIn(server, "tls.crt", "tls.key");
  if (!pair)
    throw new ReconcileError(
      "CertificateMissing",
      `spec.tls.manual.serverCertSecret: Secret ${manual.serverCertSecret} must have tls.crt and tls.key`,
    );
  const ca = authority["ca.crt"];
  if (ca === undefined)
    throw new ReconcileError(
      "CertificateMissing",
      `spec.tls.manual.caSecret: Secret ${manual.caSecret} must have ca.crt`,
    );
  return { pair, ca, until: inspect(pair.certificate).notAfter };
}
