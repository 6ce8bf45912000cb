import { generateKeyPairSync } from "node:crypto";
import { cp, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createAuthority } from "@windlass/certificates";
import { Client, findAccess, kubeconfigFor } from "@windlass/client";
import { sleep, systemClock } from "@windlass/clock";
import type { Backend } from "./backend.ts";
import { freePorts } from "./free-ports.ts";
import { Program } from "./program.ts";
import { Transports } from "./transports.ts";

const day = 24 * 3_600_000;
const patienceMs = 60_000;

/** A program of a control plane, to be treated badly by a test. */
export interface Part {
  /** Ends it with SIGKILL, in the middle of whatever it does. Resolves when it has ended. */
  kill(): Promise<void>;
  /**
   * Starts it again after a kill, on the same port and data. Resolves when the control plane is
   * ready.
   */
  restart(): Promise<void>;
}

/** A control plane made of real programs. */
export interface Binaries extends Backend {
  readonly apiServer: Part;
  readonly etcd: Part & {
    /**
     * Forgets all history but the present: a request for a change from before gets 410, once the
     * API server has restarted too.
     */
    compact(): Promise<void>;
    /**
     * Keeps a copy of the data, as a backup does.
     *
     * @returns the way to put it back: from then on the API server is at the revision of the copy,
     *   and nothing that came later has happened.
     */
    backUp(): Promise<() => Promise<void>>;
  };
}

/** How etcd and kube-apiserver are started. */
export interface BinariesOptions {
  /**
   * Pods need their service account, as in a cluster. With no controller to make accounts, a test
   * must make them itself.
   *
   * @default false: pods are taken without
   */
  readonly requireServiceAccounts?: boolean;
}

/**
 * A real etcd and kube-apiserver from the folder KUBEBUILDER_ASSETS, on ports of their own, with
 * data that goes when it is closed. They need no root, and several run side by side. There are no
 * controllers: nothing rolls out, and namespaces stay.
 */
export async function startBinaries(
  assets: string | undefined = process.env.KUBEBUILDER_ASSETS,
  options: BinariesOptions = {},
): Promise<Binaries> {
  if (!assets)
    throw new Error("KUBEBUILDER_ASSETS must name the folder that has etcd and kube-apiserver in it");
  const folder = await mkdtemp(join(tmpdir(), "windlass-"));
  const file = (name: string) => join(folder, name);
  const [etcdPort, peerPort, port] = await freePorts(3);
  const etcdUrl = `http://127.0.0.1:${etcdPort}`;
  const kubeconfig = file("kubeconfig");
  await writeCredentials(file, `https://127.0.0.1:${port}`);
  const transports = new Transports(await findAccess({ kubeconfig }));
  const etcd = new Program(
    join(assets, "etcd"),
    file("etcd.log"),
    etcdFlags(file, etcdUrl, `http://127.0.0.1:${peerPort}`),
  );
  const apiServer = new Program(join(assets, "kube-apiserver"), file("kube-apiserver.log"), [
    `--etcd-servers=${etcdUrl}`,
    `--secure-port=${port}`,
    ...apiServerFlags(file),
    ...(options.requireServiceAccounts ? [] : ["--disable-admission-plugins=ServiceAccount"]),
  ]);
  const close = async () => {
    await transports.close();
    await Promise.all([apiServer.end(), etcd.end()]);
    await rm(folder, { recursive: true, force: true });
  };
  const client = new Client({ transport: transports.open() });
  const isReady = () => ready(client, [etcd, apiServer], file("kube-apiserver.log"));
  try {
    await isReady();
  } catch (error) {
    await close();
    throw error;
  }
  const part = (program: Program): Part => ({
    kill: () => program.end(),
    restart: async () => {
      await program.end();
      program.start();
      await isReady();
    },
  });
  let backups = 0;
  const backUp = async () => {
    const copy = file(`backup-${backups++}`);
    await etcd.end();
    await cp(file("etcd"), copy, { recursive: true });
    etcd.start();
    await isReady();
    return async () => {
      await Promise.all([apiServer.end(), etcd.end()]);
      await rm(file("etcd"), { recursive: true });
      await cp(copy, file("etcd"), { recursive: true });
      etcd.start();
      apiServer.start();
      await isReady();
    };
  };
  return {
    hasControllers: false,
    shared: false,
    transport: () => transports.open(),
    hostOfThis: () => Promise.resolve("127.0.0.1"),
    kubeconfig: () => Promise.resolve(kubeconfig),
    close,
    apiServer: part(apiServer),
    etcd: { ...part(etcd), compact: () => compact(etcdUrl), backUp },
  };
}

