import { once } from "node:events";
import { connect } from "node:net";
import { findAccess } from "@windlass/client";
import type { Backend } from "./backend.ts";
import { Transports } from "./transports.ts";

/** The cluster of KUBECONFIG. */
export async function findCluster(): Promise<Backend> {
  const access = await findAccess({});
  const transports = new Transports(access);
  return {
    hasControllers: true,
    shared: true,
    transport: () => transports.open(),
    kubeconfig: async () => process.env.KUBECONFIG ?? "",
    hostOfThis: () => addressTowards(new URL(access.cluster.server)),
    close: () => transports.close(),
  };
}

/** The address by which this machine talks to a server; the way back is most often the same. */
async function addressTowards({ hostname, port, protocol }: URL): Promise<string> {
  const socket = connect({
    host: hostname.replace(/^\[(.*)\]$/, "$1"),
    port: Number(port || (protocol === "https:" ? 443 : 80)),
  });
  try {
    await once(socket, "connect");
    return socket.localAddress ?? "127.0.0.1";
  } finally {
    socket.destroy();
  }
}
