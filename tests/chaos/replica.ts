/**
 * One replica of the operator, in a process of its own that can be killed, stopped and stalled.
 * Started by replicas.ts.
 */
import { manager, type Runnable, silentLogger } from "@windlass/runtime";
import { Secret } from "@windlass/runtime/kinds";
import { election } from "./election.ts";
import { gadgets } from "./gadget.ts";

const {
  kubeconfig,
  namespace,
  identity,
  isStubborn = false,
} = JSON.parse(process.argv[2] ?? "{}") as {
  kubeconfig: string;
  namespace: string;
  identity: string;
  isStubborn?: boolean;
};

/**
 * Writes ten times a second while this replica leads; if it is stubborn, it goes on when it is
 * asked to stop.
 */
const writer: Runnable = {
  name: "writer",
  start({ client, clock }) {
    const write = () => {
      const secret = { metadata: { namespace, name: "writer" }, stringData: { at: String(clock.now()) } };
      client.apply(Secret, secret, { force: true }).catch(() => undefined);
    };
    const timer = setInterval(write, 100);
    if (isStubborn) return () => new Promise<void>(() => undefined);
    return () => clearInterval(timer);
  },
};

process.on("message", ({ stallMs }: { stallMs: number }) => {
  // Blocks this thread, as a long computation would.
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, stallMs);
});
process.on("disconnect", () => process.exit(1));

await manager({
  kubeconfig,
  namespaces: [namespace],
  leaderElection: { ...election, namespace, identity },
  health: false,
  metrics: false,
  log: silentLogger,
  gracefulShutdownTimeout: 3_000,
})
  .add(gadgets)
  .add(writer)
  .run();
if (isStubborn) process.send?.("run has ended");
else process.disconnect();
