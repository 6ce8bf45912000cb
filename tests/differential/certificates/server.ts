import { type ChildProcess, spawn } from "node:child_process";
import { generateKeyPairSync } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { request } from "node:https";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { makeAssets } from "../../../packages/control-plane/src/envtest/assets.ts";

/** What a client shows: PEM. */
export interface PresentedChain {
  readonly name: string;
  /** The certificate, with those that signed it if they are sent too. */
  readonly certificate: string;
  readonly key: string;
  /** Sent as a bearer token besides. */
  readonly token?: string;
}

export interface CertificateServer extends AsyncDisposable {
  /** @returns the status, and whom the server takes the client for */
  ask(shown: PresentedChain): Promise<string>;
}

const patienceMs = 60_000;

/**
 * Starts an etcd and a kube-apiserver  with the flags that an administrator would give.
 *
 * @param assets the folder of the programs; those of this repository if there is none
 * @param authorities the file that client certificates are verified by
 */
export async function startServer(
  assets: string | undefined,
  authorities: string,
): Promise<CertificateServer> {
  const folder = mkdtempSync(join(tmpdir(), "differential-server-"));
  const bin = join(import.meta.dirname, "../../../packages/control-plane/bin/windlass-control-plane.js");
  const programs = assets ?? makeAssets(bin, join(folder, "assets"));
  const [etcdPort, peerPort, port] = [await freePort(), await freePort(), await freePort()];
  const signing = join(folder, "sa.key");
  const { privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  writeFileSync(signing, privateKey.export({ type: "sec1", format: "pem" }), { mode: 0o600 });
  const children: ChildProcess[] = [];
  const start = (program: string, ...flags: string[]) => {
    children.push(spawn(join(programs, program), flags, { stdio: "ignore" }));
  };
  const close = async () => {
    for (const child of children.toReversed()) await ended(child);
    rmSync(folder, { recursive: true, force: true });
  };
  start(
    "etcd",
    `--data-dir=${join(folder, "etcd")}`,
    `--listen-client-urls=http://127.0.0.1:${etcdPort}`,
    `--advertise-client-urls=http://127.0.0.1:${etcdPort}`,
    `--listen-peer-urls=http://127.0.0.1:${peerPort}`,
    "--unsafe-no-fsync",
  );
  start(
    "kube-apiserver",
    `--etcd-servers=http://127.0.0.1:${etcdPort}`,
    `--secure-port=${port}`,
    "--bind-address=127.0.0.1",
    `--cert-dir=${join(folder, "certificates")}`,
    `--client-ca-file=${authorities}`,
    `--service-account-key-file=${signing}`,
    `--service-account-signing-key-file=${signing}`,
    "--service-account-issuer=https://localhost",
    "--service-cluster-ip-range=10.0.0.0/24",
    "--authorization-mode=RBAC",
  );
  try {
    const until = Date.now() + patienceMs;
    while ((await send(port, "GET", "/readyz").catch(() => undefined))?.status !== 200) {
      if (Date.now() > until) throw new Error(`the programs of ${programs} were not ready in time`);
      await sleep(100);
    }
  } catch (error) {
    await close();
    throw error;
  }
  return {
    ask: async (shown) => {
      try {
        const path = "/apis/authentication.k8s.io/v1/selfsubjectreviews";
        const { status, text } = await send(port, "POST", path, shown, "{}");
        const { status: review } = JSON.parse(text) as { status?: { userInfo?: unknown } };
        return `${status} ${JSON.stringify(review?.userInfo ?? review)}`;
      } catch (error) {
        return `no answer: ${(error as NodeJS.ErrnoException).code}`;
      }
    },
    [Symbol.asyncDispose]: close,
  };
}

function send(
  port: number,
  method: string,
  path: string,
  shown?: PresentedChain,
  body?: string,
): Promise<{ readonly status: number; readonly text: string }> {
  const { certificate: cert, key, token } = shown ?? {};
  const headers = {
    "content-type": "application/json",
    ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
  };
  const options = { host: "127.0.0.1", port, method, path, cert, key, headers, agent: false as const };
  return new Promise((resolve, reject) => {
    const outgoing = request({ ...options, rejectUnauthorized: false }, (incoming) => {
      let text = "";
      incoming.setEncoding("utf8").on("data", (chunk: string) => (text += chunk));
      incoming.once("error", reject).once("end", () => resolve({ status: incoming.statusCode ?? 0, text }));
    });
    outgoing.once("error", reject).end(body);
  });
}

function ended(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return Promise.resolve();
  const gone = new Promise<void>((resolve) => child.once("exit", () => resolve()));
  child.kill("SIGTERM");
  return gone;
}

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as { port: number };
  await new Promise((resolve) => server.close(resolve));
  return port;
}
