import { createServer } from "node:net";
import { networkInterfaces } from "node:os";
import { manager } from "@windlass/runtime";
import { EndpointSlice } from "@windlass/runtime/kinds";
import type { TestCluster } from "@windlass/testing";
import {
  ElastiService,
  OperatorSettings,
  operator,
  ResolverSettings,
  resolverProgram,
} from "../src/index.ts";
import type { TrafficEnvironment } from "./traffic-suite.ts";

/** This machine as others see it: EndpointSlices take no loopback addresses. */
function thisHost(): string {
  const found = Object.values(networkInterfaces())
    .flat()
    .find((one) => one?.family === "IPv4" && !one.internal);
  if (!found) throw new Error("this machine has no address besides loopback");
  return found.address;
}

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => void server.listen(0, resolve));
  const address = server.address();
  await new Promise<void>((resolve) => void server.close(() => resolve()));
  if (address === null || typeof address === "string") throw new Error("no port is free");
  return address.port;
}

/** The operator and the resolver in this process, on a cluster whose pods this process reaches. */
export async function inProcessEnvironment(
  cluster: TestCluster,
  given: Pick<TrafficEnvironment, "container" | "cycles" | "perSecond">,
): Promise<TrafficEnvironment> {
  const { client } = cluster;
  const host = thisHost();
  await cluster.install(ElastiService);
  const system = await cluster.createNamespace("elasti-system");
  const name = "elasti-operator-resolver";
  await client.create(EndpointSlice, {
    metadata: { namespace: system, name: `${name}-1`, labels: { "kubernetes.io/service-name": name } },
    addressType: "IPv4",
    endpoints: [{ addresses: [host], conditions: { ready: true } }],
    ports: [{ name: "internal", port: 8013 }],
  });
  const first = 20_000 + Math.floor(Math.random() * 9_000);
  const common = {
    POD_NAMESPACE: system,
    ELASTI_OPERATOR_PORT: String(await freePort()),
    ELASTI_RESOLVER_PORT: String(await freePort()),
  };
  const { controller, everywhere } = operator(
    OperatorSettings.parse({
      ...common,
      ELASTI_RESOLVER_PORT_RANGE: `${first}-${first + 500}`,
      POLLING_INTERVAL: "1",
      SETTLE_SECONDS: "2",
    }),
    client.discovery,
  );
  const { runnable } = resolverProgram(
    ResolverSettings.parse({
      ...common,
      ELASTI_RESOLVER_HOST: host,
      ELASTI_RESOLVER_PROXY_PORT: String(await freePort()),
      ELASTI_OPERATOR_URL: `http://127.0.0.1:${common.ELASTI_OPERATOR_PORT}`,
      DRAIN_SECONDS: "1",
    }),
  );
  await cluster.run("elasti-resolver", (options) => manager(options).add(runnable));
  await cluster.run("elasti-operator", (options) => {
    const running = manager(options).add(controller);
    for (const part of everywhere) running.add(part);
    return running;
  });
  return {
    ...given,
    client,
    namespace: await cluster.createNamespace("elasti"),
    [Symbol.asyncDispose]: () => cluster.close(),
  };
}
