import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createSecureContext, type TLSSocket } from "node:tls";
import {
  addAuthority,
  addKey,
  allocationCertificate,
  gatewayCertificate,
  gatewayClientCertificate,
  gatewayNames,
  issueToken,
  keyringDataKey,
  newAllocationId,
  poolKeyring,
  signingAuthority,
  trustBundle,
  workerCertificate,
  workerServerName,
  writeKeyring,
} from "@windlass/buildkit";
import { systemClock, systemRandom } from "@windlass/clock";
import type { GatewayInput } from "./gateway-child.ts";
import { echoed, LoadClient, type Side, startWorker } from "./gateway-load.ts";
import { inParallel } from "./load.ts";
import { cpuOf, freePort, type MeasuredProcess, settledMemory } from "./measured-process.ts";
import { bundle } from "./ours.ts";
import { findPeer, median } from "./peer.ts";
import type { Result, Row } from "./table.ts";

const streams = 8;
/** Connections that are busy beside the idle ones. */
const busyConnections = 50;

/** How much of everything there is. */
interface Amounts {
  readonly rounds: number;
  readonly transferBytes: number;
  readonly visits: number;
  readonly idleConnections: number;
  readonly echoes: number;
}

const full: Amounts = {
  rounds: 5,
  transferBytes: 256 * 1024 * 1024,
  visits: 400,
  idleConnections: 5_000,
  echoes: 5_000,
};

/** A short run, to see that it works: its figures say little. */
const short = (connections: number): Amounts => ({
  rounds: 1,
  transferBytes: 32 * 1024 * 1024,
  visits: connections,
  idleConnections: connections,
  echoes: connections,
});
const pool = { namespace: "builds", name: "ci" };
const day = 24 * 3_600_000;

/** What one gateway did in one round. */
interface Figures {
  readonly sendPerCpu: number;
  readonly receivePerCpu: number;
  readonly streamsPerCpu: number;
  readonly visitsPerCpu: number;
  readonly visitsPerSecond: number;
  readonly echoCpuMicros: number;
  readonly echoMicros: number;
}

export const needs = [() => findPeer("go-gateway")];

/**
 * BuildKit's gateway beside a plain Go one that copies with io.Copy: the same certificates, the
 * same worker, the same client, in turn.
 */
export async function run({ objects }: { readonly objects?: number } = {}): Promise<Result> {
  const amounts = objects === undefined ? full : short(objects);
  const folder = await mkdtemp(join(tmpdir(), "windlass-gateway-"));
  const material = makeMaterial();
  const worker = await startWorker(material.worker);
  const gateways: MeasuredProcess[] = [];
  try {
    await writeFiles(folder, material, worker.port);
    gateways.push(await startOurs(folder), await startPeer(folder));
    const { certificate, key, trust } = material.client;
    const context = createSecureContext({ cert: certificate, key, ca: trust });
    const clients = gateways.map(
      ({ port }) => new LoadClient(port, `${pool.name}.${pool.namespace}.svc`, context),
    );
    const figures: Figures[][] = gateways.map(() => []);
    // The first round warms everything up, and does not count.
    for (let round = 0; round <= amounts.rounds; round++)
      for (const [index, gateway] of gateways.entries()) {
        const found = await measure(gateway, clients[index] as LoadClient, amounts);
        if (round > 0) figures[index]?.push(found);
      }
    const crowds: Crowd[] = [];
    for (const [index, gateway] of gateways.entries())
      crowds.push(await crowd(gateway, clients[index] as LoadClient, amounts));
    return result(figures, crowds, amounts);
  } finally {
    for (const { process: child } of gateways) child.kill("SIGKILL");
    await worker.stop();
    await rm(folder, { recursive: true, force: true });
  }
}

