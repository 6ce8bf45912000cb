import { networkInterfaces } from "node:os";
import { milliseconds } from "@windlass/clock";
import type { Runnable, RunnableContext } from "@windlass/runtime";
import { startInternalServer } from "./internal-server.ts";
import { Resolver, type ResolverDrain, type ResolverOptions } from "./resolver.ts";
import { TargetTable } from "./target-table.ts";
import type { ServiceKey, Waker } from "./targets.ts";

/** Fills a table from the cluster, and keeps it in step. */
export interface TargetSource {
  /** Which step of a service the table has. */
  stepOf(key: ServiceKey): number | undefined;
  /** Whether any Service still leads to one of these addresses. */
  leadsTo(addresses: ReadonlySet<string>): boolean;
  stop(): void;
}

/** What a resolver is run with. */
export interface ResolverRunnableOptions
  extends Pick<
    ResolverOptions,
    "sharedPort" | "hostHeader" | "clusterDomain" | "host" | "sharesPorts" | "pathProof" | "limits"
  > {
  /** Fills the table. Resolves once all that there is has been set. */
  readonly follow: (table: TargetTable, context: RunnableContext) => Promise<TargetSource>;
  readonly waker: Waker;
  /** Where the operator asks for traffic. 0 picks a free one. @default 8013 */
  readonly internalPort?: number;
  /**
   * How it leaves. The manager's `gracefulShutdownTimeout` has to be longer: `resolverShutdownMs`.
   *
   * @default ResolverDrain's own
   */
  readonly drain?: ResolverDrain;
}

/**
 * A resolver as part of a manager, which serves its probes and metrics and stops it on SIGTERM.
 * Runs on every replica.
 *
 * @example
 * const drain = { within: "10m" } as const;
 * await manager({ gracefulShutdownTimeout: resolverShutdownMs(drain) })
 *   .add(resolver({ follow, waker, drain }))
 *   .run();
 */
export function resolver(options: ResolverRunnableOptions): Runnable {
  const { follow, waker, internalPort = 8013, drain, ...own } = options;
  return {
    name: "resolver",
    stage: "everywhere",
    async start(context) {
      const { clock, log, metrics } = context;
      const table = new TargetTable();
      let source: TargetSource | undefined;
      let running: Resolver | undefined;
      // Before it lists services, and takes connections: the operator takes a process that does not
      // answer for one that has nothing, and it may be behind by the time that it begins.
      const internal = await startInternalServer(
        {
          trafficOf: (key) => running?.trafficOf(key),
          traffic: () => running?.traffic() ?? [],
          stepOf: (key) => source?.stepOf(key),
        },
        { port: internalPort, host: own.host },
      );
      try {
        source = await follow(table, context);
        running = await Resolver.start({ ...own, targets: table, waker, clock, log, metrics });
      } catch (error) {
        source?.stop();
        await internal.stop();
        throw error;
      }
      const [followed, started] = [source, running];
      context.addReadyCheck("resolver", () => started.fault());
      return async () => {
        // The operator asks until the last request is over, and endpoints are followed for those
        // that wait.
        const addresses = ownAddresses();
        await started.drain({ getsConnections: () => followed.leadsTo(addresses), ...drain });
        await internal.stop();
        followed.stop();
      };
    },
  };
}

function ownAddresses(): ReadonlySet<string> {
  const all = Object.values(networkInterfaces()).flatMap((one) => one ?? []);
  return new Set(all.map(({ address }) => address));
}

/** How long a manager with a resolver must be given to stop. */
export function resolverShutdownMs({ acceptFor = "5s", within = "10m" }: ResolverDrain = {}): number {
  return milliseconds(acceptFor, "drain: acceptFor") + milliseconds(within, "drain: within") + 10_000;
}
