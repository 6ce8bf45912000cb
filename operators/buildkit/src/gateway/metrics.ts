import type { Registry } from "@windlass/runtime";
import type { PoolName } from "../pool-name.ts";

/**
 * How a connection went: `success` once it is passed on. The original's words, and more where it
 * knew fewer.
 */
export type ConnectionStatus = (typeof statuses)[number];

const statuses = [
  "success",
  "non_tls",
  "crowded_out",
  "handshake_failed",
  "no_cert",
  "bad_cert",
  "no_token",
  "bad_token",
  "expired",
  "wrong_pool",
  "revoked",
  "lookup_failed",
  "worker_starting",
  "worker_lost",
  "worker_connect_failed",
  "over_limit",
  "shutting_down",
  "client_gone",
] as const;

/** What a gateway reports. */
export type GatewayMetrics = ReturnType<typeof gatewayMetrics>;

/**
 * The metrics of a pool's gateway. Every series starts at zero, so that a rate is right from the
 * first scrape.
 */
export function gatewayMetrics(registry: Registry, pool: PoolName) {
  const labels = Object.freeze({ pool: pool.name, namespace: pool.namespace });
  const named = ["pool", "namespace"];
  const connections = registry.counter({
    name: "buildkit_gateway_connections_total",
    help: "Connections by how they went: success once passed on to a worker",
    labels: [...named, "status"],
  });
  const active = registry.gauge({
    name: "buildkit_gateway_active_connections",
    help: "Connections that are being passed on",
    labels: named,
  });
  const duration = registry.histogram({
    name: "buildkit_gateway_connection_duration_seconds",
    help: "How long connections were passed on",
    labels: named,
    buckets: Array.from({ length: 10 }, (_, index) => 2 ** index),
  });
  const setup = registry.histogram({
    name: "buildkit_gateway_connection_setup_seconds",
    help: "From the end of a client's TLS handshake until its worker was reached",
    labels: named,
    buckets: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 15],
  });
  const ends = registry.counter({
    name: "buildkit_gateway_connection_ends_total",
    help: "Connections that were passed on, by how they ended",
    labels: [...named, "reason"],
  });
  const bytes = registry.counter({
    name: "buildkit_gateway_bytes_total",
    help: "Bytes of ended connections, by who sent them",
    labels: [...named, "from"],
  });
  const expiry = registry.gauge({
    name: "buildkit_gateway_certificate_expiry_timestamp_seconds",
    help: "When the certificates of the gateway end: the one it shows clients, and the one it shows workers",
    labels: [...named, "certificate"],
  });
  const reloads = registry.counter({
    name: "buildkit_gateway_credential_reloads_total",
    help: "Times that credentials were replaced, or could not be",
    labels: [...named, "result"],
  });
  for (const status of statuses) connections.inc({ ...labels, status }, 0);
  for (const from of ["client", "worker"]) bytes.inc({ ...labels, from }, 0);
  for (const result of ["success", "error"]) reloads.inc({ ...labels, result }, 0);
  active.set(0, labels);
  duration.zero(labels);
  setup.zero(labels);
  return {
    counted: (status: ConnectionStatus) => connections.inc({ ...labels, status }),
    /** A connection is passed on from now on. */
    began: (setupSeconds: number) => {
      connections.inc({ ...labels, status: "success" });
      setup.observe(setupSeconds, labels);
      active.add(1, labels);
    },
    ended: (end: {
      readonly reason: string;
      readonly seconds: number;
      readonly fromClient: number;
      readonly fromWorker: number;
    }) => {
      active.add(-1, labels);
      duration.observe(end.seconds, labels);
      ends.inc({ ...labels, reason: end.reason });
      bytes.inc({ ...labels, from: "client" }, end.fromClient);
      bytes.inc({ ...labels, from: "worker" }, end.fromWorker);
    },
    reloaded: (result: "success" | "error") => reloads.inc({ ...labels, result }),
    expires: (certificate: "server" | "worker-client", at: number) =>
      expiry.set(at / 1_000, { ...labels, certificate }),
  };
}
