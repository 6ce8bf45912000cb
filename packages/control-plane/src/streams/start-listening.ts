import type { ListenOptions, Server } from "node:net";

/**
 * Opens a server. Errors that come later, such as of a connection that cannot be accepted for want
 * of file descriptors, are logged instead of ending the process.
 *
 * Rejects with what kept it from opening.
 */
export function startListening(
  server: Server,
  options: ListenOptions,
  onError: (error: Error) => void,
): Promise<void> {
  return new Promise((resolve, reject) => {
    const refused = (error: Error) => {
      server.removeListener("listening", opened);
      reject(error);
    };
    const opened = () => {
      server.removeListener("error", refused);
      server.on("error", onError);
      resolve();
    };
    server.once("error", refused);
    server.once("listening", opened);
    server.listen(options);
  });
}
