import { describe, expect, test } from "vitest";
import { ChunkReader } from "./chunks.ts";
import { HeadReader } from "./head-reader.ts";
import { MalformedMessageError } from "./malformed.ts";
import { parseRequestHead } from "./request-head.ts";
import { parseResponseHead } from "./response-head.ts";

/** How a request is refused, or how it would be forwarded. */
function verdict(text: string) {
  const reader = new HeadReader();
  const bytes = Buffer.from(text, "latin1");
  try {
    const end = reader.take(bytes, 0, bytes.length);
    if (end < 0) return "incomplete";
    return parseRequestHead(reader.text);
  } catch (error) {
    if (!(error instanceof MalformedMessageError)) throw error;
    return `${error.status} ${error.message}`;
  }
}

const line = "POST /a HTTP/1.1\r\n";
const host = "Host: a.example\r\n";

describe("a request is refused that servers may read differently:", () => {
  test.each([
    [
      "Content-Length and Transfer-Encoding",
      `${line}${host}Content-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n`,
      "400",
    ],
    [
      "Transfer-Encoding and Content-Length",
      `${line}${host}Transfer-Encoding: chunked\r\nContent-Length: 4\r\n\r\n`,
      "400",
    ],
    ["two lengths that differ", `${line}${host}Content-Length: 4\r\nContent-Length: 5\r\n\r\n`, "400"],
    ["two lengths that are the same", `${line}${host}Content-Length: 4\r\nContent-Length: 4\r\n\r\n`, "400"],
    ["a list of lengths", `${line}${host}Content-Length: 4, 4\r\n\r\n`, "400"],
    ["a length with a sign", `${line}${host}Content-Length: +4\r\n\r\n`, "400"],
    ["a negative length", `${line}${host}Content-Length: -1\r\n\r\n`, "400"],
    ["a hexadecimal length", `${line}${host}Content-Length: 0x4\r\n\r\n`, "400"],
    ["an empty length", `${line}${host}Content-Length: \r\n\r\n`, "400"],
    ["a length that no number holds", `${line}${host}Content-Length: 99999999999999999999\r\n\r\n`, "400"],
    ["a length with a blank in it", `${line}${host}Content-Length: 1 2\r\n\r\n`, "400"],
    ["a length with an underscore", `${line}${host}Content_Length: 4\r\n\r\n`, "400"],
    ["two codings", `${line}${host}Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n\r\n`, "400"],
    [
      "chunked twice",
      `${line}${host}Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n`,
      "400",
    ],
    ["chunked after another coding", `${line}${host}Transfer-Encoding: gzip, chunked\r\n\r\n`, "501"],
    ["a coding that only looks like chunked", `${line}${host}Transfer-Encoding: xchunked\r\n\r\n`, "501"],
    ["a coding with a vertical tab", `${line}${host}Transfer-Encoding: \vchunked\r\n\r\n`, "400"],
    ["a coding in quotes", `${line}${host}Transfer-Encoding: "chunked"\r\n\r\n`, "501"],
    ["a coding in HTTP/1.0", `POST /a HTTP/1.0\r\n${host}Transfer-Encoding: chunked\r\n\r\n`, "400"],
    ["a blank before the colon", `${line}${host}Transfer-Encoding : chunked\r\n\r\n`, "400"],
    ["a tab before the colon", `${line}${host}Content-Length\t: 4\r\n\r\n`, "400"],
    ["a folded line", `${line}${host}X: a\r\n b\r\n\r\n`, "400"],
    ["a folded coding", `${line}${host}Transfer-Encoding:\r\n chunked\r\n\r\n`, "400"],
    ["a first field that begins with a blank", `${line} ${host}\r\n`, "400"],
    ["a lone LF after the request line", `POST /a HTTP/1.1\n${host}\r\n`, "400"],
    ["a lone LF between fields", `${line}${host}X: a\nContent-Length: 4\r\n\r\n`, "400"],
    ["a lone LF at the end", `${line}${host}\n`, "400"],
    ["a lone CR in a value", `${line}${host}X: a\rContent-Length: 4\r\n\r\n`, "400"],
    ["a lone CR in the request line", `POST /a\r HTTP/1.1\r\n${host}\r\n`, "400"],
    ["NUL in a value", `${line}${host}X: a\0b\r\n\r\n`, "400"],
    ["NUL in a name", `${line}${host}X\0: a\r\n\r\n`, "400"],
    ["NUL in the target", `POST /a\0b HTTP/1.1\r\n${host}\r\n`, "400"],
    ["a control character in a value", `${line}${host}X: \x01\r\n\r\n`, "400"],
    ["a name without a colon", `${line}${host}Content-Length\r\n\r\n`, "400"],
    ["an empty name", `${line}${host}: a\r\n\r\n`, "400"],
    ["a name with a blank", `${line}${host}X Y: a\r\n\r\n`, "400"],
    ["a name above ASCII", `${line}${host}X\xe9: a\r\n\r\n`, "400"],
    ["no Host", `${line}\r\n`, "400"],
    ["two Hosts", `${line}${host}Host: b.example\r\n\r\n`, "400"],
    ["the same Host twice", `${line}${host}${host}\r\n`, "400"],
    ["a list of Hosts", `${line}Host: a.example, b.example\r\n\r\n`, "400"],
    ["a Host with a path", `${line}Host: a.example/b\r\n\r\n`, "400"],
    ["a Host with a user", `${line}Host: u@a.example\r\n\r\n`, "400"],
    ["a whole URL of another host", `GET http://b.example/ HTTP/1.1\r\n${host}\r\n`, "400"],
    ["a whole URL with a user", `GET http://a.example@b.example/ HTTP/1.1\r\n${host}\r\n`, "400"],
    ["a target without a slash", `GET a HTTP/1.1\r\n${host}\r\n`, "400"],
    ["a target with a fragment", `GET /a#b HTTP/1.1\r\n${host}\r\n`, "400"],
    ["an asterisk for another method than OPTIONS", `GET * HTTP/1.1\r\n${host}\r\n`, "400"],
    ["two blanks in the request line", `GET  /a HTTP/1.1\r\n${host}\r\n`, "400"],
    ["a tab in the request line", `GET\t/a HTTP/1.1\r\n${host}\r\n`, "400"],
    ["a blank after the version", `GET /a HTTP/1.1 \r\n${host}\r\n`, "400"],
    ["a version in lower case", `GET /a http/1.1\r\n${host}\r\n`, "400"],
    ["HTTP/0.9", "GET /a\r\n\r\n", "400"],
    ["a version that does not exist", `GET /a HTTP/1.2\r\n${host}\r\n`, "505"],
    ["another major version", `GET /a HTTP/3.0\r\n${host}\r\n`, "505"],
    ["CONNECT", `CONNECT a.example:80 HTTP/1.1\r\n${host}\r\n`, "501"],
    ["CONNECT with a path", `CONNECT /a HTTP/1.1\r\n${host}\r\n`, "501"],
    ["a method that is no token", `G(T /a HTTP/1.1\r\n${host}\r\n`, "400"],
    [
      "Connection that names Content-Length",
      `${line}${host}Content-Length: 4\r\nConnection: content-length\r\n\r\n`,
      "400",
    ],
    ["Connection that names Host", `${line}${host}Connection: close, Host\r\n\r\n`, "400"],
    ["a head that is too long", `${line}${host}X: ${"x".repeat(70_000)}\r\n\r\n`, "431"],
    ["too many fields", `${line}${host}${"X: y\r\n".repeat(300)}\r\n`, "431"],
    ["empty lines before the request", `\r\n\r\n\r\n${line}${host}\r\n`, "400"],
  ])("%s", (_, text, status) => {
    const found = verdict(text);
    expect(typeof found === "string" ? found : JSON.stringify(found)).toMatch(new RegExp(`^${status} `));
  });
});

