import type { ServerResponse } from "node:http";
import type { Socket } from "node:net";

/**
 * Where the program in the pod listens: for those who call webhooks, and for the machine that the
 * calls are forwarded to.
 */
export const ports = { calls: 8443, control: 8080 } as const;

/** The header that says that a request is from that machine. */
export const tokenHeader = "x-windlass-tunnel";

/**
 * The end of a tunnel in the cluster. Connections to one port are forwarded, over HTTP, to the
 * client of the other: `GET /down` is a stream of frames (the number of a connection and a length,
 * 4 bytes each, then that many bytes; a length of 0 ends it), `POST /up?id=N` writes to a
 * connection, and with `&end` ends it. HTTP, because API servers pass that on to pods for anyone
 * who may ask them to.
 *
 * It is sent to the pod as text: whatever it needs is in it.
 */
export function farEnd(token: string, callsPort: number, controlPort: number, header: string): void {
  const { createServer: listenTcp } = process.getBuiltinModule("node:net");
  const { createServer: listenHttp } = process.getBuiltinModule("node:http");
  const connections = new Map<number, Socket>();
  let down: ServerResponse | undefined;
  let last = 0;
  const send = (id: number, bytes: Buffer = Buffer.alloc(0)) => {
    const head = Buffer.alloc(8);
    head.writeUInt32BE(id, 0);
    head.writeUInt32BE(bytes.length, 4);
    down?.write(Buffer.concat([head, bytes]));
  };
  const hangUp = () => {
    for (const connection of connections.values()) connection.destroy();
  };
  listenTcp((connection) => {
    // Nobody is there to answer: better told at once than waited for.
    if (down === undefined) return void connection.destroy();
    last += 1;
    const id = last;
    connections.set(id, connection);
    connection.on("data", (bytes: Buffer) => send(id, bytes));
    connection.on("error", () => connection.destroy());
    connection.once("close", () => {
      connections.delete(id);
      send(id);
    });
  }).listen(callsPort);
  // A connection that says nothing for long is one that somebody on the way has forgotten.
  setInterval(() => send(0), 10_000);
  listenHttp((request, response) => {
    if (request.headers[header] !== token) return void response.writeHead(403).end();
    if (request.method === "GET") {
      down?.end();
      hangUp();
      down = response;
      response.writeHead(200, { "content-type": "application/octet-stream" });
      send(0);
      response.once("close", () => {
        if (down !== response) return;
        down = undefined;
        hangUp();
      });
      return;
    }
    const searchParams = new URLSearchParams(request.url?.split("?")[1]);
    const connection = connections.get(Number(searchParams.get("id")));
    request.on("data", (bytes: Buffer) => connection?.write(bytes));
    request.once("end", () => {
      if (searchParams.has("end")) connection?.end();
      response.writeHead(connection === undefined ? 410 : 204).end();
    });
  }).listen(controlPort);
}

/** The program, for `node --eval`. It finds its token in the variable TOKEN. */
export function farEndProgram({
  calls,
  control,
}: {
  readonly calls: number;
  readonly control: number;
} = ports): string {
  const args = ["process.env.TOKEN", calls, control, JSON.stringify(tokenHeader)];
  return `(${String(farEnd)})(${args.join(", ")})`;
}
