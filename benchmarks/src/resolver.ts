import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { cpuOf, freePort, type MeasuredProcess, settledMemory } from "./measured-process.ts";
import { bundle } from "./ours.ts";
import { median } from "./peer.ts";
import type { ResolverMessage } from "./resolver-child.ts";
import { Client, pace, saturate, startBackend } from "./resolver-load.ts";
import type { Result, Row } from "./table.ts";

/** How long the benchmark takes. A smoke test makes it short; figures are those of the defaults. */
const rounds = Number(process.env.RESOLVER_ROUNDS ?? 5);
const saturatedMs = Number(process.env.RESOLVER_MS ?? 3_000);
const heldRequests = Number(process.env.RESOLVER_HELD ?? 5_000);
const connections = 64;
const perSecond = 1_000;

/** What one proxy did in one round. */
interface Figures {
  readonly keptPerCpu: number;
  readonly keptPerSecond: number;
  readonly closedPerCpu: number;
  /** Latencies at a fixed rate, beyond those without a proxy, in milliseconds. */
  readonly added: { readonly p50: number; readonly p95: number; readonly p99: number };
}

export const needs = [findNginx];

/**
 * Elasti's resolver, with its target up and asleep, beside nginx: the same clients, the same
 * server, in turn.
 */
export async function run(): Promise<Result> {
  const folder = await mkdtemp(join(tmpdir(), "windlass-resolver-"));
  const backend = await startBackend();
  const proxies: MeasuredProcess[] = [];
  try {
    const ours = await startOurs();
    proxies.push(ours, await startNginx(folder, backend.port));
    say(ours.process, { podPort: backend.port });
    const figures: Figures[][] = proxies.map(() => []);
    // The first round warms everything up, and does not count.
    for (let round = 0; round <= rounds; round++) {
      const direct = await pace(backend.port, perSecond, saturatedMs);
      for (const [index, proxy] of proxies.entries()) {
        const found = await measure(proxy, direct);
        if (round > 0) figures[index]?.push(found);
      }
    }
    // In a process that has not grown yet, where what is held cannot take the room of what was
    // there before.
    const fresh = await startOurs();
    proxies.push(fresh);
    const held = await hold(fresh, backend.port);
    return result(figures, held);
  } finally {
    for (const { process: child } of proxies) child.kill("SIGKILL");
    await backend.stop();
    await rm(folder, { recursive: true, force: true });
  }
}

interface Held {
  readonly bytesPerRequest: number;
  readonly releasedWithinMs: number;
}

function result([ours = [], nginx = []]: readonly Figures[][], held: Held): Result {
  const row = (what: string, unit: string, better: Row["better"], of: (one: Figures) => number): Row => ({
    what,
    unit,
    ours: median(ours.map(of)),
    peer: median(nginx.map(of)),
    better,
  });
  const rate = perSecond.toLocaleString("en-US");
  const many = heldRequests.toLocaleString("en-US");
  return {
    name: "resolver",
    peer: "nginx",
    rows: [
      row("requests, kept connections", "per CPU second", "more", (one) => one.keptPerCpu),
      row("requests, kept connections", "/s", "more", (one) => one.keptPerSecond),
      row("requests, a connection each", "per CPU second", "more", (one) => one.closedPerCpu),
      row(`added latency at ${rate}/s, p50`, "ms", "less", ({ added }) => added.p50),
      row(`added latency at ${rate}/s, p95`, "ms", "less", ({ added }) => added.p95),
      row(`added latency at ${rate}/s, p99`, "ms", "less", ({ added }) => added.p99),
      { what: "memory per held request", unit: "kB", ours: held.bytesPerRequest / 1_000, better: "less" },
      {
        what: `${many} held requests answered, p99 after Ready`,
        unit: "ms",
        ours: held.releasedWithinMs,
        better: "less",
      },
    ],
    notes: [
      `${connections} connections; medians of ${rounds} rounds of ${saturatedMs} ms, taken in turn. nginx has one worker and keeps connections to the server.`,
      "CPU is that of the proxy's process alone, all of its threads. Latency is beyond that of the same requests sent to the server itself, in the same round.",
      "nginx holds no requests. Memory is what the process grows by, with the connections of the clients that wait.",
    ],
  };
}

