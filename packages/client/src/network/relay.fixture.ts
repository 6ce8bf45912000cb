import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";

/** A way to a port of this machine that can fall silent without closing. */
export interface Relay extends AsyncDisposable {
  readonly port: number;
  /** How many bytes have come back through it. */
  readonly bytes: number;
  /**
   * How many bytes of each connection may come back; what is more is kept, and the connection stays
   * open.
   */
  mostBytes: number;
  /** How often a connection has fallen silent: there was more to come back than may. */
  readonly silences: number;
  /** The clients' ends of the connections that are open. */
  readonly open: ReadonlySet<Socket>;
}

export async function startRelay(to: number): Promise<Relay> {
  const open = new Set<Socket>();
  const relay = { bytes: 0, silences: 0, mostBytes: Number.POSITIVE_INFINITY };
  const server = createServer((near) => {
    const far = connect(to, "127.0.0.1");
    let left = relay.mostBytes;
    open.add(near);
    near.on("error", () => near.destroy());
    far.on("error", () => far.destroy());
    near.once("close", () => {
      open.delete(near);
      far.destroy();
    });
    far.once("close", () => {
      if (left > 0) near.end();
    });
    near.pipe(far);
    far.on("data", (chunk: Buffer) => {
      const some = chunk.subarray(0, Math.min(chunk.length, left));
      left -= some.length;
      relay.bytes += some.length;
      near.write(some);
      if (some.length < chunk.length) relay.silences++;
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return Object.assign(relay, {
    port: (server.address() as AddressInfo).port,
    open,
    async [Symbol.asyncDispose]() {
      for (const socket of open) socket.destroy();
      server.close();
      await once(server, "close");
    },
  });
}
