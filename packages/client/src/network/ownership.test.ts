import { gzipSync } from "node:zlib";
import { ManualClock } from "@windlass/clock";
import fc from "fast-check";
import { expect, test } from "vitest";
import { readAll } from "../test-server.fixture.ts";
import type { TransportRequest } from "../transport.ts";
import { settleSockets, startRawServer } from "./raw-server.fixture.ts";
import { networkTransport } from "./transport.ts";

const get = (path: string, more: Partial<TransportRequest> = {}): TransportRequest => ({
  method: "GET",
  path,
  headers: {},
  ...more,
});

test("a reader that leaves its gzip answer does not touch the request that has the connection by then", async () => {
  const packed = gzipSync(Buffer.alloc(4 * 1024 * 1024));
  const asked = Promise.withResolvers<() => void>();
  await using server = await startRawServer(({ method }, socket) => {
    if (method === "POST")
      asked.resolve(() => void socket.write("HTTP/1.1 201 Created\r\ncontent-length: 4\r\n\r\nmade"));
    else {
      const head = `HTTP/1.1 200 OK\r\ncontent-encoding: gzip\r\ncontent-length: ${packed.length}\r\n\r\n`;
      socket.write(Buffer.concat([Buffer.from(head), packed]));
    }
  });
  const transport = networkTransport({ server: server.url });
  const first = await transport.request(get("/large"));
  // All of it has come and most of it waits to be unpacked: the connection serves the next request.
  await settleSockets();
  const second = transport.request({ method: "POST", path: "/", headers: {}, body: "{}" });
  const answer = await asked.promise;
  expect(server.connections).toBe(1);
  await first.body[Symbol.asyncIterator]().return?.();
  await settleSockets();
  answer();
  expect((await readAll((await second).body)).toString()).toBe("made");
  expect(server.connections).toBe(1);
  await transport.close();
});

/** How an answer is sent. */
type Form = "length" | "chunked" | "gzip" | "gzip-chunked" | "to-the-end" | "last" | "cut" | "silent";

/**
 * What happens next. `which` chooses among the requests, or the server's connections, that there
 * are.
 */
type Command =
  | { readonly do: "ask"; readonly form: Form; readonly size: number; readonly write: boolean }
  /** `send` sends the next piece of an answer, `serve` all of it. */
  | { readonly do: "send" | "serve" | "read" | "leave" | "abort"; readonly which: number }
  | { readonly do: "settle" | "close-idle" };

const which = fc.nat(100);
const keptForms = fc.constantFrom<Form>("length", "chunked", "gzip", "gzip", "gzip-chunked", "gzip-chunked");
const lostForms = fc.constantFrom<Form>("to-the-end", "last", "cut", "silent");
/**
 * The largest do not fit into what is held for a reader: their end waits in the connection, or to
 * be unpacked.
 */
const size = fc.constantFrom(0, 1, 300, 70_000, 700_000, 700_000, 700_000);
const ask = (form: fc.Arbitrary<Form>) =>
  fc.record({ do: fc.constant("ask" as const), form, size, write: fc.boolean() });
const to = <D extends "send" | "serve" | "read" | "leave" | "abort">(command: D) =>
  fc.record({ do: fc.constant(command), which });
const commands = fc.array(
  fc.oneof(
    { weight: 5, arbitrary: ask(keptForms) },
    { weight: 1, arbitrary: ask(lostForms) },
    { weight: 2, arbitrary: to("send") },
    { weight: 5, arbitrary: to("serve") },
    { weight: 2, arbitrary: to("read") },
    { weight: 3, arbitrary: to("leave") },
    { weight: 1, arbitrary: to("abort") },
    { weight: 1, arbitrary: fc.record({ do: fc.constant("settle" as const) }) },
    { weight: 1, arbitrary: fc.record({ do: fc.constant("close-idle" as const) }) },
  ),
  { minLength: 4, maxLength: 40, size: "max" },
);

/** The pieces in which an answer is sent. Every byte shows whose it is. */
function piecesOf(form: Form, text: string): readonly (Buffer | "close" | "destroy")[] {
  const half = Math.floor(text.length / 2);
  const [one, two] = [text.slice(0, half), text.slice(half)];
  const head = (headers: string) => Buffer.from(`HTTP/1.1 200 OK\r\n${headers}\r\n`);
  const chunk = (data: Buffer) =>
    Buffer.concat([Buffer.from(`${data.length.toString(16)}\r\n`), data, Buffer.from("\r\n")]);
  const plain = [Buffer.from(one), Buffer.from(two)].filter(({ length }) => length > 0);
  const members = [gzipSync(one), gzipSync(two)];
  const end = Buffer.from("0\r\n\r\n");
  switch (form) {
    case "length":
      return [head(`content-length: ${text.length}\r\n`), ...plain];
    case "last":
      return [head(`content-length: ${text.length}\r\nconnection: close\r\n`), ...plain, "close"];
    case "chunked":
      return [head("transfer-encoding: chunked\r\n"), ...plain.map(chunk), end];
    case "gzip": {
      const packed = Buffer.concat(members);
      return [head(`content-encoding: gzip\r\ncontent-length: ${packed.length}\r\n`), packed];
    }
    case "gzip-chunked":
      return [head("content-encoding: gzip\r\ntransfer-encoding: chunked\r\n"), ...members.map(chunk), end];
    case "to-the-end":
      return [head(""), ...plain, "close"];
    case "cut":
      return [head(`content-length: ${text.length + 1}\r\n`), ...plain, "destroy"];
    case "silent":
      return [head(`content-length: ${text.length + 1}\r\n`), ...plain];
  }
}

