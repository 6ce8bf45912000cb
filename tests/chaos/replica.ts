/** One replica of the operator, in a process of its own that can be killed, stopped and stalled. Started by replicas.ts. */
import { manager, silentLogger } from "@windlass/runtime";
import { election } from "./election.ts";
import { gadgets } from "./gadget.ts";

const { kubeconfig, namespace, identity } = JSON.parse(process.argv[2] ?? "{}") as {
  kubeconfig: string;
  namespace: string;
  identity: string;
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
})
  .add(gadgets)
  .run();
process.disconnect();
