import { Client } from "@windlass/client";
import { type Manager, type ManagerOptions, manager, silentLogger } from "@windlass/runtime";
import type { TestCluster } from "@windlass/testing";
import { controllersWith, type OperatorDependencies } from "../src/operator.ts";
import { type Fate, MortalTransport } from "./mortal-transport.ts";

/** The operator in this process, which can be killed. */
export class Replica {
  readonly #cluster: TestCluster;
  readonly #namespaces: readonly string[];
  readonly #options: Partial<ManagerOptions>;
  readonly #dependencies: OperatorDependencies;
  #running: { readonly manager: Manager; kill(): void } | undefined;
  /** Writes that reached the server. */
  writes: string[] = [];

  constructor(
    cluster: TestCluster,
    namespaces: readonly string[],
    options: Partial<ManagerOptions> = {},
    dependencies: OperatorDependencies = {},
  ) {
    this.#cluster = cluster;
    this.#namespaces = namespaces;
    this.#options = options;
    this.#dependencies = dependencies;
  }

  /** @param client One with other rights than the administrator's. Its writes are not counted. */
  async start(client?: Client): Promise<void> {
    await this.#start(this.#transport(), client);
  }

  /** Starts it for a short life. Resolves with the write that it dies of once it has. */
  async startFor(fate: Fate): Promise<{ readonly died: Promise<string> }> {
    const transport = this.#transport(fate);
    const died = transport.died.then((write) => {
      this.kill();
      return write;
    });
    try {
      await this.#start(transport);
    } catch (error) {
      // It may die before it has read all that it looks after.
      if (!transport.isDead) throw error;
    }
    if (transport.isDead) this.kill();
    return { died };
  }

  #transport(fate?: Fate): MortalTransport {
    return new MortalTransport(this.#cluster.transport(), (write) => this.writes.push(write), fate);
  }

  async #start(transport: MortalTransport, client?: Client): Promise<void> {
    const running = manager({
      client:
        client ?? new Client({ transport, fieldManager: "buildbarn-operator", onWarning: () => undefined }),
      namespaces: this.#namespaces,
      health: false,
      metrics: false,
      log: silentLogger,
      ...this.#options,
    });
    for (const one of controllersWith(this.#dependencies)) running.add(one);
    await running.start();
    this.#running = {
      manager: running,
      kill: () => {
        transport.kill();
        void running.stop();
      },
    };
  }

  /** What is scraped of it. */
  get metrics(): string {
    return this.#running?.manager.registry.render() ?? "";
  }

  /** How many reconciles have ended, well or not. */
  get reconciles(): number {
    const lines = this.metrics.matchAll(/^controller_runtime_reconcile_total\{.*\} (\d+)$/gm);
    return [...lines].reduce((sum, [, count]) => sum + Number(count), 0);
  }

  /** Ends it as `kill -9` would: no request of its leaves the process any more. */
  kill(): void {
    this.#running?.kill();
    this.#running = undefined;
  }

  async stop(): Promise<void> {
    await this.#running?.manager.stop();
    this.#running = undefined;
  }
}