async function measure(proxy: MeasuredProcess, direct: readonly number[]): Promise<Figures> {
  const clients = Array.from({ length: connections }, () => new Client(proxy.port));
  let kept = 0;
  const keeping = await cpuOf(proxy, async () => {
    kept = await saturate(clients, saturatedMs, "get");
  });
  for (const client of clients) client.close();
  let closed = 0;
  const closing = await cpuOf(proxy, async () => {
    closed = await saturate(clients, saturatedMs, "getOnce");
  });
  const through = await pace(proxy.port, perSecond, saturatedMs);
  const added = (share: number) => quantile(through, share) - quantile(direct, share);
  return {
    keptPerCpu: kept / keeping.cpu,
    keptPerSecond: kept / keeping.wall,
    closedPerCpu: closed / closing.cpu,
    added: { p50: added(0.5), p95: added(0.95), p99: added(0.99) },
  };
}

/** Holds requests while the target sleeps, then lets it be ready. */
async function hold(proxy: MeasuredProcess, podPort: number): Promise<Held> {
  const before = await settledMemory(proxy);
  const clients = Array.from({ length: heldRequests }, () => new Client(proxy.port));
  const answered: Promise<number>[] = [];
  // In bursts that the queue of connections that wait to be accepted has room for.
  for (let at = 0; at < clients.length; at += 500) {
    for (const client of clients.slice(at, at + 500))
      answered.push(client.get().then(() => performance.now()));
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  const after = await settledMemory(proxy);
  const began = performance.now();
  say(proxy.process, { podPort });
  const took = (await Promise.all(answered)).map((at) => at - began).toSorted((a, b) => a - b);
  for (const client of clients) client.close();
  return { bytesPerRequest: (after - before) / heldRequests, releasedWithinMs: quantile(took, 0.99) };
}

function quantile(sorted: readonly number[], share: number): number {
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;
}

function say(child: ChildProcess, message: ResolverMessage): void {
  child.send(message);
}

async function startOurs(): Promise<MeasuredProcess> {
  const file = await bundle(join(import.meta.dirname, "resolver-child.ts"), "resolver-child");
  const child = spawn(process.execPath, [file, String(await freePort())], {
    stdio: ["ignore", "pipe", "inherit", "ipc"],
    env: { ...process.env, NODE_ENV: "production" },
  });
  const [line] = (await once(child.stdout as NonNullable<typeof child.stdout>, "data")) as [Buffer];
  return { process: child, pid: child.pid ?? 0, port: Number(line.toString()) };
}

/** Debian's nginx, as a proxy with one worker that keeps connections to its server. */
async function startNginx(folder: string, backend: number): Promise<MeasuredProcess> {
  const port = await freePort();
  for (const name of ["body", "proxy", "fastcgi", "uwsgi", "scgi"]) await mkdir(join(folder, name));
  const paths = ["proxy", "fastcgi", "uwsgi", "scgi"].map((name) => `${name}_temp_path ${folder}/${name};`);
  await writeFile(
    join(folder, "nginx.conf"),
    `daemon off; master_process off; pid ${folder}/nginx.pid; error_log ${folder}/error.log;
events { worker_connections 16384; }
http {
  access_log off; client_body_temp_path ${folder}/body; ${paths.join(" ")}
  keepalive_requests 100000000;
  upstream pods { server 127.0.0.1:${backend}; keepalive 512; keepalive_requests 100000000; }
  server {
    listen 127.0.0.1:${port} backlog=4096;
    location / {
      proxy_pass http://pods; proxy_http_version 1.1; proxy_set_header Connection "";
      proxy_set_header Host $host;
      proxy_set_header X-Forwarded-For $proxy_add_x_forwarded_for;
      proxy_set_header X-Forwarded-Proto $scheme;
      proxy_set_header X-Forwarded-Host $host;
    }
  }
}
`,
  );
  const child = spawn(findNginx(), ["-p", folder, "-c", join(folder, "nginx.conf")], { stdio: "inherit" });
  await isListening(port, child);
  return { process: child, pid: child.pid ?? 0, port };
}

/** @throws Error that says how to provide it. */
function findNginx(): string {
  const given = process.env.NGINX_PROGRAM;
  if (given) return given;
  const folders = [...(process.env.PATH ?? "").split(delimiter), "/usr/sbin"];
  const found = folders.map((folder) => join(folder, "nginx")).find((file) => existsSync(file));
  if (!found)
    throw new Error("nginx is missing: install Debian's nginx-light, or set NGINX_PROGRAM to the program");
  return found;
}

async function isListening(port: number, child: ChildProcess): Promise<void> {
  while (child.exitCode === null) {
    const socket = connect({ host: "127.0.0.1", port });
    const isUp = await new Promise<boolean>((resolve) => {
      socket.once("connect", () => resolve(true));
      socket.once("error", () => resolve(false));
    });
    socket.destroy();
    if (isUp) return;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  throw new Error(`nginx ended with status ${child.exitCode}`);
}
