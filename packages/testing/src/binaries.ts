import { type ChildProcess, spawn } from "node:child_process";
import { generateKeyPairSync } from "node:crypto";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createAuthority } from "@windlass/certificates";
import { Client, findAccess, kubeconfigFor, openTransport, type Transport } from "@windlass/client";
import { sleep, systemClock } from "@windlass/clock";
import type { Backend } from "./cluster.ts";

const day = 24 * 3_600_000;
const patienceMs = 60_000;

/**
 * A real etcd and kube-apiserver from the folder KUBEBUILDER_ASSETS, on ports of their own, with data that goes when it is closed. They
 * need no root, and several run side by side. There are no controllers: nothing rolls out, and namespaces stay.
 */
export async function startBinaries(
  assets: string | undefined = process.env.KUBEBUILDER_ASSETS,
): Promise<Backend> {
  if (!assets)
    throw new Error("KUBEBUILDER_ASSETS must name the folder that has etcd and kube-apiserver in it");
  const folder = await mkdtemp(join(tmpdir(), "windlass-"));
  const authority = createAuthority({ commonName: "windlass-testing", validForMs: day });
  const serving = authority.issue({
    commonName: "kube-apiserver",
    ipAddresses: ["127.0.0.1"],
    dnsNames: ["localhost"],
    usages: ["server"],
    validForMs: day,
  });
  const admin = authority.issue({
    commonName: "admin",
    organizations: ["system:masters"],
    usages: ["client"],
    validForMs: day,
  });
  const signing = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const file = (name: string) => join(folder, name);
  await Promise.all([
    writeFile(file("ca.crt"), authority.certificate),
    writeFile(file("server.crt"), serving.certificate),
    writeFile(file("server.key"), serving.key, { mode: 0o600 }),
    writeFile(file("sa.key"), signing.privateKey.export({ type: "sec1", format: "pem" }), { mode: 0o600 }),
  ]);
  const [etcdPort, peerPort, port] = await freePorts(3);
  const etcdUrl = `http://127.0.0.1:${etcdPort}`;
  const peerUrl = `http://127.0.0.1:${peerPort}`;
  const etcd = launch(join(assets, "etcd"), file("etcd.log"), [
    `--data-dir=${file("etcd")}`,
    `--listen-client-urls=${etcdUrl}`,
    `--advertise-client-urls=${etcdUrl}`,
    `--listen-peer-urls=${peerUrl}`,
    `--initial-advertise-peer-urls=${peerUrl}`,
    `--initial-cluster=default=${peerUrl}`,
    "--unsafe-no-fsync",
  ]);
  const apiserver = launch(join(assets, "kube-apiserver"), file("kube-apiserver.log"), [
    `--etcd-servers=${etcdUrl}`,
    `--secure-port=${port}`,
    "--bind-address=127.0.0.1",
    `--tls-cert-file=${file("server.crt")}`,
    `--tls-private-key-file=${file("server.key")}`,
    `--client-ca-file=${file("ca.crt")}`,
    `--service-account-key-file=${file("sa.key")}`,
    `--service-account-signing-key-file=${file("sa.key")}`,
    "--service-account-issuer=https://kubernetes.default.svc.cluster.local",
    "--service-cluster-ip-range=10.0.0.0/24",
    "--authorization-mode=RBAC",
    // With no service account controller, pods could never be made.
    "--disable-admission-plugins=ServiceAccount",
  ]);
  const kubeconfig = file("kubeconfig");
  const content = kubeconfigFor({
    server: `https://127.0.0.1:${port}`,
    ca: authority.certificate,
    cert: admin.certificate,
    key: admin.key,
  });
  await writeFile(kubeconfig, content, { mode: 0o600 });
  const access = await findAccess({ kubeconfig });
  const open: Transport[] = [];
  const transport = () => {
    const made = openTransport(access, {});
    open.push(made);
    return made;
  };
  const close = async () => {
    await Promise.all(open.map((each) => each.close()));
    await Promise.all([end(apiserver), end(etcd)]);
    await rm(folder, { recursive: true, force: true });
  };
  try {
    await ready(new Client({ transport: transport() }), [etcd, apiserver], file("kube-apiserver.log"));
  } catch (error) {
    await close();
    throw error;
  }
  return {
    hasControllers: false,
    shared: false,
    transport,
    kubeconfig: () => Promise.resolve(kubeconfig),
    close,
  };
}

function launch(program: string, log: string, flags: readonly string[]): ChildProcess {
  // The shell only joins output and log file; exec makes the program itself the child.
  return spawn("/bin/sh", ["-c", 'log="$1"; shift; exec "$@" >"$log" 2>&1', "sh", log, program, ...flags], {
    stdio: "ignore",
  });
}

async function ready(client: Client, programs: readonly ChildProcess[], log: string): Promise<void> {
  const deadline = systemClock.monotonic() + patienceMs;
  let last = "";
  while (systemClock.monotonic() < deadline) {
    if (programs.some(({ exitCode }) => exitCode !== null)) break;
    try {
      await client.raw({ path: "/readyz" });
      return;
    } catch (error) {
      last = error instanceof Error ? error.message : String(error);
    }
    await sleep(systemClock, 100);
  }
  const lines = (await readFile(log, "utf8").catch(() => "")).trimEnd().split("\n").slice(-5).join("\n");
  throw new Error(`kube-apiserver did not become ready (${last}); its log ends with:\n${lines}`);
}

async function end(program: ChildProcess): Promise<void> {
  if (program.exitCode !== null || program.signalCode !== null) return;
  const gone = new Promise<void>((resolve) => {
    program.once("exit", () => resolve());
  });
  program.kill("SIGKILL");
  await gone;
}

async function freePorts(count: number): Promise<number[]> {
  const servers = await Promise.all(
    Array.from({ length: count }, () => {
      const server = createServer();
      return new Promise<typeof server>((resolve) => {
        server.listen(0, "127.0.0.1", () => resolve(server));
      });
    }),
  );
  const ports = servers.map((server) => (server.address() as { port: number }).port);
  await Promise.all(servers.map((server) => new Promise((resolve) => server.close(resolve))));
  return ports;
}
