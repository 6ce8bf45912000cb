import { inspect, type KeyPair, splitBundle } from "@windlass/certificates";
import type { Clock } from "@windlass/clock";
import { child, ignoreNotFound } from "@windlass/runtime";
import { ConfigMap, Secret } from "@windlass/runtime/kinds";
import {
  CredentialsError,
  certificateStep,
  checkPair,
  gatewayCertificate,
  gatewayClientCertificate,
  gatewayNames,
  trustBundle,
} from "../certificates/index.ts";
import { type CredentialStore, managedByLabel } from "../credentials.ts";
import { poolLabel, poolNames } from "../names.ts";
import { type SecretClient, textData } from "../secret-data.ts";
import { spanMs } from "../span.ts";
import {
  arrivingKeyring,
  type Keyring,
  KeyringError,
  keyringDataKey,
  readKeyring,
  writeKeyring,
} from "../tokens/index.ts";
import type { Pool } from "./pool.ts";

/** Why something could not be had. */
export interface Fault {
  readonly reason: string;
  readonly message: string;
}

/** The Secrets of a pool's gateway, and when they change next. */
export interface PoolCertificates {
  readonly children: readonly ReturnType<typeof secretFor | typeof trustFor>[];
  /** What clients are shown; undefined if there is no certificate that could be. */
  readonly server:
    | { readonly notBefore: number; readonly notAfter: number; readonly renewAt: number }
    | undefined;
  /** What is wrong with a certificate that a person has to give; undefined if nothing is. */
  readonly fault: Fault | undefined;
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
  /** The names of the allocation API. */
  readonly apiNames: readonly string[];
}

/**
 * How soon rings are looked at again: a new key must reach gateways before it signs, ten minutes
 * after it was added.
 */
const LOOK_MS = 5 * 60_000;

/** How soon a certificate is looked at again that a person has to mend. */
const FAULT_LOOK_MS = 30_000;

const ORIGINAL_ROTATE_BEFORE_MS = 30 * 24 * 3_600_000;

/**
 * The Secrets that the gateway mounts, with new certificates where the present ones are due.
 * Gateways take them up while they run. Where a person's certificate cannot be used, what clients
 * are shown stays as it is, and everything else goes on: without new token keys a gateway would
 * refuse every new allocation.
 *
 * @throws ReconcileError `NoAuthority`.
 */
