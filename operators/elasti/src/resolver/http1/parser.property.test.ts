import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { BodyReader } from "./body-reader.ts";
import { HeadReader } from "./head-reader.ts";
import { MalformedMessageError } from "./malformed.ts";
import { type BodyLength, parseRequestHead, type RequestHead } from "./request-head.ts";
import { parseResponseHead } from "./response-head.ts";

/** What a reader of requests made of some bytes. */
interface Read {
  readonly heads: RequestHead[];
  readonly bodies: string[];
  readonly trailers: string[];
  /** Set where it stopped. */
  readonly fault: string | undefined;
}

/** Reads one request after the other, as a connection does, from bytes that arrive in pieces. */
function read(pieces: readonly Buffer[]): Read {
  const heads: RequestHead[] = [];
  const bodies: string[] = [];
  const trailers: string[] = [];
  const headReader = new HeadReader();
  let body: BodyReader | undefined;
  const listener = {
    data: (bytes: Buffer, start: number, end: number) => {
      bodies[bodies.length - 1] += bytes.toString("latin1", start, end);
    },
    end: (lines: string) => {
      trailers.push(lines);
      body = undefined;
    },
  };
  try {
    for (const bytes of pieces)
      for (let at = 0; at < bytes.length; ) {
        if (body) {
          at = body.take(bytes, at, bytes.length);
          continue;
        }
        const end = headReader.take(bytes, at, bytes.length);
        if (end < 0) break;
        at = end;
        const head = parseRequestHead(headReader.text);
        heads.push(head);
        bodies.push("");
        if (head.body === 0) trailers.push("");
        else body = new BodyReader(head.body, listener);
      }
  } catch (error) {
    if (!(error instanceof MalformedMessageError)) throw error;
    return { heads, bodies, trailers, fault: `${error.fault}: ${error.message}` };
  }
  return { heads, bodies, trailers, fault: undefined };
}

function cut(bytes: Buffer, cuts: readonly number[]): Buffer[] {
  const at = [...new Set(cuts.map((each) => each % (bytes.length + 1)))].toSorted((a, b) => a - b);
  return [0, ...at].map((start, index) => bytes.subarray(start, at[index] ?? bytes.length));
}

const token = fc.stringMatching(/^[A-Za-z][A-Za-z0-9-]{0,12}$/);
const value = fc.stringMatching(/^[\x21-\x7e\x80-\xff][\t\x20-\x7e\x80-\xff]{0,30}$/);
const content = fc.uint8Array({ maxLength: 200 }).map((bytes) => Buffer.from(bytes).toString("latin1"));
const extension = fc.constantFrom("", ";a", ';name="value"');

const body = fc.oneof(
  fc.constant({ fields: "", text: "", content: "" }),
  content.map((text) => ({ fields: `Content-Length: ${text.length}\r\n`, text, content: text })),
  fc.array(fc.tuple(content, extension), { maxLength: 4 }).map((chunks) => ({
    fields: "Transfer-Encoding: chunked\r\n",
    text: `${chunks
      .filter(([chunk]) => chunk !== "")
      .map(([chunk, more]) => `${chunk.length.toString(16)}${more}\r\n${chunk}\r\n`)
      .join("")}0\r\nX-Sum: 1\r\n\r\n`,
    content: chunks.map(([chunk]) => chunk).join(""),
  })),
);

const request = fc
  .record({
    method: fc.constantFrom("GET", "POST", "PUT", "PURGE"),
    path: fc.webPath().map((path) => `/${path.replaceAll("#", "")}`),
    fields: fc.array(fc.tuple(token, value), { maxLength: 6 }),
    body,
  })
  .map(({ method, path, fields, body: { fields: framing, text, content: expected } }) => {
    // Names with a meaning of their own are another test's.
    const lines = fields.map(([name, content]) => `X-${name}: ${content}\r\n`).join("");
    return {
      text: `${method} ${path} HTTP/1.1\r\nHost: a.example\r\n${lines}${framing}\r\n${text}`,
      method,
      path,
      lines,
      content: expected,
    };
  });

