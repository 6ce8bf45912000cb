import { expect, test } from "vitest";
import { formatCheck } from "./formats.ts";

test.each([
  [
    "date-time",
    ["2024-02-29T10:00:00Z", "2024-01-01T00:00:00.123+02:00"],
    ["2023-02-29T10:00:00Z", "2024-01-01", "2024-01-01T25:00:00Z"],
  ],
  ["date", ["2024-02-29"], ["2023-02-29", "2024-13-01", "x"]],
  ["duration", ["1h30m", "0", "-1.5s", "3 days", "22ns"], ["", "x", "3", "1y"]],
  ["byte", ["aGVsbG8=", "YQ=="], ["", "*", "a"]],
  ["ipv4", ["10.0.0.1"], ["10.0.0.256", "010.0.0.1", "::1"]],
  ["ipv6", ["::1", "2001:db8::"], ["10.0.0.1", "fe80::1%eth0"]],
  ["cidr", ["10.0.0.0/8", "::/0"], ["10.0.0.0/33", "10.0.0.0", "10.0.0.0/08"]],
  ["mac", ["01:23:45:67:89:ab", "01-23-45-67-89-ab", "0123.4567.89ab"], ["01:23:45", "x"]],
  ["email", ["a@b.c", "Ann <ann@example.com>"], ["a", "a@", "@b"]],
  ["uri", ["https://example.com/x?y", "/path"], ["", "x", "http://a b/"]],
  ["uuid", ["123e4567-e89b-12d3-a456-426614174000"], ["123e4567"]],
  ["uuid4", ["123e4567-e89b-42d3-a456-426614174000"], ["123e4567-e89b-12d3-a456-426614174000"]],
  ["hostname", ["example.com", "a"], ["-a", "a..b"]],
  ["hexcolor", ["#fff", "A0B1C2"], ["#ff"]],
  ["rgbcolor", ["rgb(1,2,3)"], ["rgb(1,2,300)"]],
  ["isbn10", ["0321751043"], ["0321751044"]],
  ["isbn13", ["978-0321751041"], ["978-0321751042"]],
  ["creditcard", ["4111 1111 1111 1111"], ["4111 1111 1111 1112"]],
  ["ssn", ["123-45-6789"], ["123-456-789"]],
  ["k8s-short-name", ["a-b"], ["A", "a.b", "-a"]],
  ["k8s-long-name", ["a.b"], ["a..b", "A"]],
  ["password", ["anything"], []],
])("%s", (name, good, bad) => {
  const check = formatCheck(name);
  expect(good.map((text) => check?.(text))).toEqual(good.map(() => true));
  expect(bad.map((text) => check?.(text))).toEqual(bad.map(() => false));
});

test("a format the API server does not know has no check", () => {
  expect(formatCheck("int32")).toBeUndefined();
});