export async function poolCertificates(pool: Pool, init: CertificatesInit): Promise<PoolCertificates> {
  const { client, credentials, clock, hosts, apiNames } = init;
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
  const [tls, clientCerts, tokenKeys] = await Promise.all([
    secretData(client, namespace, names.tlsSecret),
    secretData(client, namespace, names.clientCertsSecret),
    secretData(client, namespace, names.tokenKeysSecret),
  ]);

  const clientSigner = credentials.signer(clients, "clients");
  const gateway = gatewayNames(pool.metadata, hosts, apiNames);
  const own = await kept(
    pairIn(tls, "tls.crt", "tls.key"),
    { names: gateway, issuer: clientSigner.certificate, rotateBefore },
    now,
    () =>
      gatewayCertificate(clientSigner, {
        pool: pool.metadata,
        names: gateway,
        validFor,
        ...(auto.organization !== undefined && { organization: auto.organization }),
      }),
  );
  const shown =
    pool.spec.tls.mode === "manual"
      ? await manualPair(pool, client, now)
      : { ...own, ca: trustBundle(clients), fault: undefined };
  const server = shown.fault ? shownBefore(tls) : shown;
  const workerSigner = credentials.signer(workers, "workers");
  const toWorkers = await kept(
    pairIn(clientCerts, "client.crt", "client.key"),
    { names: { dnsNames: [], ipAddresses: [] }, issuer: workerSigner.certificate, rotateBefore },
    now,
    () => gatewayClientCertificate(workerSigner, { pool: pool.metadata, validFor }),
  );
  const end = server && inspect(server.pair.certificate);
  return {
    children: [
      ...(server
        ? [
            secretFor(pool, names.tlsSecret, {
              "tls.crt": server.pair.certificate,
              "tls.key": server.pair.key,
              "ca.crt": trustBundle(clients),
              "server-ca.crt": server.ca,
            }),
          ]
        : []),
      secretFor(pool, names.clientCertsSecret, {
        "client.crt": toWorkers.pair.certificate,
        "client.key": toWorkers.pair.key,
        "ca.crt": trustBundle(workers),
      }),
      secretFor(pool, names.tokenKeysSecret, {
        [keyringDataKey]: writeKeyring(arrivingKeyring(keys, pool.metadata, keysIn(tokenKeys), now)),
      }),
      trustFor(pool, trustBundle(clients)),
    ],
    server: end && { notBefore: end.notBefore, notAfter: end.notAfter, renewAt: shown.until },
    fault: shown.fault,
    until: Math.min(shown.until, toWorkers.until, now + LOOK_MS),
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

/** The keys that the gateways have; none if they cannot be read. */
function keysIn(data: Readonly<Record<string, string>>): Keyring {
  try {
    return readKeyring(data[keyringDataKey] ?? "");
  } catch (error) {
    if (!(error instanceof KeyringError)) throw error;
    return [];
  }
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

interface Shown extends Kept {
  /** What clients have to trust. */
  readonly ca: string;
  readonly fault: undefined;
}

interface NotShown {
  readonly fault: Fault;
  /** When it may be another. */
  readonly until: number;
}

/** What clients were shown until now; undefined if there is nothing of the kind. */
function shownBefore(tls: Readonly<Record<string, string>>): Pick<Shown, "pair" | "ca"> | undefined {
  const pair = pairIn(tls, "tls.crt", "tls.key");
  const ca = tls["server-ca.crt"];
  return pair && ca !== undefined && isReadable(pair.certificate) ? { pair, ca } : undefined;
}

/** A certificate that the pool's owner makes and renews, if it can be used. */
async function manualPair(pool: Pool, client: SecretClient, now: number): Promise<Shown | NotShown> {
  const faulty = (reason: string, message: string): NotShown => ({
    fault: { reason, message },
    until: now + FAULT_LOOK_MS,
  });
  const { manual } = pool.spec.tls;
  if (!manual) return faulty("CertificateMissing", "spec.tls.manual must be set if mode is manual");
  const { namespace } = pool.metadata;
  const [server, authority] = await Promise.all([
    secretData(client, namespace, manual.serverCertSecret),
    secretData(client, namespace, manual.caSecret),
  ]);
  const serverField = `spec.tls.manual.serverCertSecret: Secret ${manual.serverCertSecret}`;
  const pair = pairIn(server, "tls.crt", "tls.key");
  if (!pair) return faulty("CertificateMissing", `${serverField} must have tls.crt and tls.key`);
  const caField = `spec.tls.manual.caSecret: Secret ${manual.caSecret}`;
  const ca = authority["ca.crt"];
  if (ca === undefined) return faulty("CertificateMissing", `${caField} must have ca.crt`);
  const authorities = splitBundle(ca);
  if (authorities.length === 0 || !authorities.every(isReadable))
    return faulty("CertificateUnusable", `${caField}: ca.crt is not a list of certificates in PEM`);
  try {
    const notAfter = checkPair(pair, "its certificate", now);
    return { pair, ca, until: Math.min(notAfter, now + LOOK_MS), fault: undefined };
  } catch (error) {
    if (!(error instanceof CredentialsError)) throw error;
    const reason = error.fault === "out-of-date" ? "CertificateExpired" : "CertificateUnusable";
    return faulty(reason, `${serverField}: ${error.message}`);
  }
}

function isReadable(certificate: string): boolean {
  try {
    inspect(certificate);
    return true;
  } catch {
    return false;
  }
}