describe("a request is forwarded", () => {
  const forwarded = (text: string) => {
    const found = verdict(text);
    if (typeof found === "string") throw new Error(found);
    return found;
  };

  test("without what concerns its connection alone", () => {
    const { fields } = forwarded(
      `${line}${host}Connection: keep-alive, X-Hop\r\nX-Hop: 1\r\nKeep-Alive: 5\r\nTE: gzip\r\nProxy-Connection: x\r\nProxy-Authorization: y\r\nUpgrade: h2c\r\nHTTP2-Settings: z\r\nX-End: 2\r\n\r\n`,
    );
    expect(fields).toBe(`${host}X-End: 2\r\n`);
  });

  test("with a path where it had the whole URL of its Host", () => {
    expect(forwarded(`GET http://A.example/b?c HTTP/1.1\r\n${host}\r\n`).target).toBe("/b?c");
    expect(forwarded(`GET http://a.example?c HTTP/1.1\r\n${host}\r\n`).target).toBe("/?c");
  });

  test("after one empty line", () => {
    expect(forwarded(`\r\n${line}${host}\r\n`).target).toBe("/a");
  });

  test("with values as they were sent, whatever their case and bytes", () => {
    expect(forwarded(`${line}${host}x-A:  caf\xe9 \t\r\n\r\n`).fields).toBe(`${host}x-A:  caf\xe9 \t\r\n`);
  });

  test("with blanks around its length", () => {
    expect(forwarded(`${line}${host}Content-Length:\t 4 \r\n\r\n`).body).toBe(4);
  });
});

