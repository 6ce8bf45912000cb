import { milliseconds } from "@windlass/clock";
import type { Runnable, RunnableContext } from "@windlass/runtime";
import { CredentialFiles, type CredentialFolders } from "./credential-files.ts";
import { Gateway, type GatewayDrain, type GatewayOptions } from "./gateway.ts";
import type { WorkerLookup } from "./lookup.ts";

/** What a gateway is run with. */
export interface GatewayRunnableOptions extends Pick<GatewayOptions, "pool" | "port" | "host" | "limits"> {
  /** Makes what the gateway finds workers by, once the caches are there that it reads. */
  readonly lookup: (context: RunnableContext) => WorkerLookup;
  /** Where the Secrets are mounted. @default as the original mounts them */
  readonly folders?: CredentialFolders;
  /**
   * How it leaves. The manager's `gracefulShutdownTimeout` has to be longer: `gatewayShutdownMs`.
   *
   * @default GatewayDrain's own
   */
  readonly drain?: GatewayDrain;
}

/**
 * A gateway as part of a manager, which serves its probes and metrics and stops it on SIGTERM. Runs
 * on every replica.
 *
 * @example
 * const drain = { within: "1h" } as const;
 * await manager({ health: { port: 9090 }, metrics: { port: 9090 }, gracefulShutdownTimeout: gatewayShutdownMs(drain) })
 *   .add(gateway({ pool, lookup, drain }))
 *   .run();
 */
export function gateway(options: GatewayRunnableOptions): Runnable {
  const { lookup, folders = {}, drain, ...own } = options;
  return {
    name: "gateway",
    stage: "everywhere",
    async start(context) {
      const { clock, log, metrics, signal } = context;
      const files = new CredentialFiles(folders, clock);
      const read = () => files.read();
      const running = await Gateway.start({
        ...own,
        lookup: lookup(context),
        credentials: await read(),
        clock,
        log,
        metrics,
      });
      context.addReadyCheck("gateway", () => running.fault());
      const following = follow(files, signal, () => running.reload(read));
      return async () => {
        await running.drain(drain);
        await following;
      };
    },
  };
}

/** How long a manager with a gateway must be given to stop. */
export function gatewayShutdownMs({ acceptFor = "5s", within = "1h" }: GatewayDrain = {}): number {
  return milliseconds(acceptFor, "drain: acceptFor") + milliseconds(within, "drain: within") + 10_000;
}

async function follow(
  files: CredentialFiles,
  signal: AbortSignal,
  reload: () => Promise<void>,
): Promise<void> {
  for await (const _ of files.changes(signal)) await reload();
}
