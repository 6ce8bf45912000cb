import { Client, type Transport } from "@windlass/client";
import { type Manager, type ManagerOptions, manager, silentLogger } from "@windlass/runtime";
import type { TestCluster } from "@windlass/testing";
import { controllers, type OperatorOptions } from "../src/operator.ts";

/** Where the operator of a test keeps what is the whole cluster's. */
export const operatorNamespace = "buildkit-system";

/** One replica of the operator, in this process. */
interface Replica {
  readonly manager: Manager;
  /** No request of its leaves the process any more. */
  kill(): void;
}

/** Two replicas of the operator in this process, of which one leads. */
export class Replicas {
  readonly #cluster: TestCluster;
  readonly #options: Omit<OperatorOptions, "namespace">;
  #running: Replica[] = [];

  constructor(cluster: TestCluster, options: Omit<OperatorOptions, "namespace">) {
    this.#cluster = cluster;
    this.#options = options;
  }

  async start(): Promise<void> {
    this.#running = await Promise.all([this.#startOne(), this.#startOne()]);
  }

  /** Ends the one that leads as `kill -9` would, and starts another in its place. */
  async killLeader(): Promise<void> {
    const index = this.#running.findIndex((one) => one.manager.isLeading);
    const [leader] = this.#running.splice(index, 1, await this.#startOne());
    leader?.kill();
  }

  async stop(): Promise<void> {
    await Promise.all(this.#running.map((one) => one.manager.stop()));
  }

  async #startOne(): Promise<Replica> {
    const inner = this.#cluster.transport();
    let isDead = false;
    const transport: Transport = {
      request: (request) =>
        isDead ? Promise.reject(new Error("this replica was killed")) : inner.request(request),
      close: () => inner.close(),
    };
    const options: ManagerOptions = {
      client: new Client({ transport, fieldManager: "buildkit-operator", onWarning: () => undefined }),
      leaderElection: {
        name: "buildkit-controller.smrt-devops.net",
        namespace: operatorNamespace,
        leaseDuration: 2_000,
        renewDeadline: 1_200,
        retryPeriod: 200,
      },
      health: false,
      metrics: false,
      log: silentLogger,
    };
    const replica = manager(options);
    for (const part of controllers({ namespace: operatorNamespace, ...this.#options })) replica.add(part);
    await replica.start();
    return {
      manager: replica,
      kill: () => {
        isDead = true;
        void replica.stop();
      },
    };
  }
}