describe("a chunked body is refused with", () => {
  const chunked = (text: string) => {
    const got = { data: "", ended: false };
    const reader = new ChunkReader({
      data: (bytes, start, end) => {
        got.data += bytes.toString("latin1", start, end);
      },
      end: () => {
        got.ended = true;
      },
    });
    const bytes = Buffer.from(text, "latin1");
    reader.take(bytes, 0, bytes.length);
    return got;
  };

  test.each([
    ["no size", "\r\n"],
    ["a negative size", "-1\r\n"],
    ["a size with a sign", "+1\r\na\r\n"],
    ["a size with a prefix", "0x1\r\na\r\n"],
    ["a blank before the size", " 1\r\na\r\n"],
    ["a blank after the size", "1 \r\na\r\n"],
    ["a size that no number holds", "ffffffffffffffff\r\n"],
    ["a lone LF after the size", "1\na\r\n0\r\n\r\n"],
    ["a lone CR after the size", "1\ra\r\n"],
    ["a lone LF in an extension", "1;a\nb\r\na\r\n"],
    ["NUL in an extension", "1;\0\r\na\r\n"],
    ["a long extension", `1;${"a".repeat(10_000)}\r\na\r\n`],
    ["data longer than the size", "1\r\nab\r\n"],
    ["a lone LF after the data", "1\r\na\n0\r\n\r\n"],
    ["no line end after the data", "1\r\na0\r\n\r\n"],
    ["Content-Length in the trailers", "0\r\nContent-Length: 4\r\n\r\n"],
    ["Transfer-Encoding in the trailers", "0\r\nTransfer-Encoding: chunked\r\n\r\n"],
    ["Host in the trailers", "0\r\nHost: b\r\n\r\n"],
    ["a malformed trailer", "0\r\nX : y\r\n\r\n"],
    ["a lone LF in the trailers", "0\r\nX: y\n\r\n"],
    ["long trailers", `0\r\nX: ${"y".repeat(20_000)}\r\n\r\n`],
  ])("%s", (_, text) => {
    expect(() => chunked(text)).toThrow(MalformedMessageError);
  });

  test("nothing, if only its extensions are odd", () => {
    expect(chunked('3;a="b;c"\r\nabc\r\n00;d\r\n\r\n')).toEqual({ data: "abc", ended: true });
  });
});

describe("a response is refused with", () => {
  test.each([
    ["both lengths", "HTTP/1.1 200 OK\r\nContent-Length: 4\r\nTransfer-Encoding: chunked\r\n"],
    ["two lengths", "HTTP/1.1 200 OK\r\nContent-Length: 4\r\nContent-Length: 4\r\n"],
    ["another coding", "HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip\r\n"],
    ["a coding in HTTP/1.0", "HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked\r\n"],
    ["a folded line", "HTTP/1.1 200 OK\r\nX: a\r\n b\r\n"],
    ["a status of two digits", "HTTP/1.1 20 OK\r\n"],
    ["another protocol", "ICY 200 OK\r\n"],
    ["a control character in its reason", "HTTP/1.1 200 O\0K\r\n"],
  ])("%s", (_, text) => {
    expect(() => parseResponseHead(text, "GET")).toThrow(MalformedMessageError);
  });

  test.each([
    ["HEAD", 200],
    ["GET", 204],
    ["GET", 304],
  ])("no body to %s with %i, whatever its fields say", (method, status) => {
    const head = parseResponseHead(`HTTP/1.1 ${status} \r\nContent-Length: 4\r\n`, method);
    expect(head.body).toBe(0);
  });
});
