import { expect, test } from "vitest";
import { type BindAddress, bindAddressFrom } from "./bind-address.ts";

test.for<[string | undefined, BindAddress | false | undefined]>([
  [undefined, undefined],
  ["", undefined],
  ["0", false],
  [":8080", { port: 8080 }],
  [":0", { port: 0 }],
  ["127.0.0.1:9090", { host: "127.0.0.1", port: 9090 }],
  ["localhost:9090", { host: "localhost", port: 9090 }],
  ["[::1]:9090", { host: "::1", port: 9090 }],
])("%j is read", ([text, expected]) => {
  expect(bindAddressFrom({ METRICS_BIND_ADDRESS: text }, "METRICS_BIND_ADDRESS")).toEqual(expected);
});

test.for(["8080", ":70000", "::1:80", "a:b", ":"])("%j is refused, and the variable is named", (text) => {
  expect(() => bindAddressFrom({ METRICS_BIND_ADDRESS: text }, "METRICS_BIND_ADDRESS")).toThrow(
    `METRICS_BIND_ADDRESS (${JSON.stringify(text)}) must be like ":8080"`,
  );
});
