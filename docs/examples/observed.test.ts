import { silentLogger } from "@windlass/runtime";
import { startCluster } from "@windlass/testing";
import { expect, test } from "vitest";
import { operator } from "./observed.ts";
import { Site } from "./site.ts";

test("custom metrics and readiness are served with the framework's", async () => {
  await using cluster = await startCluster();
  await cluster.install(Site);
  let fault: string | undefined = "the registrar does not answer";
  const registrar = {
    ping: () => (fault === undefined ? Promise.resolve() : Promise.reject(new Error(fault))),
    pending: () => 3,
  };
  const anyPort = { port: 0, host: "127.0.0.1" };
  const { client } = cluster;
  await using running = operator(registrar, {
    client,
    health: anyPort,
    metrics: anyPort,
    log: silentLogger,
  });
  await running.start();
  const get = async (port: number | undefined, path: string) =>
    (await fetch(`http://127.0.0.1:${port}${path}`)).text();
  expect(await get(running.ports.metrics, "/metrics")).toContain("\nsite_registrar_pending 3\n");
  expect(await get(running.ports.health, "/readyz")).toContain(
    "[-]registrar failed: the registrar does not answer",
  );
  fault = undefined;
  expect(await get(running.ports.health, "/readyz")).toBe("ok");
}, 60_000);
