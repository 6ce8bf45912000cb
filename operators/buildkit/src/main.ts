/**
 * `main.ts controller`: the operator. `main.ts api`: the allocation API.
 * `main.ts gateway --pool-name NAME --pool-namespace NAMESPACE`: the gateway of a pool, as the
 * operator's Deployments run it.
 */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { connect } from "@windlass/client";
import { milliseconds } from "@windlass/clock";
import { manager } from "@windlass/runtime";
import { allocationApi } from "./api/index.ts";
import { gateway, gatewayShutdownMs, workerLookup } from "./gateway/index.ts";
import { apiName, gatewayPort, leaseName, operatorName } from "./names.ts";
import { controllers } from "./operator.ts";
import { ownImage } from "./own-image.ts";
import { apiHostnamesOf, apiSettingsOf, namespacesOf, OperatorSettings } from "./settings.ts";

/** Where a certificate for the API may be mounted, instead of the one that it makes for itself. */
const certificateFolder = "/etc/buildkit-api/tls";
const usage = "usage: main.ts controller | api | gateway --pool-name NAME [--pool-namespace NAMESPACE] …\n";

const [command = "controller", ...args] = process.argv.slice(2);
switch (command) {
  case "controller":
    await runController();
    break;
  case "api":
    await runApi();
    break;
  case "gateway":
    await runGateway(args);
    break;
  default:
    process.stderr.write(usage);
    process.exitCode = 2;
}

async function runController(): Promise<void> {
  const { POD_NAMESPACE = "buildkit-system", POD_NAME } = process.env;
  const { GATEWAY_IMAGE } = OperatorSettings.parse(process.env);
  await using client = await connect({ fieldManager: operatorName });
  const pod = { namespace: POD_NAMESPACE, name: POD_NAME };
  const running = manager({
    client,
    leaderElection: { name: leaseName, namespace: POD_NAMESPACE },
    ...namespacesOf(process.env),
  });
  const gatewayImage = GATEWAY_IMAGE || (await ownImage(client, pod));
  const apiHostnames = apiHostnamesOf(process.env);
  for (const part of controllers({ namespace: POD_NAMESPACE, gatewayImage, apiHostnames })) running.add(part);
  await running.run();
}

async function runApi(): Promise<void> {
  const { POD_NAMESPACE = "buildkit-system" } = process.env;
  await using client = await connect({ fieldManager: apiName });
  const certificate = existsSync(join(certificateFolder, "tls.crt")) ? { certificateFolder } : {};
  const settings = apiSettingsOf(process.env);
  await manager({ client, ...namespacesOf(process.env) })
    .add(allocationApi({ client, namespace: POD_NAMESPACE, ...settings, ...certificate }))
    .run();
}

async function runGateway(given: string[]): Promise<void> {
  const { values } = parseArgs({
    args: given,
    options: {
      "pool-name": { type: "string" },
      "pool-namespace": { type: "string", default: "default" },
      "listen-addr": { type: "string", default: `0.0.0.0:${gatewayPort}` },
      "metrics-addr": { type: "string", default: "0.0.0.0:9090" },
      "drain-timeout": { type: "string", default: "1h" },
    },
  });
  const name = values["pool-name"];
  if (name === undefined) throw new Error("--pool-name must be given");
  const pool = { namespace: values["pool-namespace"], name };
  const { host, port } = addressOf(values["listen-addr"], "--listen-addr");
  const probes = addressOf(values["metrics-addr"], "--metrics-addr");
  const drain = { within: milliseconds(values["drain-timeout"], "--drain-timeout") };
  await manager({
    health: probes,
    metrics: probes,
    namespaces: [pool.namespace],
    gracefulShutdownTimeout: gatewayShutdownMs(drain),
  })
    .add(gateway({ pool, host, port, drain, lookup: workerLookup(pool) }))
    .run();
}

/** @throws Error that names the argument. */
function addressOf(text: string, argument: string): { readonly host: string; readonly port: number } {
  const found = /^(.*):(\d{1,5})$/.exec(text);
  if (!found)
    throw new Error(
      `${argument} must be an address with a port, such as 0.0.0.0:${gatewayPort}, not ${text}`,
    );
  return { host: found[1] || "0.0.0.0", port: Number(found[2]) };
}
