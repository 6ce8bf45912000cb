import { expect, test } from "vitest";
import { spokenIn } from "./sniff.ts";

test.each([
  ["GET / HTTP/1.1\r\n", "http1"],
  ["PROPFIND /a HTTP/1.1\r\n", "http1"],
  ["OPTIONS * HTTP/1.1\r\n", "http1"],
  ["GET http://a/ HTTP/1.1\r\n", "http1"],
  ["PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", "http2"],
  ["PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0", "http2"],
  ["\x16\x03\x01\x02", "tls"],
  ["EHLO me\r\n", "tcp"],
  ["GET key\r\n", "tcp"],
  ["*1\r\n$4\r\nPING\r\n", "tcp"],
  ["\x00\x00\x00\x08\x04\xd2\x16\x2f", "tcp"],
  ["SSH-2.0-x\r\n", "tcp"],
])("%j is %s", (text, spoken) => {
  const bytes = Buffer.from(text, "latin1");
  expect(spokenIn(bytes, "auto")).toBe(spoken);
  // Fewer bytes may leave it open, but never another answer.
  for (let end = 1; end < bytes.length; end++)
    expect(["unknown", spoken]).toContain(spokenIn(bytes.subarray(0, end), "auto"));
  expect(spokenIn(bytes, "tcp")).toBe("tcp");
});

test("a port of HTTP takes what is not HTTP/2 for HTTP/1, whose parser then reports the fault", () => {
  expect(spokenIn(Buffer.from("nonsense\r\n"), "http")).toBe("http1");
  expect(spokenIn(Buffer.from("PRI * HT"), "http")).toBe("unknown");
  // Ports are called http that speak TLS.
  expect(spokenIn(Buffer.from([0x16, 0x03, 0x01]), "http")).toBe("tls");
});
