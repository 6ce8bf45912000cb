/**
 * One replica of the operator in a process of its own: the controllers and the allocation API. Its
 * one argument says how, in JSON. Prints the port of its API once it serves.
 */
import { connect } from "@windlass/client";
import { type Duration, sleep, systemClock } from "@windlass/clock";
import { manager } from "@windlass/runtime";
import { allocationApi } from "../src/api/index.ts";
import { leaseName } from "../src/index.ts";
import { controllers } from "../src/operator.ts";
import type { BuildProbe } from "../src/worker/probe.ts";

/** How a replica runs. */
export interface ReplicaInput {
  /** The operator's own namespace. */
  readonly namespace: string;
  readonly gatewayImage: string;
  /** By which its lease names it. */
  readonly identity: string;
  /** Of its API. */
  readonly port: number;
  /** How often a worker that a client has is asked about its builds. */
  readonly askEvery: Duration;
  /** The users who may do everything. */
  readonly admins: readonly string[];
  /** Where all pools are. */
  readonly labelSelector: string;
  /** Whether pods are simulated, and no buildkitd can be asked. */
  readonly isSimulated: boolean;
}

/** No worker builds anything. Answers as late as a quick buildkitd does. */
const noBuilds: BuildProbe = {
  async builds() {
    await sleep(systemClock, 3);
    return { is: "known", count: 0 };
  },
  async prune() {
    await sleep(systemClock, 3);
    return true;
  },
};

const input = JSON.parse(process.argv[2] ?? "{}") as ReplicaInput;
const { namespace, gatewayImage, askEvery, port } = input;
await using client = await connect();
const replica = manager({
  client,
  namespaces: { labelSelector: input.labelSelector },
  leaderElection: {
    name: leaseName,
    namespace,
    identity: input.identity,
    leaseDuration: "8s",
    renewDeadline: "6s",
    retryPeriod: "1s",
  },
  health: false,
  metrics: { port: 0, host: "127.0.0.1" },
});
const probe = input.isSimulated ? { probe: noBuilds } : {};
for (const part of controllers({ namespace, gatewayImage, askEvery, ...probe })) replica.add(part);
replica.add(
  allocationApi({
    client,
    namespace,
    port,
    acceptFor: "1s",
    admins: { users: [...input.admins] },
    onListening: (at) => process.stderr.write(`listening on ${at}, metrics on ${replica.ports.metrics}\n`),
  }),
);
await replica.run();
