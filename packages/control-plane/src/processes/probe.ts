import { request as httpRequest } from "node:http";
import { connect as connectHttp2 } from "node:http2";
import { request as httpsRequest } from "node:https";
import { connect } from "node:net";
import type { Clock } from "@windlass/clock";
import type { Container, Probe } from "@windlass/kinds/builtin";
import { kubernetesVersion } from "../kinds/index.ts";
import { countOutcome, firstCount, type Verdict } from "./probe-count.ts";

/** The result of one probe. */
export interface Outcome {
  readonly outcome: "success" | "failure";
  /** The text for people. */
  readonly output: string;
}

/** The container that probes and hooks are run on. */
export interface ProbeTarget {
  readonly address: string;
  /** As in the pod's spec: named ports are looked up in it. */
  readonly container: Container;
  /** Runs a command in the container. */
  readonly exec: (
    command: readonly string[],
    timeoutMs: number,
  ) => Promise<{ readonly code: number; readonly output: string }>;
}

/** What a probe does, or a hook. */
export type ProbeAction = Pick<Probe, "exec" | "grpc" | "httpGet" | "tcpSocket">;

/** Probes once. Never rejects: errors count as failures. */
export async function probeOnce(
  action: ProbeAction,
  target: ProbeTarget,
  timeoutMs: number,
): Promise<Outcome> {
  const { exec, httpGet, tcpSocket, grpc } = action;
  try {
    if (exec) {
      const { code, output } = await target.exec(exec.command ?? [], timeoutMs);
      return { outcome: code === 0 ? "success" : "failure", output };
    }
    if (httpGet) return await probeHttp(httpGet, target, timeoutMs);
    if (tcpSocket) return await probeTcp(tcpSocket, target, timeoutMs);
    if (grpc) return await probeGrpc(grpc, target, timeoutMs);
    return { outcome: "success", output: "" };
  } catch (error) {
    return { outcome: "failure", output: error instanceof Error ? error.message : String(error) };
  }
}

function portOf(port: number | string, { container }: ProbeTarget): number {
  if (typeof port === "number") return port;
  const named = container.ports?.find(({ name }) => name === port)?.containerPort;
  const number = named ?? Number(port);
  if (!Number.isInteger(number)) throw new Error(`couldn't find port: ${JSON.stringify(port)}`);
  return number;
}

async function probeHttp(
  get: NonNullable<Probe["httpGet"]>,
  target: ProbeTarget,
  timeoutMs: number,
): Promise<Outcome> {
  const { promise, resolve, reject } = Promise.withResolvers<Outcome>();
  const secure = get.scheme === "HTTPS";
  const host = get.host || target.address;
  const port = portOf(get.port, target);
  const given = (get.httpHeaders ?? []).map(({ name, value }) => [name, value] as const);
  const { major, minor } = kubernetesVersion();
  const headers = {
    "user-agent": `kube-probe/${major}.${minor}`,
    accept: "*/*",
    ...Object.fromEntries(given),
  };
  const path = get.path || "/";
  const send = secure ? httpsRequest : httpRequest;
  const outgoing = send(
    {
      host,
      port,
      path: path.startsWith("/") ? path : `/${path}`,
      headers,
      agent: false,
      rejectUnauthorized: false,
    },
    (incoming) => {
      incoming.resume();
      const code = incoming.statusCode ?? 0;
      const good = code >= 200 && code < 400;
      resolve({
        outcome: good ? "success" : "failure",
        output: good ? "" : `HTTP probe failed with statuscode: ${code}`,
      });
      outgoing.destroy();
    },
  );
  outgoing.setTimeout(timeoutMs, () => outgoing.destroy(new Error(timedOut)));
  outgoing.once("error", (error) => {
    reject(new Error(`Get "${secure ? "https" : "http"}://${host}:${port}${path}": ${error.message}`));
  });
  outgoing.end();
  return await promise;
}

const timedOut = "context deadline exceeded (Client.Timeout exceeded while awaiting headers)";

