import { findAccess, openTransport, type Transport } from "@windlass/client";
import type { Backend } from "./cluster.ts";

/** The cluster of KUBECONFIG. */
export async function findCluster(): Promise<Backend> {
  const access = await findAccess({});
  const open: Transport[] = [];
  return {
    hasControllers: true,
    shared: true,
    transport: () => {
      const transport = openTransport(access, {});
      open.push(transport);
      return transport;
    },
    kubeconfig: async () => process.env.KUBECONFIG ?? "",
    close: async () => {
      await Promise.all(open.map((transport) => transport.close()));
    },
  };
}