function result(
  [ours = [], peer = []]: readonly Figures[][],
  [ourCrowd, peerCrowd]: readonly Crowd[],
  { rounds, transferBytes, visits, echoes, idleConnections }: Amounts,
): Result {
  const row = (what: string, unit: string, better: Row["better"], of: (one: Figures) => number): Row => ({
    what,
    unit,
    ours: median(ours.map(of)),
    peer: median(peer.map(of)),
    better,
  });
  return {
    name: "gateway",
    peer: "Go, io.Copy",
    rows: [
      row("sent through it, one stream", "MiB per CPU second", "more", (one) => one.sendPerCpu),
      row("received through it, one stream", "MiB per CPU second", "more", (one) => one.receivePerCpu),
      row(`both ways, ${streams} streams`, "MiB per CPU second", "more", (one) => one.streamsPerCpu),
      row("connections, handshake to end", "per CPU second", "more", (one) => one.visitsPerCpu),
      row("connections, handshake to end, 8 at a time", "/s", "more", (one) => one.visitsPerSecond),
      row("CPU for a message of 16 bytes, there and back", "µs", "less", (one) => one.echoCpuMicros),
      row("a message of 16 bytes, there and back", "µs", "less", (one) => one.echoMicros),
      {
        what: "memory per idle connection",
        unit: "KiB",
        ours: ourCrowd?.memoryPerIdle ?? 0,
        peer: peerCrowd?.memoryPerIdle ?? 0,
        better: "less",
      },
      {
        what: `a message there and back on ${busyConnections} connections at once, beside the idle ones, p99`,
        unit: "ms",
        ours: ourCrowd?.busyP99 ?? 0,
        peer: peerCrowd?.busyP99 ?? 0,
        better: "less",
      },
    ],
    notes: [
      `${transferBytes >> 20} MiB a transfer, ${visits} connections, ${echoes} messages; medians of ${rounds} rounds, taken in turn. ${idleConnections} idle connections.`,
      "TLS 1.3 with client certificates on both sides of the gateway. CPU is that of the gateway's process alone, all of its threads.",
      "Ours checks the token in the certificate, follows the frames of HTTP/2, and runs on one core; the peer looks the name up in a map, and runs on all.",
    ],
  };
}

async function measure(gateway: MeasuredProcess, client: LoadClient, amounts: Amounts): Promise<Figures> {
  const { transferBytes, visits, echoes } = amounts;
  const mebibytes = transferBytes / 1_048_576;
  const send = await cpuOf(gateway, () => client.transfer("send", transferBytes));
  const receive = await cpuOf(gateway, () => client.transfer("receive", transferBytes));
  const both = await cpuOf(gateway, () =>
    Promise.all(
      Array.from({ length: streams }, (_, index) =>
        client.transfer(index % 2 === 0 ? "send" : "receive", transferBytes / streams),
      ),
    ),
  );
  const visiting = await cpuOf(gateway, () => inParallel(visits, 8, () => client.visit()));
  const socket = await client.idle();
  const echoing = await cpuOf(gateway, async () => {
    for (let count = 0; count < echoes; count++) await echoed(socket);
  });
  socket.destroy();
  return {
    sendPerCpu: mebibytes / send.cpu,
    receivePerCpu: mebibytes / receive.cpu,
    streamsPerCpu: mebibytes / both.cpu,
    visitsPerCpu: visits / visiting.cpu,
    visitsPerSecond: visits / visiting.wall,
    echoCpuMicros: (echoing.cpu * 1e6) / echoes,
    echoMicros: (echoing.wall * 1e6) / echoes,
  };
}

/** What a gateway does with many connections. */
interface Crowd {
  /** KiB by which the process grows for each connection that is open and silent. */
  readonly memoryPerIdle: number;
  /** In milliseconds. */
  readonly busyP99: number;
}

async function crowd(
  gateway: MeasuredProcess,
  client: LoadClient,
  { idleConnections, echoes }: Amounts,
): Promise<Crowd> {
  const sockets: TLSSocket[] = [];
  const open = (count: number) =>
    inParallel(count, 8, async () => {
      sockets.push(await client.idle());
    });
  const before = await settledMemory(gateway);
  await open(idleConnections);
  const after = await settledMemory(gateway);
  await open(busyConnections);
  const busy = sockets.slice(idleConnections);
  const times: number[] = [];
  await Promise.all(
    busy.map(async (socket) => {
      for (let count = 0; count < echoes / busy.length; count++) {
        const startedAt = performance.now();
        await echoed(socket);
        times.push(performance.now() - startedAt);
      }
    }),
  );
  const closed = sockets.filter(({ destroyed }) => destroyed).length;
  for (const socket of sockets) socket.destroy();
  if (closed > 0) throw new Error(`${closed} of ${sockets.length} connections were closed`);
  return {
    memoryPerIdle: (after - before) / 1_024 / idleConnections,
    busyP99: times.toSorted((a, b) => a - b)[Math.floor(times.length * 0.99)] ?? 0,
  };
}

