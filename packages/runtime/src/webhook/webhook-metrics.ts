import { reconcileTimeBuckets } from "../metrics/controller-metrics.ts";
import type { Registry } from "../metrics/registry.ts";

/** What the webhook server reports, under the names that dashboards for controller-runtime use. */
export type WebhookMetrics = ReturnType<typeof webhookMetrics>;

/**
 * The metrics of the webhooks at these paths. Every series starts at zero, so that a rate is right
 * from the first scrape.
 */
export function webhookMetrics(registry: Registry, paths: readonly string[]) {
  const latency = registry.histogram({
    name: "controller_runtime_webhook_latency_seconds",
    help: "Histogram of the latency of processing admission requests",
    labels: ["webhook"],
    buckets: reconcileTimeBuckets,
  });
  const total = registry.counter({
    name: "controller_runtime_webhook_requests_total",
    help: "Total number of admission requests by HTTP status code.",
    labels: ["webhook", "code"],
  });
  const inFlight = registry.gauge({
    name: "controller_runtime_webhook_requests_in_flight",
    help: "Current number of admission requests being served.",
    labels: ["webhook"],
  });
  const panics = registry.counter({
    name: "controller_runtime_webhook_panics_total",
    help: "Total number of webhook panics",
  });
  const conversionPanics = registry.counter({
    name: "controller_runtime_conversion_webhook_panics_total",
    help: "Total number of conversion webhook panics",
  });
  for (const webhook of paths) {
    latency.zero({ webhook });
    for (const code of ["200", "500"]) total.inc({ webhook, code }, 0);
    inFlight.set(0, { webhook });
  }
  return {
    began: (webhook: string) => inFlight.add(1, { webhook }),
    answered(webhook: string, code: number, seconds: number) {
      inFlight.add(-1, { webhook });
      total.inc({ webhook, code: String(code) });
      latency.observe(seconds, { webhook });
    },
    panicked: () => panics.inc(),
    conversionPanicked: () => conversionPanics.inc(),
  };
}

/** What reading certificates from files reports, under controller-runtime's names. */
export function certificateFileMetrics(registry: Registry) {
  return {
    reads: registry.counter({
      name: "certwatcher_read_certificate_total",
      help: "Total number of certificate reads",
    }),
    errors: registry.counter({
      name: "certwatcher_read_certificate_errors_total",
      help: "Total number of certificate read errors",
    }),
  };
}
