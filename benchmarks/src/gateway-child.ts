/**
 * Runs BuildKit's gateway until it is killed. Started by gateway.ts, in a process of its own.
 * Prints its port.
 */
import { readFile } from "node:fs/promises";
import {
  CredentialFiles,
  Gateway,
  parseAllocationHash,
  RoutingTable,
  type WorkerAddress,
} from "@windlass/buildkit";
import { systemClock } from "@windlass/clock";

/** What the gateway is started with, as a JSON file. */
export interface GatewayInput {
  readonly pool: { readonly namespace: string; readonly name: string };
  readonly folder: string;
  readonly allocation: string;
  readonly worker: WorkerAddress;
}

const input = JSON.parse(await readFile(process.argv[2] ?? "", "utf8")) as GatewayInput;
const lookup = new RoutingTable();
const allocation = parseAllocationHash(input.allocation);
if (!allocation) throw new Error("not the hash of an allocation");
lookup.set(allocation, { at: "ready", worker: input.worker });
lookup.markFilled();
const { folder } = input;
const gateway = await Gateway.start({
  pool: input.pool,
  lookup,
  credentials: await new CredentialFiles(
    { clients: folder, workers: folder, keys: folder },
    systemClock,
  ).read(),
  port: 0,
  host: "127.0.0.1",
  limits: { connectionsPerAllocation: 10_000 },
});
process.stdout.write(`${gateway.port}\n`);
