import { expect, test } from "vitest";
import { withEncodedStringData } from "./secret.ts";

test("stringData becomes data, and wins over a key that is in both", () => {
  const secret = { metadata: { name: "s" }, stringData: { a: "ä" }, data: { a: "eA==", b: "eQ==" } };
  expect(withEncodedStringData(secret)).toEqual({
    metadata: { name: "s" },
    data: { a: Buffer.from("ä").toString("base64"), b: "eQ==" },
  });
});

test("a Secret without it stays as it is", () => {
  const secret = { metadata: { name: "s" }, data: { b: "eQ==" } };
  expect(withEncodedStringData(secret)).toBe(secret);
});
