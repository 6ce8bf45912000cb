/**
 * Runs Elasti's resolver with one service until it is killed. Started by resolver.ts, in a process
 * of its own. Prints its port. The parent says by messages whether the service is up.
 */
import { Resolver, serviceKey, TargetTable } from "@windlass/elasti";

/** What the parent says: the port of the pod that is ready, or that there is none. */
export type ResolverMessage = { readonly podPort: number | undefined };

const key = serviceKey("shop", "web");
const listenPort = Number(process.argv[2]);
const table = new TargetTable();
table.set({
  namespace: "shop",
  service: "web",
  ports: [{ name: "http", port: 80, listenPort }],
  endpointsOf: "web",
  dispatch: "forward",
});
table.markFilled();
process.on("message", ({ podPort }: ResolverMessage) => {
  const endpoints =
    podPort === undefined ? [] : [{ address: "127.0.0.1", port: podPort, podUid: `${podPort}` }];
  table.setEndpoints(key, new Map([["http", endpoints]]));
});
await Resolver.start({ targets: table, waker: { wake: async () => undefined }, host: "127.0.0.1" });
process.stdout.write(`${listenPort}\n`);
