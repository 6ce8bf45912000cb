import { once } from "node:events";
import { mkdir, mkdtemp, rename, rm, symlink, writeFile } from "node:fs/promises";
import { type AddressInfo, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { inspect } from "@windlass/certificates";
import { manager } from "@windlass/runtime";
import { startCluster } from "@windlass/testing";
import { expect, test } from "vitest";
import { keyringDataKey, writeKeyring } from "../tokens/index.ts";
import type { GatewayCredentials } from "./credentials.ts";
import { callOn, connectTo, FakeWorker, Pki, pool, sessionOn } from "./environment.fixture.ts";
import { RoutingTable } from "./lookup.ts";
import { gateway, gatewayShutdownMs } from "./runnable.ts";

/** Secrets as the kubelet mounts them: a link to a folder, which is swapped when they change. */
class MountedSecrets implements AsyncDisposable {
  readonly #root: string;
  #version = 0;

  private constructor(root: string) {
    this.#root = root;
  }

  static async mount(credentials: GatewayCredentials): Promise<MountedSecrets> {
    const mounted = new MountedSecrets(await mkdtemp(join(tmpdir(), "gateway-")));
    for (const [folder, files] of Object.entries(filesOf(credentials))) {
      await mkdir(join(mounted.#root, folder));
      for (const name of Object.keys(files))
        await symlink(join("..data", name), join(mounted.#root, folder, name));
    }
    await mounted.write(credentials);
    return mounted;
  }

  get folders() {
    const at = (name: string) => join(this.#root, name);
    return { clients: at("clients"), workers: at("workers"), keys: at("keys") };
  }

  async write(credentials: GatewayCredentials): Promise<void> {
    this.#version += 1;
    for (const [folder, files] of Object.entries(filesOf(credentials))) {
      const at = join(this.#root, folder);
      const version = `..${this.#version}`;
      await mkdir(join(at, version));
      for (const [name, text] of Object.entries(files)) await writeFile(join(at, version, name), text);
      await symlink(version, join(at, "..data_tmp"));
      await rename(join(at, "..data_tmp"), join(at, "..data"));
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await rm(this.#root, { recursive: true });
  }
}

function filesOf({ clients, workers, keys }: GatewayCredentials) {
  return {
    clients: { "tls.crt": clients.pair.certificate, "tls.key": clients.pair.key, "ca.crt": clients.trust },
    workers: {
      "client.crt": workers.pair.certificate,
      "client.key": workers.pair.key,
      "ca.crt": workers.trust,
    },
    keys: { [keyringDataKey]: writeKeyring(keys) },
  };
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}

test("a gateway in a manager: probes, metrics, new credentials, and a stop that waits for builds", async () => {
  const pki = new Pki();
  const table = new RoutingTable();
  await using secrets = await MountedSecrets.mount(pki.credentials());
  await using cluster = await startCluster({ flavour: "embedded" });
  const worker = await new FakeWorker(pki, "ci-worker-1").start();
  const port = await freePort();
  const probes = await freePort();
  const drain = { acceptFor: 0, within: "1h" } as const;
  const running = await cluster.run("gateway", (options) =>
    manager({
      ...options,
      health: { port: probes, host: "127.0.0.1" },
      metrics: { port: probes, host: "127.0.0.1" },
      gracefulShutdownTimeout: gatewayShutdownMs(drain),
    }).add(gateway({ pool, port, host: "127.0.0.1", folders: secrets.folders, lookup: () => table, drain })),
  );
  const probe = async (path: string) => {
    const response = await fetch(`http://127.0.0.1:${probes}${path}`);
    return { status: response.status, text: await response.text() };
  };
  expect(await probe("/healthz")).toMatchObject({ status: 200 });
  expect(await probe("/readyz")).toMatchObject({
    status: 500,
    text: expect.stringContaining("[-]gateway failed: the workers have not been listed yet"),
  });
  table.markFilled();
  expect(await probe("/readyz")).toMatchObject({ status: 200 });

  const issued = pki.token();
  const pair = pki.certificate(issued);
  table.set(issued.allocation, { at: "ready", worker: worker.address });
  const session = sessionOn(await connectTo(port, pki, pair));
  expect(await callOn(session)).toMatchObject({ status: 0, worker: "ci-worker-1" });
  expect((await probe("/metrics")).text).toContain(
    'buildkit_gateway_active_connections{pool="ci",namespace="builds"} 1',
  );

  const next = pki.credentials();
  await secrets.write(next);
  const wanted = inspect(next.clients.pair.certificate).serialNumber;
  for (let shown = ""; shown !== wanted; ) {
    const socket = await connectTo(port, pki, pair);
    shown = socket.getPeerX509Certificate()?.serialNumber ?? "";
    socket.destroy();
  }

  let hasStopped = false;
  const stopped = running.stop().then(() => {
    hasStopped = true;
  });
  expect(await probe("/readyz")).toMatchObject({ status: 500 });
  expect(await callOn(session)).toMatchObject({ status: 0 });
  await expect(connectTo(port, pki, pair)).rejects.toThrow("ECONNREFUSED");
  expect(hasStopped).toBe(false);
  session.close();
  await stopped;
  await worker.kill();
}, 30_000);