describe("a request", () => {
  test("is read the same wherever its bytes are cut", () => {
    fc.assert(
      fc.property(fc.array(request, { minLength: 1, maxLength: 3 }), fc.array(fc.nat()), (requests, cuts) => {
        const bytes = Buffer.from(requests.map(({ text }) => text).join(""), "latin1");
        const whole = read([bytes]);
        expect(whole.fault).toBeUndefined();
        expect(whole.heads.map(({ method, target }) => [method, target])).toEqual(
          requests.map(({ method, path }) => [method, path]),
        );
        expect(whole.bodies).toEqual(requests.map(({ content: expected }) => expected));
        for (const [index, { fields }] of whole.heads.entries())
          expect(fields).toContain(requests[index]?.lines);
        expect(read(cut(bytes, cuts))).toEqual(whole);
        expect(read([...bytes].map((byte) => Buffer.of(byte)))).toEqual(whole);
      }),
      { numRuns: 60 },
    );
  });

  test("that was damaged is read the same wherever its bytes are cut, and fails with the right error", () => {
    const damage = fc.record({
      at: fc.nat(),
      remove: fc.nat(3),
      insert: fc.oneof(
        fc.uint8Array({ maxLength: 4 }),
        fc
          .constantFrom("\n", "\r", "\0", " ", "\t", ":", "\r\n", "\r\n\r\n", "0", "Content-Length: 1\r\n")
          .map((text) => Uint8Array.from(Buffer.from(text))),
      ),
    });
    fc.assert(
      fc.property(
        request,
        fc.array(damage, { maxLength: 4 }),
        fc.array(fc.nat()),
        ({ text }, damages, cuts) => {
          let bytes = Buffer.from(text, "latin1");
          for (const { at, remove, insert } of damages) {
            const place = at % (bytes.length + 1);
            bytes = Buffer.concat([bytes.subarray(0, place), insert, bytes.subarray(place + remove)]);
          }
          expect(read(cut(bytes, cuts))).toEqual(read([bytes]));
        },
      ),
      { numRuns: 300 },
    );
  });

  test("takes time in proportion to its length, however small its pieces are", () => {
    const bytes = Buffer.from(`GET / HTTP/1.1\r\nHost: a\r\nX: ${"x".repeat(60_000)}\r\n\r\n`);
    const pieces = [...bytes].map((byte) => Buffer.of(byte));
    const times = [1, 2, 3].map(() => {
      const startedAt = performance.now();
      expect(read(pieces).heads).toHaveLength(1);
      return performance.now() - startedAt;
    });
    // Some 10 ms. To look at all of it again with every byte would take seconds.
    expect(Math.min(...times)).toBeLessThan(500);
  });

  test("of random bytes never fails otherwise", () => {
    fc.assert(
      fc.property(fc.array(fc.uint8Array({ maxLength: 60 })), (pieces) => {
        read(pieces.map((piece) => Buffer.from(piece)));
      }),
      { numRuns: 300 },
    );
  });
});

describe("a response", () => {
  const lengths: readonly BodyLength[] = [5, "chunked", "until-close"];

  test("of random lines is parsed, or fails with the right error", () => {
    const line = fc.oneof(
      fc.tuple(token, value).map(([name, text]) => `${name}: ${text}`),
      fc.constantFrom("Content-Length: 5", "Transfer-Encoding: chunked", "Connection: close", " folded", "x"),
    );
    fc.assert(
      fc.property(fc.array(line), fc.constantFrom(200, 204, 304, 500), (lines, status) => {
        try {
          const head = parseResponseHead(
            [`HTTP/1.1 ${status} OK`, ...lines].map((each) => `${each}\r\n`).join(""),
            "GET",
          );
          expect([0, ...lengths]).toContain(head.body);
        } catch (error) {
          expect(error).toBeInstanceOf(MalformedMessageError);
        }
      }),
    );
  });
});
