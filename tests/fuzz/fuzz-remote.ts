import { once } from "node:events";
import { connect } from "node:tls";
import { ControlPlane } from "../../packages/control-plane/src/control-plane.ts";
import { RemoteServer } from "./remote.ts";
import { RequestFuzzer } from "./requests.ts";

/** So many at once: some wait for a second or three, as clients may ask for. */
const lanes = 32;

/**
 * Sends requests through sockets, where there is more to break: headers, framing, and clients that
 * leave in the middle.
 *
 * @returns the requests that got no answer. A server that is brought down ends the process.
 */
export async function fuzzRemote(seed: number, count: number): Promise<readonly string[]> {
  await using plane = await ControlPlane.start({ controllers: "none" });
  using server = new RemoteServer(await plane.kubeconfig());
  const address = new URL(await plane.listen());
  const fuzzer = new RequestFuzzer(seed);
  const unanswered: string[] = [];
  let left = count;
  const lane = async (): Promise<void> => {
    while (left-- > 0) {
      if (fuzzer.below(20) === 0) await sendRubbish(address, fuzzer);
      const request = fuzzer.next();
      if ((await server.send(request)) !== 0) continue;
      const body = Buffer.from(request.body ?? [])
        .toString("utf8")
        .slice(0, 300);
      unanswered.push(`${request.method} ${request.url} ${JSON.stringify(request.headers)}\n  ${body}`);
    }
  };
  await Promise.all(Array.from({ length: lanes }, lane));
  return unanswered;
}

const rubbish = [
  "GET / HTTP/1.1\r\n",
  "GET /api/v1/pods?watch=1 HTTP/1.1\r\nHost: x\r\n\r\n",
  "POST /api/v1/namespaces HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\n{",
  "POST /api/v1/namespaces HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
  "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
  "GET /api HTTP/1.1\r\nHost: x\r\n\r\nGET /apis HTTP/1.1\r\nHost: x\r\n\r\n",
  "GET /api HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n",
  "CONNECT x:1 HTTP/1.1\r\nHost: x\r\n\r\n",
  "\u0000\u0001\u0002",
];

/** Half a request, or none at all, and gone. */
async function sendRubbish({ hostname, port }: URL, fuzzer: RequestFuzzer): Promise<void> {
  const socket = connect({ host: hostname, port: Number(port), rejectUnauthorized: false });
  const closed = new Promise<void>((resolve) => {
    socket.once("close", () => resolve());
  });
  socket.on("error", () => socket.destroy());
  await Promise.race([once(socket, "secureConnect"), closed]);
  socket.write(rubbish[fuzzer.below(rubbish.length)] ?? "");
  if (fuzzer.below(2) === 0) socket.end();
  else socket.destroy();
  socket.resume();
  setTimeout(() => socket.destroy(), 100);
  await closed;
}
