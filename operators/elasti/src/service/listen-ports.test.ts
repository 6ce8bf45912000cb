import { Service } from "@windlass/runtime/kinds";
import { existing } from "@windlass/testing";
import { expect, test } from "vitest";
import { ListenPorts } from "./listen-ports.ts";

test.each([
  ["http", undefined, "http"],
  ["http-admin", undefined, "http"],
  ["grpc", undefined, "http"],
  ["web", "kubernetes.io/h2c", "http"],
  ["web", "HTTP", "http"],
  // Servers of these may speak first, or it is not known.
  ["https", undefined, undefined],
  ["httpd", undefined, undefined],
  ["mysql", undefined, undefined],
  ["", undefined, undefined],
  ["http", "mysql", undefined],
])("a port called %j with appProtocol %j is for %j", (name, appProtocol, protocol) => {
  const ports = [{ name, port: 80, appProtocol }];
  const service = existing(Service, { metadata: { name: "web" }, spec: { ports } }).object;
  const [given] = new ListenPorts({ first: 20_000, last: 20_009 }).give("shop/web", service, []);
  expect(given).toEqual({ name, port: 80, listenPort: 20_000, ...(protocol && { protocol }) });
});
