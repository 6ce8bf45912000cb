import { createServer, type Server } from "node:net";
import type { Random } from "@windlass/clock";

/**
 * The addresses of one control plane: a part of the loopback network that no other control plane of
 * this machine has.
 */
export interface AddressBlock {
  /**
   * `own`: each pod and each Service has an address. `shared`: this machine has but one, which all
   * pods share.
   */
  readonly kind: "own" | "shared";
  /** The first half of pod addresses: `127.5`. */
  readonly pods: string;
  /** The first half of Service addresses; undefined where they cannot be reached. */
  readonly services: string | undefined;
  close(): Promise<void>;
}

/** The address that everything shares where there is no other. */
export const sharedAddress = "127.0.0.1";

const first = 1;
const last = 126;
/** Added to the number of a block, it gives that of its Services. */
const servicesFrom = 128;

/**
 * Takes a block of 127.0.0.0/8 that is free. On Linux all of that network leads to this machine,
 * without any rights or set-up; on others only 127.0.0.1 does.
 *
 * @param preferred the block to take if it is free: the one that stored pods and Services know
 */
export async function claimBlock(random: Random, preferred?: number): Promise<AddressBlock> {
  if (!(await canListen("127.1.0.1"))) {
    return { kind: "shared", pods: sharedAddress, services: undefined, close: () => Promise.resolve() };
  }
  const size = last - first + 1;
  const start = preferred === undefined ? Math.floor(random.next() * size) : preferred - first;
  for (let step = 0; step < size; step++) {
    const number = first + ((start + step) % size);
    // An abstract name is free again as soon as its holder is gone, however it went.
    const lock = await listen({ path: `\0windlass-addresses-127.${number}` });
    if (!lock) continue;
    lock.unref();
    return {
      kind: "own",
      pods: `127.${number}`,
      services: `127.${number + servicesFrom}`,
      close: () => new Promise((resolve) => lock.close(() => resolve())),
    };
  }
  throw new Error(
    `all ${size} blocks of loopback addresses are taken by other control planes of this machine`,
  );
}

async function canListen(host: string): Promise<boolean> {
  if (process.platform !== "linux") return false;
  const server = await listen({ host, port: 0 });
  server?.close();
  return server !== undefined;
}

function listen(
  where: { readonly path: string } | { readonly host: string; readonly port: number },
): Promise<Server | undefined> {
  return new Promise((resolve) => {
    const server = createServer((socket) => socket.destroy());
    server.once("error", () => resolve(undefined));
    server.listen(where, () => resolve(server));
  });
}
