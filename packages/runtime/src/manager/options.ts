import type { Client, ConnectOptions } from "@windlass/client";
import { type Clock, type Duration, milliseconds, type Random } from "@windlass/clock";
import type { Cache, CacheOptions, Namespaces } from "../cache/index.ts";
import type { Logger } from "../logging/logger.ts";
import type { Tracing } from "../reconcile/tracing.ts";
import type { ElectionRules } from "./election.ts";

/** How replicas decide which of them leads. */
export interface LeaderElectionOptions {
  /** The name of the Lease; the operator's own. */
  readonly name: string;
  /** @default the pod's namespace, else the kubeconfig's */
  readonly namespace?: string;
  /** Unique among replicas. @default `<hostname>_<uuid>` */
  readonly identity?: string;
  /** How long others wait for a leader that has gone silent. @default "15s" */
  readonly leaseDuration?: Duration;
  /** How long after its last renewal a leader stops writing. @default "10s" */
  readonly renewDeadline?: Duration;
  /** How long between two tries to acquire or renew the Lease. @default "2s" */
  readonly retryPeriod?: Duration;
}

/** How a manager connects, logs, serves and elects. */
export interface ManagerOptions {
  /** A client to use. Its maker closes it. @default one made from `kubeconfig` */
  readonly client?: Client;
  /** @default KUBECONFIG, else ~/.kube/config, else the pod's service account */
  readonly kubeconfig?: ConnectOptions["kubeconfig"];
  readonly context?: string;
  /**
   * Only these namespaces are watched: by name, by label, or by a choice that the program changes
   * while running (`namespaceSet`).
   * @default all
   */
  readonly namespaces?: readonly string[] | { readonly labelSelector: string } | Namespaces;
  /** Only one replica works at a time. @default every replica works, which only one may be */
  readonly leaderElection?: LeaderElectionOptions;
  /**
   * Where `/healthz` and `/readyz` are served.
   *
   * @default the variable HEALTH_PROBE_BIND_ADDRESS, else { port: 8081 }
   */
  readonly health?: { readonly port?: number; readonly host?: string } | false;
  /** Where `/metrics` is served. @default the variable METRICS_BIND_ADDRESS, else { port: 8080 } */
  readonly metrics?:
    | {
        readonly port?: number;
        readonly host?: string;
        /**
         * `measured` adds durations, sizes and retries of the requests to the API server: four more
         * families, some thirty series each.
         * @default "counted"
         */
        readonly requests?: "counted" | "measured";
      }
    | false;
  /** How long stopping may take. @default "30s" */
  readonly gracefulShutdownTimeout?: Duration;
  /**
   * How long the first lists may take before the log names those that are missing.
   *
   * @default "2m"
   */
  readonly cacheSyncTimeout?: Duration;
  /** A pino logger, or anything like one. @default JSON lines on standard output */
  readonly log?: Logger;
  readonly clock?: Clock;
  readonly random?: Random;
  /** @default OpenTelemetry's global tracer */
  readonly tracing?: Tracing;
  /** A cache to use; the manager stops it. @default one made from the client */
  readonly cache?: Cache;
  /**
   * How the manager's own cache holds objects: what is dropped before they are stored, what is kept
   * parsed.
   *
   * @default as `createCache` does
   */
  readonly caching?: Pick<
    CacheOptions,
    "compress" | "freeze" | "keepManagedFields" | "pageSize" | "parsedBytes" | "transforms"
  >;
}

/** @throws RangeError for durations that would not keep two leaders apart. */
export function electionRules(options: LeaderElectionOptions, identity: string): ElectionRules {
  const { leaseDuration = "15s", renewDeadline = "10s", retryPeriod = "2s" } = options;
  const leaseDurationMs = milliseconds(leaseDuration, "leaderElection: leaseDuration");
  const renewDeadlineMs = milliseconds(renewDeadline, "leaderElection: renewDeadline");
  const retryPeriodMs = milliseconds(retryPeriod, "leaderElection: retryPeriod");
  if (!(leaseDurationMs > renewDeadlineMs))
    throw new RangeError(
      `leaderElection: leaseDuration (${leaseDuration}) must exceed renewDeadline (${renewDeadline})`,
    );
  if (!(renewDeadlineMs > retryPeriodMs * 1.2))
    throw new RangeError(
      `leaderElection: renewDeadline (${renewDeadline}) must exceed 1.2 × retryPeriod (${retryPeriod})`,
    );
  if (!(retryPeriodMs > 0))
    throw new RangeError(`leaderElection: retryPeriod (${retryPeriod}) must be above 0`);
  return { identity, leaseDurationMs, renewDeadlineMs, retryPeriodMs };
}
