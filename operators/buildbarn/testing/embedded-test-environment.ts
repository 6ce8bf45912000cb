import type { AnyKind, NamespacedKind, ObjectOf } from "@windlass/runtime";
import { startCluster, type TestCluster, waitFor, waitForCondition } from "@windlass/testing";
import { BuildbarnCluster } from "../src/cluster/cluster.ts";
import { kinds } from "../src/kinds.ts";
import type { OperatorDependencies } from "../src/operator.ts";
import { Replica } from "./replica.ts";

/** On a machine that is busy a rollout takes many times as long as it does alone. */
const wait = { timeout: 60_000 };

/**
 * The embedded control plane with the operator in this process, and a namespace that it looks
 * after.
 */
export class EmbeddedTestEnvironment {
  readonly cluster: TestCluster;
  readonly replica: Replica;
  readonly namespace: string;

  private constructor(cluster: TestCluster, replica: Replica, namespace: string) {
    this.cluster = cluster;
    this.replica = replica;
    this.namespace = namespace;
  }

  static async start(dependencies: OperatorDependencies = {}): Promise<EmbeddedTestEnvironment> {
    const cluster = await startCluster({ flavour: "embedded" });
    await cluster.install(...kinds);
    // Pods of a Job end at once here. Those that try a configuration run for as long as they may.
    cluster.controlPlane?.node.on("*-try-*", {
      kind: "run",
    });
    const namespace = await cluster.createNamespace("builds");
    // Schedulers only pretend here: none answers when its workers are to be drained.
    const replica = new Replica(cluster, [namespace], {}, { silentMs: 0, ...dependencies });
    await replica.start();
    return new EmbeddedTestEnvironment(cluster, replica, namespace);
  }

  get client() {
    return this.cluster.client;
  }

  key(name: string) {
    return { namespace: this.namespace, name };
  }

  /**
   * Creates a resource. Pods of a component count as well as soon as they are ready, unless it sets
   * otherwise.
   */
  create(kind: AnyKind, name: string, spec: object = {}) {
    const own = kind === BuildbarnCluster ? spec : { minReadySeconds: 0, ...spec };
    return this.client.create<AnyKind>(kind, { metadata: this.key(name), spec: own });
  }

  patch(kind: AnyKind, name: string, spec: object) {
    return this.client.patch<AnyKind>(kind, this.key(name), { type: "merge", patch: { spec } });
  }

  get<K extends NamespacedKind>(kind: K, name: string): Promise<ObjectOf<K>> {
    return this.client.get(kind, this.key(name));
  }

  /** Resolves once a condition is as wanted of the object's present generation. */
  condition<K extends NamespacedKind>(
    kind: K,
    name: string,
    type: string,
    status: "True" | "False" = "True",
  ): Promise<ObjectOf<K>> {
    return waitForCondition(this.client, kind, this.key(name), type, status, wait);
  }

  ready<K extends NamespacedKind>(kind: K, name: string): Promise<ObjectOf<K>> {
    return this.condition(kind, name, "Ready");
  }

  /** Resolves with what the look gives, once it gives something. */
  seen<K extends NamespacedKind, T>(
    kind: K,
    name: string,
    look: (object: ObjectOf<K>) => T | undefined | false,
  ): Promise<T> {
    return waitFor(
      this.client,
      kind,
      this.key(name),
      (object) => look(object) || undefined,
      wait,
    ) as Promise<T>;
  }

  async close(): Promise<void> {
    await this.replica.stop();
    await this.cluster.close();
  }
}