/** One request of a run, and how it ended: with what it read, or with an error. */
interface Asked {
  readonly form: Form;
  readonly text: string;
  readonly controller: AbortController;
  body: AsyncIterator<Uint8Array> | undefined;
  read: string;
  /** The reader's wish that is under way. */
  reading: Promise<void> | undefined;
  isLeft: boolean;
  readonly ends: ("whole" | Error)[];
}

test("whatever is answered, read, left, aborted and closed, every request ends once, with its own answer or an error", async () => {
  await fc.assert(
    fc.asyncProperty(commands, async (steps) => {
      const clock = new ManualClock();
      const asked: Asked[] = [];
      /** What each connection is still to send, and whose it is. */
      const sending: { readonly pieces: (Buffer | "close" | "destroy")[]; readonly write: () => void }[] = [];
      await using server = await startRawServer(({ path }, socket) => {
        const it = asked[Number(path.slice(1))];
        if (!it) throw new Error(`no such request: ${path}`);
        const pieces = [...piecesOf(it.form, it.text)];
        sending.push({
          pieces,
          write: () => {
            const piece = pieces.shift();
            if (socket.destroyed || piece === undefined) return;
            if (piece === "close") socket.end();
            else if (piece === "destroy") socket.destroy();
            else socket.write(piece);
          },
        });
      });
      const transport = networkTransport({ server: server.url, clock });

      const read = (it: Asked) => {
        const { body } = it;
        if (!body || it.reading || it.isLeft || it.ends.length > 0) return;
        it.reading = body.next().then(
          (step) => {
            it.reading = undefined;
            if (step.done) {
              if (!it.isLeft) it.ends.push("whole");
            } else it.read += Buffer.from(step.value).toString();
          },
          (error: Error) => {
            it.reading = undefined;
            it.ends.push(error);
          },
        );
      };
      const ask = ({ form, size, write }: Extract<Command, { do: "ask" }>) => {
        const id = asked.length;
        const it: Asked = {
          form,
          text: String.fromCodePoint(0x21 + (id % 90)).repeat(size),
          controller: new AbortController(),
          body: undefined,
          read: "",
          reading: undefined,
          isLeft: false,
          ends: [],
        };
        asked.push(it);
        const { signal } = it.controller;
        const request = write
          ? {
              method: "POST" as const,
              path: `/${id}`,
              headers: {},
              body: "{}",
              guard: () => undefined,
              signal,
            }
          : get(`/${id}`, { signal });
        transport.request(request).then(
          (response) => {
            it.body = response.body[Symbol.asyncIterator]();
          },
          (error: Error) => it.ends.push(error),
        );
      };
      const among = <T>(all: readonly T[], index: number) => all[index % Math.max(1, all.length)];

      for (const step of steps) {
        switch (step.do) {
          case "ask":
            ask(step);
            break;
          case "send":
            among(
              sending.filter(({ pieces }) => pieces.length > 0),
              step.which,
            )?.write();
            break;
          case "serve": {
            await settleSockets();
            const one = among(
              sending.filter(({ pieces }) => pieces.length > 0),
              step.which,
            );
            while (one && one.pieces.length > 0) one.write();
            await settleSockets();
            break;
          }
          case "read": {
            const it = among(asked, step.which);
            if (it) read(it);
            break;
          }
          case "leave": {
            const it = among(asked, step.which);
            if (it?.body && it.ends.length === 0) {
              it.isLeft = true;
              void it.body.return?.();
            }
            break;
          }
          case "abort":
            among(asked, step.which)?.controller.abort(new Error("aborted by the test"));
            break;
          case "close-idle":
            if (sending.every(({ pieces }) => pieces.length === 0))
              for (const socket of server.open) socket.end();
            break;
          case "settle":
            await settleSockets();
        }
      }

      // The server sends all that it has, and readers read to the end: in limited time all is over.
      const isOver = (it: Asked) => it.ends.length > 0 || it.isLeft;
      for (let round = 0; !asked.every(isOver); round++) {
        expect(round, "rounds of ten seconds until every request is over").toBeLessThan(60);
        await settleSockets(3);
        for (const one of sending) one.write();
        for (const it of asked) read(it);
        await settleSockets(3);
        if (sending.every(({ pieces }) => pieces.length === 0)) await clock.advance(10_000);
      }

      for (const it of asked) {
        if (it.isLeft) continue;
        expect(it.ends).toHaveLength(1);
        const [end] = it.ends;
        if (end === "whole") {
          expect(["cut", "silent"]).not.toContain(it.form);
          expect(it.read === it.text, "the answer is the request's own").toBe(true);
        } else if (!(it.controller.signal.aborted && end?.message === "aborted by the test"))
          expect(end).toMatchObject({ code: expect.stringMatching(/^(CONNECTION_RESET|TIMEOUT_IDLE)$/) });
      }
      await transport.close();
      await settleSockets();
      expect(clock.pending, "timers left").toBe(0);
      await expect.poll(() => server.open.size, { interval: 2 }).toBe(0);
    }),
    { numRuns: 80 },
  );
}, 60_000);
