import { expect, test } from "vitest";
import { requestHead } from "./request-head.ts";

const request = { method: "GET", target: "/api", headers: {}, body: undefined };

test("a body's length is sent in bytes, and that there is none where a server might wait for one", () => {
  expect(requestHead({ ...request, method: "PUT", body: "ü" })).toBe(
    "PUT /api HTTP/1.1\r\ncontent-length: 2\r\n\r\n",
  );
  expect(requestHead({ ...request, method: "POST" })).toBe("POST /api HTTP/1.1\r\ncontent-length: 0\r\n\r\n");
  expect(requestHead(request)).toBe("GET /api HTTP/1.1\r\n\r\n");
});

test("a header of several values has a line for each", () => {
  expect(requestHead({ ...request, headers: { "impersonate-group": ["a", "b"], accept: "x" } })).toBe(
    "GET /api HTTP/1.1\r\nimpersonate-group: a\r\nimpersonate-group: b\r\naccept: x\r\n\r\n",
  );
});

test("nothing that would end a line can be sent, and the message does not repeat it", () => {
  for (const value of ["secret\r\nx: y", "secret\0", "secret\n"]) {
    const send = () => requestHead({ ...request, headers: { authorization: value } });
    expect(send).toThrow(new TypeError("the header authorization holds a control character"));
  }
  expect(() => requestHead({ ...request, headers: { "a b": "c" } })).toThrow(TypeError);
  expect(() => requestHead({ ...request, target: "/a HTTP/1.1\r\n" })).toThrow(TypeError);
});
