import { createServer as createTlsServer } from "node:tls";
import { gzipSync } from "node:zlib";
import { type HookCase, listen, mute, serving } from "./hard-to-reach.ts";

/** Answers with these bytes, and ends the connection. */
const bytes = (name: string, head: string, body: Buffer | string = ""): HookCase => ({
  name,
  serve: () =>
    listen(
      createTlsServer({ key: serving.key, cert: serving.certificate }, (socket) => {
        mute(socket);
        socket.once("data", () => {
          socket.write(head);
          socket.end(body);
        });
      }),
    ),
  timeoutSeconds: 2,
});
const nothing = '{"kind":"AdmissionReview","apiVersion":"admission.k8s.io/v1"}';
const head = (...lines: string[]) => `HTTP/1.1 200 OK\r\n${lines.map((line) => `${line}\r\n`).join("")}\r\n`;
const long = (count: number) => `X-Long: ${"a".repeat(count)}`;

const parser = "Node's parser has words of its own for what is malformed";
const worded = (one: HookCase): HookCase => ({ ...one, known: parser });
const strict = "Node's parser is stricter than Go's";
const refused = (one: HookCase): HookCase => ({ ...one, known: strict });

/** Answers that are malformed, or nearly so. */
export const answerCases: readonly HookCase[] = [
  bytes("lines without carriage returns", `HTTP/1.1 200 OK\nContent-Length: ${nothing.length}\n\n`, nothing),
  bytes("HTTP/1.0", "HTTP/1.0 200 OK\r\n\r\n", nothing),
  bytes("HTTP/2.0", "HTTP/2.0 200 OK\r\n\r\n", nothing),
  bytes("no reason", "HTTP/1.1 200\r\n\r\n", nothing),
  worded(bytes("a status that is no number", "HTTP/1.1 abc OK\r\n\r\n", nothing)),
  worded(bytes("a status of two digits", "HTTP/1.1 20 OK\r\n\r\n", nothing)),
  worded(bytes("a header without a colon", head("Nothing"), nothing)),
  refused(bytes("a header with a space", head("X y: z"), nothing)),
  bytes("a header in two lines", head("X: y", " z"), nothing),
  worded(bytes("a header with control characters", head("X: \u00ff\u0001"), nothing)),
  bytes("20 kB of headers", head(long(20_000), `Content-Length: ${nothing.length}`), nothing),
  bytes("300 kB of headers", head(long(300_000), `Content-Length: ${nothing.length}`), nothing),
  refused(
    bytes(
      "two equal lengths",
      head(`Content-Length: ${nothing.length}`, `Content-Length: ${nothing.length}`),
      nothing,
    ),
  ),
  worded(bytes("two lengths", head("Content-Length: 3", `Content-Length: ${nothing.length}`), nothing)),
  worded(bytes("a length that is no number", head("Content-Length: x"), nothing)),
  worded(bytes("a negative length", head("Content-Length: -1"), nothing)),
  bytes(
    "a length and chunks",
    head("Content-Length: 3", "Transfer-Encoding: chunked"),
    `${nothing.length.toString(16)}\r\n${nothing}\r\n0\r\n\r\n`,
  ),
  worded(bytes("an unknown transfer encoding", head("Transfer-Encoding: x"), nothing)),
  worded(bytes("a chunk of no size", head("Transfer-Encoding: chunked"), `zz\r\n${nothing}`)),
  bytes(
    "something said before",
    `HTTP/1.1 100 Continue\r\n\r\n${head(`Content-Length: ${nothing.length}`)}`,
    nothing,
  ),
  bytes(
    "an early hint",
    `HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n${head(`Content-Length: ${nothing.length}`)}`,
    nothing,
  ),
  bytes("another protocol", "HTTP/1.1 101 Switching Protocols\r\n\r\n"),
  bytes(
    "another protocol, named",
    "HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: x\r\n\r\n",
  ),
  bytes("status 204", "HTTP/1.1 204 No Content\r\n\r\n"),
  bytes("status 999", "HTTP/1.1 999 Wrong\r\nContent-Length: 0\r\n\r\n"),
  bytes("compressed", head("Content-Encoding: gzip"), gzipSync(nothing)),
  bytes("compressed, in capitals", head("Content-Encoding: GZIP"), gzipSync(nothing)),
  bytes("said to be compressed", head("Content-Encoding: gzip"), nothing),
  bytes("compressed and cut short", head("Content-Encoding: gzip"), gzipSync(nothing).subarray(0, 40)),
  bytes(
    "compressed, and something behind it",
    head("Content-Encoding: gzip"),
    Buffer.concat([gzipSync(nothing), Buffer.from("x")]),
  ),
  bytes("compressed and empty", head("Content-Encoding: gzip")),
  bytes("compressed otherwise", head("Content-Encoding: deflate"), nothing),
  bytes("a long text", "HTTP/1.1 500 Wrong\r\nContent-Type: text/plain\r\n\r\n", "x".repeat(5_000)),
  bytes(
    "a long text of wide characters",
    "HTTP/1.1 500 Wrong\r\nContent-Type: text/plain\r\n\r\n",
    "é".repeat(5_000),
  ),
  bytes(
    "a long text that may not be seen",
    "HTTP/1.1 403 Wrong\r\nContent-Type: text/plain\r\n\r\n",
    ` ${"x".repeat(5_000)}`,
  ),
  bytes("a body that goes on after its length", head(`Content-Length: ${nothing.length}`), `${nothing}more`),
];
