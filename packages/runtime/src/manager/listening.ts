import type { Server } from "node:net";

/** Where a server listens. */
export interface ListenAddress {
  /** 0 picks a free one. */
  readonly port: number;
  /** @default all interfaces */
  readonly host?: string | undefined;
}

/** Where probes and metrics are served, and by what. */
export interface ListeningOptions {
  /** Makes the error to throw from the operating system's. */
  readonly explain: (error: NodeJS.ErrnoException) => Error;
  /**
   * Told of each error from then on, such as a connection that could not be accepted for want of
   * file descriptors. The server goes on: Node would end the process over an error without a
   * hears.
   */
  readonly onError: (error: Error) => void;
}

/**
 * Has a server listen.
 *
 * @returns the port.
 * @throws what `explain` makes of it when the server cannot listen there.
 */
export function listening(
  server: Server,
  { port, host }: ListenAddress,
  { explain, onError }: ListeningOptions,
): Promise<number> {
  return new Promise((resolve, reject) => {
    const onRefusal = (error: NodeJS.ErrnoException) => reject(explain(error));
    server.on("error", onRefusal);
    server.listen({ port, ...(host === undefined ? {} : { host }) }, () => {
      server.off("error", onRefusal).on("error", onError);
      const address = server.address();
      resolve(typeof address === "object" && address !== null ? address.port : port);
    });
  });
}