async function startOurs(folder: string): Promise<MeasuredProcess> {
  const file = await bundle(join(import.meta.dirname, "gateway-child.ts"), "gateway-child");
  const child = spawn(process.execPath, [file, join(folder, "input.json")], {
    stdio: ["ignore", "pipe", "inherit"],
    env: { ...process.env, NODE_ENV: "production" },
  });
  const [line] = (await once(child.stdout, "data")) as [Buffer];
  return { process: child, pid: child.pid ?? 0, port: Number(line.toString()) };
}

async function startPeer(folder: string): Promise<MeasuredProcess> {
  const program = await findPeer("go-gateway");
  const port = await freePort();
  const at = (name: string) => join(folder, name);
  const child = spawn(
    program,
    [
      ["--listen", `127.0.0.1:${port}`],
      ["--cert", at("tls.crt")],
      ["--key", at("tls.key")],
      ["--client-ca", at("ca.crt")],
      ["--map", at("map.json")],
      ["--backend-cert", at("client.crt")],
      ["--backend-key", at("client.key")],
      ["--backend-ca", at("ca.crt")],
      ["--backend-name", workerServerName({ namespace: pool.namespace, name: "worker" })],
    ].flat(),
    { stdio: ["ignore", "ignore", "pipe"] },
  );
  await once(child.stderr, "data");
  child.stderr.resume();
  return { process: child, pid: child.pid ?? 0, port };
}

interface Material {
  readonly files: Readonly<Record<string, string>>;
  readonly token: string;
  readonly allocation: string;
  readonly worker: Side;
  readonly client: Side;
}

/**
 * Certificates and keys. The files are those of a gateway's Secrets; one authority signs all, so
 * that one `ca.crt` does for both sides.
 */
function makeMaterial(): Material {
  const ring = addAuthority([], "benchmark", systemClock);
  const authority = signingAuthority(ring, systemClock);
  if (!authority) throw new Error("the authority cannot sign");
  const trust = trustBundle(ring);
  const keys = poolKeyring(addKey([], Date.now(), systemRandom), pool);
  const issued = issueToken(keys, { allocationId: newAllocationId(systemRandom), now: Date.now() });
  const server = gatewayCertificate(authority, { pool, names: gatewayNames(pool), validFor: day });
  const toWorker = gatewayClientCertificate(authority, { pool, validFor: day });
  const named = { namespace: pool.namespace, name: "worker" };
  return {
    files: {
      "tls.crt": server.certificate,
      "tls.key": server.key,
      "client.crt": toWorker.certificate,
      "client.key": toWorker.key,
      "ca.crt": trust,
      [keyringDataKey]: writeKeyring(keys),
    },
    token: issued.token,
    allocation: issued.allocation,
    worker: { ...workerCertificate(authority, { worker: named, pool, validFor: day }), trust },
    client: { ...allocationCertificate(authority, { pool, issued }), trust },
  };
}

async function writeFiles(
  folder: string,
  { files, token, allocation }: Material,
  port: number,
): Promise<void> {
  const named = { namespace: pool.namespace, name: "worker" };
  const worker = { name: named.name, host: "127.0.0.1", port, serverName: workerServerName(named) };
  const input: GatewayInput = { pool, folder, allocation, worker };
  const all = {
    ...files,
    "map.json": JSON.stringify({ [token]: `127.0.0.1:${port}` }),
    "input.json": JSON.stringify(input),
  };
  for (const [name, text] of Object.entries(all)) await writeFile(join(folder, name), text, { mode: 0o600 });
}
