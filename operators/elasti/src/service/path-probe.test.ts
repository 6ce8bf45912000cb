import { once } from "node:events";
import { type AddressInfo, createServer, type Socket } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { pathProof } from "../path-proof.ts";
import { TcpPathProbe } from "./path-probe.ts";

const proof = pathProof();

/** Asks a server that does with each connection what the test says. */
async function askOf(serve: (socket: Socket, nonce: string) => void, asking = proof) {
  const server = createServer((socket) => {
    socket.on("error", () => socket.destroy());
    socket.once("data", (bytes) => {
      const [, nonce = ""] = /elasti-path-probe: (\w+)/.exec(bytes.toString()) ?? [];
      serve(socket, nonce);
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => void server.close());
  const { port } = server.address() as AddressInfo;
  return await new TcpPathProbe(asking).ask("127.0.0.1", port, new AbortController().signal);
}

test("the resolver's answer is recognized, also when it comes in pieces", async () => {
  const answerOf = (nonce: string) =>
    `HTTP/1.1 204 No Content\r\nCache-Control: no-store\r\nElasti-Path-Probe: ${proof.answerTo(nonce)}\r\n\r\n`;
  expect(await askOf((socket, nonce) => socket.write(answerOf(nonce)))).toBe("resolver");
  const inPieces = async (socket: Socket, nonce: string) => {
    for (const piece of answerOf(nonce).match(/.{1,40}/gs) ?? []) {
      socket.write(piece);
      await new Promise((resolve) => setImmediate(resolve));
    }
  };
  expect(await askOf((socket, nonce) => void inPieces(socket, nonce))).toBe("resolver");
});

test.for<readonly [what: string, answer: (nonce: string) => string]>([
  ["the nonce in the head", (nonce) => `HTTP/1.1 204 No Content\r\nelasti-path-probe: ${nonce}\r\n\r\n`],
  ["the nonce in the body", (nonce) => `HTTP/1.1 200 OK\r\nContent-Length: 24\r\n\r\n${nonce}`],
  [
    "the answer of another key",
    (nonce) => `HTTP/1.1 204 No Content\r\nelasti-path-probe: ${pathProof("other").answerTo(nonce)}\r\n\r\n`,
  ],
  [
    "the answer in the body",
    (nonce) => `HTTP/1.1 204 No Content\r\n\r\nelasti-path-probe: ${proof.answerTo(nonce)}\r\n\r\n`,
  ],
  [
    "the answer with another status",
    (nonce) => `HTTP/1.1 200 OK\r\nelasti-path-probe: ${proof.answerTo(nonce)}\r\n\r\n`,
  ],
  ["no HTTP", () => "220 ready\r\n\r\n"],
])("a server that answers with %s is not the resolver", async ([, answer]) => {
  expect(await askOf((socket, nonce) => socket.write(answer(nonce)))).toBe("other");
});

test("a server that closes the connection is not the resolver", async () => {
  expect(await askOf((socket) => socket.destroy())).toBe("other");
});