async function probeTcp(
  action: NonNullable<Probe["tcpSocket"]>,
  target: ProbeTarget,
  timeoutMs: number,
): Promise<Outcome> {
  const { promise, resolve, reject } = Promise.withResolvers<Outcome>();
  const socket = connect({ host: action.host || target.address, port: portOf(action.port, target) });
  socket.setTimeout(timeoutMs, () => socket.destroy(new Error("i/o timeout")));
  socket.once("error", reject);
  socket.once("connect", () => {
    socket.destroy();
    resolve({ outcome: "success", output: "" });
  });
  return await promise;
}

/** The health protocol of gRPC, whose one message has one field. */
async function probeGrpc(
  action: NonNullable<Probe["grpc"]>,
  target: ProbeTarget,
  timeoutMs: number,
): Promise<Outcome> {
  const { promise, resolve, reject } = Promise.withResolvers<Outcome>();
  const session = connectHttp2(`http://${target.address}:${portOf(action.port, target)}`);
  session.setTimeout(timeoutMs, () => session.destroy(new Error("timeout: failed to connect service")));
  session.once("error", reject);
  const service = Buffer.from(action.service ?? "");
  const message = Buffer.concat([Buffer.from([0x0a, service.byteLength]), service]);
  const head = Buffer.alloc(5);
  head.writeUInt32BE(message.byteLength, 1);
  const stream = session.request({
    ":method": "POST",
    ":path": "/grpc.health.v1.Health/Check",
    "content-type": "application/grpc",
    te: "trailers",
  });
  const chunks: Buffer[] = [];
  stream.on("data", (chunk: Buffer) => chunks.push(chunk));
  stream.once("error", reject);
  stream.once("end", () => {
    // Serving is the enum's 1, in field 1.
    const serving = Buffer.concat(chunks)
      .subarray(5)
      .equals(Buffer.from([0x08, 0x01]));
    resolve({
      outcome: serving ? "success" : "failure",
      output: serving ? "" : "service unhealthy (responded with another status than SERVING)",
    });
    session.destroy();
  });
  stream.end(Buffer.concat([head, message]));
  return await promise;
}

export interface ProbeOptions {
  readonly kind: "liveness" | "readiness" | "startup";
  /** As in the container's spec. */
  readonly spec: Probe;
  readonly target: ProbeTarget;
  readonly clock: Clock;
  /** Told of each outcome that counts, with what it amounts to. */
  readonly onOutcome: (verdict: Verdict, outcome: Outcome) => void;
  readonly signal: AbortSignal;
}

const firstEagerMs = 50;

/**
 * Probes periodically until the signal is aborted.
 *
 * Until it succeeds for the first time it looks more often than its period says, so that a test
 * does not wait ten seconds for what took a tenth of one. These looks count if they succeed, and
 * never if they fail. Commands are not run more often than asked.
 */
export function startProbe(options: ProbeOptions): void {
  const { kind, spec, target, clock, onOutcome, signal } = options;
  const { periodSeconds = 10, timeoutSeconds = 1, successThreshold = 1, failureThreshold = 3 } = spec;
  const [periodMs, timeoutMs] = [periodSeconds * 1_000, timeoutSeconds * 1_000];
  const thresholds = { successThreshold, failureThreshold };
  let count = firstCount(kind);
  let eagerMs = kind === "liveness" || spec.exec ? undefined : firstEagerMs;
  let dueMs = clock.monotonic() + (spec.initialDelaySeconds ?? 0) * 1_000;
  let cancel: () => void = () => undefined;
  signal.addEventListener("abort", () => cancel(), { once: true });

  const wait = () => {
    const left = Math.max(0, dueMs - clock.monotonic());
    const early = eagerMs !== undefined && count.latest !== undefined && eagerMs < left;
    const delay = early ? (eagerMs as number) : left;
    if (early) eagerMs = (eagerMs as number) * 2;
    cancel = clock.schedule(delay, () => {
      void probe(early ? "early" : "due");
    });
  };
  const probe = async (when: "early" | "due") => {
    const seen = await probeOnce(spec, target, timeoutMs);
    if (signal.aborted) return;
    if (seen.outcome === "success") eagerMs = undefined;
    if (when === "due" || seen.outcome === "success") {
      count = countOutcome(count, seen.outcome, thresholds);
      dueMs = clock.monotonic() + periodMs;
      onOutcome(count.verdict, seen);
    }
    // The listener may have aborted meanwhile.
    if (!signal.aborted) wait();
  };
  wait();
}
