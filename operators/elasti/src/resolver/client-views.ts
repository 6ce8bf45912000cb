import type { Socket } from "node:net";
import { connectionName, kernelTables, printedName } from "./kernel-table.ts";

/** What the kernel knows of a client, and Node does not report. */
export interface ClientView {
  /** Whether the client has ended its side. Node reports it only to those who read up to there. */
  readonly hasEnded: boolean;
  /** How many bytes were sent that the client has not confirmed. */
  readonly unconfirmed: number;
}

/**
 * Looks at the connections of clients. One that is not in the answer is gone: its client has reset
 * it. undefined if nothing can be known.
 */
export type ClientViews = (
  sockets: readonly Socket[],
) => Promise<ReadonlyMap<Socket, ClientView> | undefined>;

/** What Linux knows. Other systems do not report it. */
export const viewsOfKernel: ClientViews = async (sockets) => {
  const tables = await kernelTables();
  return tables.length === 0 ? undefined : viewsIn(tables, sockets);
};

/** A line of a connection: both ends, its state, and how much was sent and not confirmed. */
const line =
  /^ *\d+: [0-9A-F]+:([0-9A-F]{4}) ([0-9A-F]+):([0-9A-F]{4}) ([0-9A-F]{2}) ([0-9A-F]+):[0-9A-F]+ /gm;
/** CLOSE_WAIT: the other side has ended, and this one has not. */
const ENDED = "08";

/** What tables of /proc/net say of these connections. */
export function viewsIn(
  tables: readonly string[],
  sockets: readonly Socket[],
): ReadonlyMap<Socket, ClientView> {
  const wanted = new Map(sockets.map((socket) => [connectionName(socket), socket]));
  // Most lines are of others, and are distinguished by the client's port.
  const ports = new Set(sockets.map(({ remotePort }) => remotePort));
  const views = new Map<Socket, ClientView>();
  for (const table of tables)
    for (const [, localPort = "", address = "", remotePort = "", state, sent = ""] of table.matchAll(line)) {
      if (!ports.has(Number.parseInt(remotePort, 16))) continue;
      const socket = wanted.get(printedName(localPort, address, remotePort));
      if (socket) views.set(socket, { hasEnded: state === ENDED, unconfirmed: Number.parseInt(sent, 16) });
    }
  return views;
}
