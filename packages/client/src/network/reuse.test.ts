import { Worker } from "node:worker_threads";
import { createAuthority } from "@windlass/certificates";
import { expect, onTestFinished, test } from "vitest";
import { readAll } from "../test-server.fixture.ts";
import type { TransportRequest } from "../transport.ts";
import { networkTransport } from "./transport.ts";

const day = 86_400_000;
const authority = createAuthority({ commonName: "test-ca", validFor: day });
const { certificate: cert, key } = authority.issue({
  commonName: "server",
  usages: ["server"],
  validFor: day,
  ipAddresses: ["127.0.0.1"],
});

/**
 * Answers while the thread of the test stands still. Counts connections and answers in `counts`.
 */
const server = `
  const { workerData, parentPort } = require("node:worker_threads");
  const counts = new Int32Array(workerData.memory);
  const count = (slot) => { Atomics.add(counts, slot, 1); Atomics.notify(counts, slot); };
  const server = require("node:tls").createServer(workerData, (socket) => {
    count(0);
    socket.on("error", () => socket.destroy());
    socket.on("data", () => socket.write("HTTP/1.1 200 OK\\r\\ncontent-length: 2\\r\\n\\r\\nok", () => count(1)));
  });
  server.listen(0, "127.0.0.1", () => parentPort.postMessage(server.address().port));
`;

async function startThread(): Promise<{ readonly port: number; readonly counts: Int32Array }> {
  const memory = new SharedArrayBuffer(8);
  const worker = new Worker(server, { eval: true, workerData: { cert, key, memory } });
  onTestFinished(async () => void (await worker.terminate()));
  const port = await new Promise<number>((resolve) => worker.once("message", resolve));
  return { port, counts: new Int32Array(memory) };
}

test.each([
  ["with a guard", () => undefined],
  ["without a guard", undefined],
])(
  "a request %s keeps its connection, though its response is there before Node reports it written",
  async (_, guard) => {
    const { port, counts } = await startThread();
    const material = { ca: authority.certificate };
    const transport = networkTransport({ server: `https://127.0.0.1:${port}`, tls: () => material });
    const request: TransportRequest = { method: "PATCH", path: "/", headers: {}, body: "{}", guard };
    for (let answers = 0; answers < 5; answers++) {
      // What is written among the immediates is reported written only after sockets were looked at
      // again.
      const asked = await new Promise<{ response: ReturnType<typeof transport.request> }>((resolve) => {
        setImmediate(() => {
          const response = transport.request(request);
          if (answers > 0) Atomics.wait(counts, 1, answers, 1_000);
          resolve({ response });
        });
      });
      expect((await readAll((await asked.response).body)).toString()).toBe("ok");
      await new Promise((resolve) => setImmediate(resolve));
    }
    // The server counts an answer once it is written, by when it may have been read.
    Atomics.wait(counts, 1, 4, 1_000);
    expect(Array.from(counts)).toEqual([1, 5]);
    await transport.close();
  },
);
