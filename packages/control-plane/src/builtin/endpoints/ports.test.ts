import { expect, test } from "vitest";
import { inEndpointsOrder, inSliceOrder } from "./ports.ts";

const ports = [
  { name: "a", port: 80, protocol: "TCP" },
  { name: "b", port: 81, protocol: "TCP" },
  { name: "c", port: 82, protocol: "UDP" },
  { name: "d", port: 83, protocol: "TCP", appProtocol: "http" },
  { name: "http", port: 84, protocol: "TCP" },
  { name: "https", port: 443, protocol: "TCP" },
  { name: "metrics", port: 9090, protocol: "TCP" },
];

test("ports are in the order that a real cluster has them in", () => {
  const names = (ordered: readonly { readonly name?: unknown }[]) => ordered.map(({ name }) => name);
  expect(names(inSliceOrder(ports))).toEqual(["https", "d", "b", "a", "c", "http", "metrics"]);
  expect(names(inEndpointsOrder(ports))).toEqual(["d", "b", "a", "https", "metrics", "http", "c"]);
});
