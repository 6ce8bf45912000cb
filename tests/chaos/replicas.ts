import { type ChildProcess, fork } from "node:child_process";
import { join } from "node:path";
import { Lease } from "@windlass/runtime/kinds";
import { waitFor } from "@windlass/testing";
import { election } from "./election.ts";
import type { Link } from "./link.ts";
import type { ChaosProxy } from "./proxy.ts";
import type { ChaosHarness } from "./world.ts";

/**
 * A replica of the operator in a process of its own, behind a proxy of its own: what comes through
 * there, it wrote.
 */
export interface Replica extends AsyncDisposable {
  readonly identity: string;
  readonly proxy: ChaosProxy;
  /** Between the replica and its proxy. */
  readonly link: Link;
  readonly process: ChildProcess;
  /** Resolves once the lease names this replica. */
  leads(): Promise<void>;
  /** Blocks its event loop. */
  stall(ms: number): void;
}

/** @param more `isStubborn`: it has work that does not end when it is told to. */
export async function startReplica(
  world: ChaosHarness,
  namespace: string,
  identity: string,
  more: { readonly isStubborn?: boolean } = {},
): Promise<Replica> {
  const { proxy, link, kubeconfig } = await world.openProxy();
  const child = fork(
    join(import.meta.dirname, "replica.ts"),
    [JSON.stringify({ kubeconfig, namespace, identity, ...more })],
    {
      stdio: ["ignore", "inherit", "inherit", "ipc"],
      execArgv: [],
    },
  );
  return {
    identity,
    proxy,
    link,
    process: child,
    async leads() {
      await waitFor(
        world.client,
        Lease,
        { namespace, name: election.name },
        ({ spec }) => spec?.holderIdentity === identity,
      );
    },
    stall: (stallMs) => child.send({ stallMs }),
    async [Symbol.asyncDispose]() {
      if (child.exitCode === null && child.signalCode === null) {
        const gone = new Promise((resolve) => child.once("exit", resolve));
        child.kill("SIGKILL");
        await gone;
      }
      await link.close();
      await proxy.close();
    },
  };
}

/**
 * Whether no write of one came after a write of the other had begun to: at no time were there two
 * who wrote.
 */
export function neverBoth(first: Replica, then: Replica): boolean {
  const takeover = then.proxy.writes[0]?.at ?? Number.POSITIVE_INFINITY;
  return first.proxy.writes.every(({ at }) => at < takeover);
}
