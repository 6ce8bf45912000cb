import type { Client, ObjectOf } from "@windlass/client";
import { Pod } from "@windlass/runtime/kinds";
import type { StandInScheduler } from "./stand-in-scheduler.ts";

/**
 * Has simulated pods of workers ask a stand-in scheduler for actions as real ones would: from when
 * they are ready until they stop.
 */
export class WorkerPods implements AsyncDisposable {
  readonly #client: Client;
  readonly #namespace: string;
  readonly #scheduler: StandInScheduler;
  readonly #threads: number;
  readonly #stop = new AbortController();
  readonly #running: Promise<void>;
  /** Pods that were terminated while they had actions. */
  readonly disturbed = new Set<string>();

  constructor(client: Client, namespace: string, scheduler: StandInScheduler, threads: number) {
    this.#client = client;
    this.#namespace = namespace;
    this.#scheduler = scheduler;
    this.#threads = threads;
    this.#running = this.#run();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort();
    await this.#running;
  }

  async #run(): Promise<void> {
    while (!this.#stop.signal.aborted) {
      const { items } = await this.#client.list(Pod, {
        namespace: this.#namespace,
        labelSelector: "app=worker",
      });
      for (const pod of items) this.#look(pod);
      const names = new Set(items.map(({ metadata }) => metadata.name));
      for (const pod of this.#scheduler.pods()) if (!names.has(pod)) this.#scheduler.leave(pod);
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  }

  #look({ metadata: { name, deletionTimestamp }, status }: ObjectOf<typeof Pod>): void {
    const isReady = status?.conditions?.some((one) => one.type === "Ready" && one.status === "True");
    if (deletionTimestamp !== undefined && this.#scheduler.executing(name) > 0) this.disturbed.add(name);
    else if (isReady && deletionTimestamp === undefined) this.#scheduler.join(name, this.#threads);
  }
}
