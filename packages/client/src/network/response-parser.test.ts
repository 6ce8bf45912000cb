import fc from "fast-check";
import { expect, test } from "vitest";
import { MalformedResponseError, type ResponseHead, ResponseParser } from "./response-parser.ts";

interface Heard {
  head: ResponseHead | undefined;
  body: string;
  ended: boolean;
  /** Bytes after the response. */
  rest: string;
}

/**
 * Parses text that arrives in the given pieces; what is left out of the last one is the end of the
 * connection.
 */
function parse(pieces: readonly string[], { closes = false } = {}): Heard {
  const heard: Heard = { head: undefined, body: "", ended: false, rest: "" };
  const parser = new ResponseParser({
    head(head) {
      heard.head = head;
    },
    body(bytes, start, end) {
      heard.body += bytes.toString("latin1", start, end);
    },
    end() {
      heard.ended = true;
    },
  });
  for (const piece of pieces) {
    // Memory around the bytes, and of earlier pieces, must not matter.
    const bytes = Buffer.from(`xx${piece}yy`, "latin1");
    const stopped = parser.take(bytes, 2, bytes.length - 2);
    heard.rest += bytes.toString("latin1", stopped, bytes.length - 2);
    bytes.fill(0);
  }
  if (closes) parser.close();
  return heard;
}

const head = (...lines: string[]) => `${["HTTP/1.1 200 OK", ...lines].join("\r\n")}\r\n\r\n`;

test("a body ends where its length says, and what follows is not part of it", () => {
  expect(parse([`${head("Content-Length: 5")}helloHTTP`])).toMatchObject({
    head: { status: 200, length: 5, keepAlive: true, headers: { "content-length": "5" } },
    body: "hello",
    ended: true,
    rest: "HTTP",
  });
});

test("chunks are put together; their extensions and trailers are passed over", () => {
  const text = `${head("Transfer-Encoding: chunked")}5;a=b\r\nhello\r\n6 \r\n world\r\n0\r\nX-Sum: 1\r\n\r\n`;
  expect(parse([text])).toMatchObject({ body: "hello world", ended: true, rest: "" });
});

test("without a length a body ends with the connection", () => {
  expect(parse([`${head()}hello`])).toMatchObject({
    head: { keepAlive: false },
    body: "hello",
    ended: false,
  });
  expect(parse([`${head()}hello`], { closes: true })).toMatchObject({ body: "hello", ended: true });
  expect(parse([`${head("Content-Length: 9")}hello`], { closes: true })).toMatchObject({ ended: false });
});

test("responses that have no body end with their head", () => {
  for (const status of ["204 No Content", "304 Not Modified"])
    expect(parse([`HTTP/1.1 ${status}\r\n\r\n`])).toMatchObject({ body: "", ended: true });
  expect(parse([head("Content-Length: 0")])).toMatchObject({ body: "", ended: true });
});

test("interim responses are passed over", () => {
  const text = `HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n${head("Content-Length: 2")}ok`;
  expect(parse([text])).toMatchObject({ head: { status: 200 }, body: "ok", ended: true });
});

test("a connection stays unless either side's version or its header says otherwise", () => {
  const keeps = (text: string) => parse([text]).head?.keepAlive;
  expect(keeps("HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")).toBe(false);
  expect(keeps("HTTP/1.0 200 OK\r\nContent-Length: 0\r\n\r\n")).toBe(false);
  expect(keeps("HTTP/1.0 200 OK\r\nContent-Length: 0\r\nConnection: Keep-Alive\r\n\r\n")).toBe(true);
});

test("values of a header that comes twice are a list, and no name reaches a prototype", () => {
  const { head: parsed } = parse([
    head(
      "Warning: 299 - a",
      "warning:299 - b",
      "Content-Length: 0",
      "content-length: 0",
      "__proto__: x",
      "constructor: y",
    ),
  ]);
  expect(parsed?.headers.warning).toBe("299 - a, 299 - b");
  expect(parsed?.headers["content-length"]).toBe("0");
  expect(parsed?.headers.constructor).toBe("y");
  expect(Object.getPrototypeOf(parsed?.headers)).toBe(Object.prototype);
});

test.each([
  ["another protocol", "SSH-2.0-OpenSSH\r\n"],
  ["HTTP/2", "HTTP/2 200\r\n\r\n"],
  ["a malformed status code", "HTTP/1.1 2x0 OK\r\n\r\n"],
  ["a switch of protocols", "HTTP/1.1 101 Switching\r\n\r\n"],
  ["a folded header", head("A: b", " c")],
  ["a header without a name", head(": b")],
  ["malformed content-length", head("Content-Length: -1")],
  ["two lengths", head("Content-Length: 1", "Content-Length: 2")],
  ["a coding that was not requested", head("Transfer-Encoding: gzip, chunked")],
  ["chunk without a size", `${head("Transfer-Encoding: chunked")}\r\n`],
  ["malformed chunk size", `${head("Transfer-Encoding: chunked")}-1\r\n`],
  ["chunk size out of range", `${head("Transfer-Encoding: chunked")}${"f".repeat(13)}\r\n`],
  ["chunk longer than its size", `${head("Transfer-Encoding: chunked")}1\r\nab\r\n`],
  ["response head too long", `HTTP/1.1 200 OK\r\nA: ${"b".repeat(70_000)}`],
])("%s is refused", (_, text) => {
  expect(() => parse([text])).toThrow(MalformedResponseError);
});

const bodies = fc.array(fc.string({ unit: "binary-ascii", minLength: 1, maxLength: 20 }), { maxLength: 5 });
const framings = fc.constantFrom("length", "chunks", "close");

test("what is heard does not depend on where the bytes are cut", () => {
  fc.assert(
    fc.property(
      bodies,
      framings,
      fc.array(fc.nat({ max: 400 }), { maxLength: 8 }),
      (parts, framing, cuts) => {
        const body = parts.join("");
        const text =
          framing === "length"
            ? `${head(`Content-Length: ${body.length}`)}${body}`
            : framing === "close"
              ? `${head()}${body}`
              : `${head("Transfer-Encoding: chunked")}${parts.map((part) => `${part.length.toString(16)}\r\n${part}\r\n`).join("")}0\r\n\r\n`;
        const places = [
          0,
          ...cuts.map((cut) => Math.min(cut, text.length)).sort((a, b) => a - b),
          text.length,
        ];
        const pieces = places.slice(1).map((place, index) => text.slice(places[index], place));
        const heard = parse(pieces, { closes: true });
        expect(heard).toMatchObject({ body, ended: true, rest: "" });
      },
    ),
  );
});

test("any bytes are parsed or refused with the documented error", () => {
  const grammar = fc.constantFrom(
    "HTTP/1.1 200 OK",
    "\r\n",
    "\r\n\r\n",
    ":",
    "Content-Length: 3",
    "Transfer-Encoding: chunked",
    "5",
    "0",
    "a",
    ";",
    "\n",
  );
  fc.assert(
    fc.property(
      fc.array(fc.oneof(grammar, fc.string({ unit: "binary-ascii" })), { maxLength: 30 }),
      (pieces) => {
        try {
          parse(pieces, { closes: true });
        } catch (error) {
          expect(error).toBeInstanceOf(MalformedResponseError);
        }
      },
    ),
    { numRuns: 2_000 },
  );
});
