import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, test } from "vitest";
import { httpReports } from "./resolver-reports.ts";

const signal = new AbortController().signal;

test("a replica that no longer runs differs from one that does not answer", async () => {
  const report = {
    namespace: "shop",
    service: "web",
    step: 4,
    requests: 2,
    held: 0,
    inFlight: 1,
    isListening: true,
  };
  const server = createServer((request, response) => {
    if (request.url === "/traffic/shop/web") response.end(JSON.stringify(report));
    else if (request.url === "/traffic/shop/odd") response.end("{}");
    else request.socket.destroy();
  });
  await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  const of = (service: string) => httpReports([port]).of("127.0.0.1", port, "shop", service, signal);
  expect(await of("web")).toEqual(report);
  expect(await of("odd")).toBeUndefined();
  expect(await of("cut")).toBeUndefined();
  await new Promise((resolve) => server.close(resolve));
  expect(await of("web")).toBe("gone");
});
