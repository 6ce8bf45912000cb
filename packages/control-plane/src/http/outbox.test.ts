import { once } from "node:events";
import { createServer, request, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, beforeEach, expect, test } from "vitest";
import { Outbox } from "./outbox.ts";

let server: Server;
let outbox: Outbox;
/** How each answer is written. */
let answer: (outgoing: ServerResponse) => void;

beforeEach(async () => {
  outbox = new Outbox();
  server = createServer((_incoming, outgoing) => {
    outgoing.writeHead(200);
    outgoing.flushHeaders();
    answer(outgoing);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
});
afterEach(() => {
  server.closeAllConnections();
  server.close();
});

async function read(): Promise<{ chunks: number; text: string }> {
  const { port } = server.address() as AddressInfo;
  const outgoing = request({ host: "127.0.0.1", port });
  outgoing.end();
  const [incoming] = (await once(outgoing, "response")) as [AsyncIterable<Buffer>];
  const chunks: Buffer[] = [];
  for await (const chunk of incoming) chunks.push(chunk);
  return { chunks: chunks.length, text: Buffer.concat(chunks).toString("utf8") };
}

const line = (index: number) => Buffer.from(`event ${index} é\n`);
const lines = (count: number) => Array.from({ length: count }, (_, index) => `event ${index} é\n`).join("");

test("what is written in one turn arrives as one chunk, in order, before the end", async () => {
  answer = (outgoing) => {
    const sink = outbox.open(outgoing);
    for (let index = 0; index < 100; index++) sink.write(line(index));
    sink.end();
  };
  expect(await read()).toEqual({ chunks: 1, text: lines(100) });
});

test("every one of many clients gets everything in order, however far behind it is", async () => {
  const clients = 300;
  const open: ServerResponse[] = [];
  const everyone = Promise.withResolvers<void>();
  answer = (outgoing) => {
    open.push(outgoing);
    if (open.length === clients) everyone.resolve();
  };
  const reading = Array.from({ length: clients }, () => read());
  await everyone.promise;
  const sinks = open.map((outgoing) => outbox.open(outgoing));
  for (let index = 0; index < 20; index++) {
    const event = line(index);
    for (const sink of sinks) sink.write(event);
    if (index % 3 === 0) await new Promise((resolve) => setImmediate(resolve));
  }
  for (const sink of sinks) sink.end();
  for (const { text } of await Promise.all(reading)) expect(text).toBe(lines(20));
});

test("what a client has not taken is counted", async () => {
  const waiting = Promise.withResolvers<number>();
  answer = (outgoing) => {
    const sink = outbox.open(outgoing);
    sink.write(line(0));
    waiting.resolve(sink.write(line(1)));
    sink.end();
  };
  await read();
  expect(await waiting.promise).toBeGreaterThanOrEqual(2 * line(0).byteLength);
});

test("a client that has left is written to no more", async () => {
  const left = Promise.withResolvers<ServerResponse>();
  answer = (outgoing) => outgoing.once("close", () => left.resolve(outgoing));
  const { port } = server.address() as AddressInfo;
  const outgoing = request({ host: "127.0.0.1", port }, (incoming) => incoming.destroy());
  outgoing.on("error", () => undefined);
  outgoing.end();
  const sink = outbox.open(await left.promise);
  expect(() => sink.write(line(0))).not.toThrow();
  expect(() => sink.end()).not.toThrow();
});
