import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { parseKubeconfig } from "@windlass/client";
import { expect, onTestFinished, test } from "vitest";
import { silentLogger } from "../logging/logger.ts";
import { noTracing } from "../reconcile/tracing.ts";
import { manager } from "./manager.ts";
import type { ManagerOptions } from "./options.ts";

/**
 * A manager of nothing, on a server that is busy at first. It asks for the version, and that is
 * all.
 */
async function metricsOf(metrics: ManagerOptions["metrics"]): Promise<{ host: string; text: string }> {
  let asked = 0;
  const server = createServer((_, response) => {
    asked += 1;
    response.writeHead(asked === 1 ? 503 : 200, { "content-type": "application/json" });
    response.end('{"major":"1"}');
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void server.close());
  const host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  const kubeconfig = await parseKubeconfig(
    JSON.stringify({
      "current-context": "c",
      contexts: [{ name: "c", context: { cluster: "c" } }],
      clusters: [{ name: "c", cluster: { server: `http://${host}` } }],
    }),
    "test",
  );
  const options = { kubeconfig, metrics, health: false, log: silentLogger, tracing: noTracing } as const;
  await using running = manager(options as ManagerOptions);
  await running.start();
  return { host, text: running.registry.render() };
}

test("requests are counted, and measured where that is asked for", async () => {
  const port = { port: 0, host: "127.0.0.1" };
  const { host, text } = await metricsOf({ ...port, requests: "measured" });
  const labels = `verb="GET",host="${host}"`;
  for (const line of [
    `rest_client_requests_total{code="503",method="GET",host="${host}"} 1`,
    `rest_client_requests_total{code="200",method="GET",host="${host}"} 1`,
    `rest_client_request_retries_total{code="503",${labels}} 1`,
    `rest_client_request_duration_seconds_count{${labels}} 2`,
    `rest_client_request_size_bytes_sum{${labels}} 0`,
    `rest_client_response_size_bytes_bucket{${labels},le="64"} 2`,
  ])
    expect(text.split("\n")).toContain(line);
  const counted = await metricsOf(port);
  expect(counted.text).toContain("rest_client_requests_total{");
  expect(counted.text).not.toMatch(/rest_client_request_(duration|size|retries)|rest_client_response/);
});