type FileIn = (name: string) => string;

/** Writes what the programs prove themselves with, and the administrator's kubeconfig. */
async function writeCredentials(file: FileIn, server: string): Promise<void> {
  const authority = createAuthority({ commonName: "windlass-testing", validFor: day });
  const serving = authority.issue({
    commonName: "kube-apiserver",
    ipAddresses: ["127.0.0.1"],
    dnsNames: ["localhost"],
    usages: ["server"],
    validFor: day,
  });
  const admin = authority.issue({
    commonName: "admin",
    organizations: ["system:masters"],
    usages: ["client"],
    validFor: day,
  });
  const signing = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const secret = { mode: 0o600 };
  const kubeconfig = kubeconfigFor({
    server,
    ca: authority.certificate,
    cert: admin.certificate,
    key: admin.key,
  });
  await Promise.all([
    writeFile(file("ca.crt"), authority.certificate),
    writeFile(file("server.crt"), serving.certificate),
    writeFile(file("server.key"), serving.key, secret),
    writeFile(file("sa.key"), signing.privateKey.export({ type: "sec1", format: "pem" }), secret),
    writeFile(file("kubeconfig"), kubeconfig, secret),
  ]);
}

function etcdFlags(file: FileIn, url: string, peerUrl: string): readonly string[] {
  return [
    `--data-dir=${file("etcd")}`,
    `--listen-client-urls=${url}`,
    `--advertise-client-urls=${url}`,
    `--listen-peer-urls=${peerUrl}`,
    `--initial-advertise-peer-urls=${peerUrl}`,
    `--initial-cluster=default=${peerUrl}`,
    "--unsafe-no-fsync",
  ];
}

function apiServerFlags(file: FileIn): readonly string[] {
  return [
    "--bind-address=127.0.0.1",
    `--tls-cert-file=${file("server.crt")}`,
    `--tls-private-key-file=${file("server.key")}`,
    `--client-ca-file=${file("ca.crt")}`,
    `--service-account-key-file=${file("sa.key")}`,
    `--service-account-signing-key-file=${file("sa.key")}`,
    "--service-account-issuer=https://kubernetes.default.svc.cluster.local",
    "--service-cluster-ip-range=10.96.0.0/16",
    "--allow-privileged=true",
    "--authorization-mode=RBAC",
  ];
}

/** By etcd's HTTP gateway, which takes JSON and base64 keys. */
async function compact(etcdUrl: string): Promise<void> {
  const call = async (path: string, body: object): Promise<{ header?: { revision?: string } }> => {
    const response = await fetch(`${etcdUrl}/v3/kv/${path}`, { method: "POST", body: JSON.stringify(body) });
    if (!response.ok) throw new Error(`etcd: ${path} was answered with ${response.status}`);
    return (await response.json()) as { header?: { revision?: string } };
  };
  const { header } = await call("range", { key: "AA==", limit: "1" });
  await call("compaction", { revision: header?.revision, physical: true });
}

async function ready(client: Client, programs: readonly Program[], log: string): Promise<void> {
  const deadline = systemClock.monotonic() + patienceMs;
  let last = "";
  while (systemClock.monotonic() < deadline) {
    if (programs.some(({ hasEnded }) => hasEnded)) break;
    try {
      await client.raw({ path: "/readyz", retry: "never" }).then(({ body }) => Array.fromAsync(body));
      return;
    } catch (error) {
      last = error instanceof Error ? error.message : String(error);
    }
    await sleep(systemClock, 100);
  }
  const lines = (await readFile(log, "utf8").catch(() => "")).trimEnd().split("\n").slice(-5).join("\n");
  throw new Error(`kube-apiserver did not become ready (${last}); its log ends with:\n${lines}`);
}
