import { type Client, isConflict, isNotFound, type ObjectOf } from "@windlass/client";
import { createCache } from "@windlass/runtime";
import { Deployment, Pod, type PodStatus } from "@windlass/runtime/kinds";

/**
 * Stands in for scheduler, kubelet and Deployment controller on a bare API server: every pod is
 * ready as soon as it is seen, and so is every Deployment. Nothing runs. Pods without a node are
 * deleted by the server itself.
 */
export class SimulatedPods implements AsyncDisposable {
  readonly #client: Client;
  readonly #cache: ReturnType<typeof createCache>;
  readonly #writes = new Set<Promise<unknown>>();
  #lastAddress = 0;

  constructor(client: Client) {
    this.#client = client;
    this.#cache = createCache({ source: client });
    this.#cache.informer(Pod).subscribe(({ type, object }) => {
      if (type !== "deleted" && object.status?.podIP === undefined) this.#track(this.#startPod(object));
    });
    this.#cache.informer(Deployment).subscribe(({ type, object }) => {
      if (type !== "deleted" && object.status?.readyReplicas !== object.spec?.replicas)
        this.#track(this.#roll(object));
    });
  }

  async #startPod({ metadata }: ObjectOf<typeof Pod>): Promise<void> {
    const address = ++this.#lastAddress;
    const podIP = `198.18.${address >> 8}.${address & 255}`;
    const now = new Date().toISOString();
    const status: PodStatus = {
      phase: "Running",
      podIP,
      podIPs: [{ ip: podIP }],
      conditions: ["PodScheduled", "Initialized", "ContainersReady", "Ready"].map((type) => ({
        type,
        status: "True",
        lastTransitionTime: now,
      })),
    };
    await this.#client.patch(Pod, metadata, { type: "merge", patch: { status } }, { subresource: "status" });
  }

  async #roll({ metadata, spec }: ObjectOf<typeof Deployment>): Promise<void> {
    const replicas = spec?.replicas ?? 1;
    const status = {
      replicas,
      readyReplicas: replicas,
      availableReplicas: replicas,
      updatedReplicas: replicas,
      observedGeneration: metadata.generation,
    };
    const patch = { type: "merge", patch: { status } } as const;
    await this.#client.patch(Deployment, metadata, patch, { subresource: "status" });
  }

  #track(write: Promise<unknown>): void {
    const settled = write.catch((error: unknown) => {
      if (!isNotFound(error) && !isConflict(error)) process.stderr.write(`${String(error)}\n`);
    });
    this.#writes.add(settled);
    void settled.then(() => this.#writes.delete(settled));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#cache.stop();
    await Promise.all(this.#writes);
  }
}
