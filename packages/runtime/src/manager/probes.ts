import type { Logger } from "../logging/logger.ts";
import { metricsContentType, type Registry } from "../metrics/registry.ts";
import { bindAddressFrom } from "./bind-address.ts";
import type { HealthChecks } from "./health.ts";
import { type HttpServer, type Routes, serve } from "./http-server.ts";
import type { ManagerOptions } from "./options.ts";

/** What the manager's own servers answer with. */
export interface ProbeParts {
  readonly healthz: HealthChecks;
  readonly readyz: HealthChecks;
  readonly registry: Registry;
  readonly log: Logger;
  /** Told of each server as soon as it listens. */
  readonly onListening: (what: "health" | "metrics", server: HttpServer) => void;
}

/**
 * Serves `/healthz`, `/readyz` and `/metrics`, on one port if both are given the same.
 *
 * @throws PortError if a port cannot be had.
 */
export async function serveProbes(
  options: Pick<ManagerOptions, "health" | "metrics">,
  { healthz, readyz, registry, log, onListening }: ProbeParts,
): Promise<void> {
  const {
    health = bindAddressFrom(process.env, "HEALTH_PROBE_BIND_ADDRESS") ?? {},
    metrics = bindAddressFrom(process.env, "METRICS_BIND_ADDRESS") ?? {},
  } = options;
  const probes: Routes = new Map([
    ["/healthz", healthz.answer],
    ["/readyz", readyz.answer],
  ]);
  const scrape: Routes = new Map([
    ["/metrics", () => ({ status: 200, contentType: metricsContentType, body: registry.render() })],
  ]);
  const isShared =
    health !== false &&
    metrics !== false &&
    health.port !== undefined &&
    health.port !== 0 &&
    health.port === metrics.port;
  if (health !== false) {
    const routes: Routes = isShared ? new Map([...probes, ...scrape]) : probes;
    onListening("health", await serve("health", { port: 8081, ...health }, routes, log));
  }
  if (metrics !== false && !isShared)
    onListening("metrics", await serve("metrics", { port: 8080, ...metrics }, scrape, log));
}
