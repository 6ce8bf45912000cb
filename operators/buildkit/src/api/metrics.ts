import type { Registry } from "@windlass/runtime";
import type { PoolName } from "../pool-name.ts";

/** How a client proved who it is, or did not. */
export type AuthenticationResult = "accepted" | "refused" | "unavailable";

/** What the API reports. */
export type ApiMetrics = ReturnType<typeof apiMetrics>;

/**
 * The metrics of the API. The name of the first is the original's, and so are those that begin with
 * buildkit_controller. Allocations are counted by the operator, which sees each of them once,
 * whichever replica made it. So are the requests that wait: several replicas would report the same
 * ones, and their sum would be several times too high.
 */
export function apiMetrics(registry: Registry) {
  const named = ["pool", "namespace"];
  const duration = registry.histogram({
    name: "buildkit_worker_allocation_duration_seconds",
    help: "How long clients waited for their workers, in the call that gave it to them",
    labels: named,
    buckets: [0.01, 0.025, 0.05, 0.1, 0.15, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300],
  });
  const requests = registry.counter({
    name: "buildkit_controller_api_requests_total",
    help: "Requests to the allocation API, by route and status",
    labels: ["method", "path", "code"],
  });
  const requestDuration = registry.histogram({
    name: "buildkit_controller_api_request_duration_seconds",
    help: "How long requests to the allocation API took, waiting for workers included",
    labels: ["method", "path"],
    buckets: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300],
  });
  const authentications = registry.counter({
    name: "buildkit_api_authentications_total",
    help: "Requests by how their client was recognized",
    labels: ["result"],
  });
  const certificates = registry.counter({
    name: "buildkit_controller_certificates_issued_total",
    help: "Certificates made for clients",
    labels: ["for"],
  });
  const expiry = registry.gauge({
    name: "buildkit_api_certificate_expiry_timestamp_seconds",
    help: "When the certificate of the allocation API ends",
  });
  for (const result of ["accepted", "refused", "unavailable"]) authentications.inc({ result }, 0);
  return {
    granted: (pool: PoolName, waitedMs: number) => {
      duration.observe(waitedMs / 1_000, labelsOf(pool));
    },
    answered: (method: string, path: string, code: number, seconds: number) => {
      requests.inc({ method, path, code: String(code) });
      requestDuration.observe(seconds, { method, path });
    },
    authenticated: (result: AuthenticationResult) => authentications.inc({ result }),
    certified: (purpose: "allocation" | "identity") => certificates.inc({ for: purpose }),
    expires: (at: number) => expiry.set(at / 1_000),
  };
}

function labelsOf({ name, namespace }: PoolName) {
  return { pool: name, namespace };
}
