import { GrpcError } from "../src/grpc/index.ts";
import type { Queue } from "../src/queue/index.ts";
import {
  addDrain,
  listDrains,
  listOperations,
  listPlatformQueues,
  listWorkers,
  type QueueName,
  removeDrain,
  stages,
  terminateWorkers,
} from "../src/queue/messages.ts";
import { GrpcServer } from "./grpc-server.ts";

/** A drain with an empty pattern, which matches every worker. */
export const everyPod = "*";

/** A thread of a worker, as a test has set it up. */
export interface Thread {
  readonly pod: string;
  readonly number: number;
  /** The action it runs. */
  operation: string | undefined;
}

/**
 * Answers BuildQueueState as bb_scheduler does, for queues that a test sets up. It gives queued
 * actions to threads that are free.
 */
export class StandInScheduler implements AsyncDisposable {
  readonly #server: GrpcServer;
  readonly #queue: Queue;
  readonly address: string;
  /** Names of actions, in the order of their names, as bb_scheduler lists them. */
  #queued: string[] = [];
  #threads: Thread[] = [];
  /** Pods that get no new actions. {@link everyPod} stands for all of them. */
  readonly drains = new Set<string>();
  /** Actions that ended because their pod did. */
  readonly killed: string[] = [];
  /** Calls that were made, by path. */
  calls = 0;
  isKnown = true;
  /** Whether it takes drains and never answers. */
  isHanging = false;
  #next = 0;

  private constructor(server: GrpcServer, queue: Queue) {
    this.#server = server;
    this.address = server.address;
    this.#queue = queue;
    this.#serve();
  }

  static async start(queue: Queue): Promise<StandInScheduler> {
    return new StandInScheduler(await GrpcServer.start(), queue);
  }

  get queued(): number {
    return this.#queued.length;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#server[Symbol.asyncDispose]();
  }

  /** Bazel asks for so many actions. */
  enqueue(count: number): void {
    for (let index = 0; index < count; index++)
      this.#queued.push(`operation-${String(this.#next++).padStart(9, "0")}`);
    this.#assign();
  }

  /** A pod comes, with so many threads. */
  join(pod: string, threads: number): void {
    if (this.#threads.some((one) => one.pod === pod)) return;
    for (let number = 0; number < threads; number++)
      this.#threads.push({ pod, number, operation: undefined });
    this.#assign();
  }

  /** A pod has gone. What it ran is lost. */
  leave(pod: string): void {
    this.killed.push(
      ...this.#threads.flatMap((one) =>
        one.pod === pod && one.operation !== undefined ? [one.operation] : [],
      ),
    );
    this.#threads = this.#threads.filter((one) => one.pod !== pod);
  }

  /** The pods that are known. */
  pods(): readonly string[] {
    return [...new Set(this.#threads.map(({ pod }) => pod))];
  }

  executing(pod: string): number {
    return this.#threads.filter((one) => one.pod === pod && one.operation !== undefined).length;
  }

  /** Its process ends, and another one starts: what it had in its memory is lost. */
  restart(): void {
    this.#queued = [];
    this.drains.clear();
    for (const thread of this.#threads) {
      if (thread.operation !== undefined) this.killed.push(thread.operation);
      thread.operation = undefined;
    }
  }

  /** Ends actions of a pod. @param most All of them if left out. */
  complete(pod: string, most = Number.POSITIVE_INFINITY): void {
    for (const one of this.#threads
      .filter((thread) => thread.pod === pod && thread.operation !== undefined)
      .slice(0, most))
      one.operation = undefined;
    this.#assign();
  }

  #isDrained(pod: string): boolean {
    return this.drains.has(pod) || this.drains.has(everyPod);
  }

  #assign(): void {
    for (const thread of this.#threads)
      if (thread.operation === undefined && !this.#isDrained(thread.pod))
        thread.operation = this.#queued.shift();
  }

  #serve(): void {
    const server = this.#server;
    const name = this.#name();
    const platformQueueName = name.platformQueueName;
    const invocationName = { sizeClassQueueName: name };
    server.on(listPlatformQueues, () => {
      this.calls++;
      const sizeClassQueues = [
        {
          sizeClass: this.#queue.sizeClass,
          workersCount: this.#threads.length,
          drainsCount: this.drains.size,
        },
      ];
      return [{ platformQueues: this.isKnown ? [{ name: platformQueueName, sizeClassQueues }] : [] }];
    });
    server.on(listOperations, ({ filterStage, pageSize, startAfter }) => {
      const after = startAfter?.operationName ?? "";
      const all = filterStage === stages.queued ? this.#queued : [];
      const operations = all.filter((one) => one > after).slice(0, pageSize);
      return [{ operations: operations.map((one) => ({ name: one, invocationName })) }];
    });
    server.on(listWorkers, ({ pageSize, startAfter }) => {
      const threadId = (one: Thread) => `${one.pod}/${String(one.number).padStart(4, "0")}`;
      const { pod, thread } = startAfter?.workerId ?? {};
      const after = pod === undefined ? "" : `${pod}/${String(thread).padStart(4, "0")}`;
      const threads = this.#threads
        .filter((one) => threadId(one) > after)
        .toSorted((a, b) => (threadId(a) < threadId(b) ? -1 : 1))
        .slice(0, pageSize);
      const workers = threads.map(({ pod: own, number, operation }) => ({
        id: { pod: own, node: "node", thread: String(number) },
        drained: this.#isDrained(own),
        currentOperation: operation === undefined ? undefined : { name: operation, invocationName },
      }));
      return [{ workers }];
    });
    server.on(listDrains, () => [
      {
        drains: [...this.drains].map((pod) => ({
          workerIdPattern: pod === everyPod ? {} : { pod },
        })),
      },
    ]);
    server.on(
      addDrain,
      async function* (this: StandInScheduler, { workerIdPattern: { pod = everyPod } }) {
        if (this.isHanging) await new Promise(() => undefined);
        this.drains.add(pod);
        yield {};
      }.bind(this),
    );
    server.on(removeDrain, ({ workerIdPattern: { pod = everyPod } }) => {
      if (!this.drains.delete(pod)) throw new GrpcError("NOT_FOUND", "Drain not found");
      this.#assign();
      return [{}];
    });
    server.on(terminateWorkers, ({ workerIdPattern: { pod = "" } }) => {
      this.drains.add(pod);
      return [{}];
    });
  }

  #name(): QueueName {
    const { instanceNamePrefix, platform, sizeClass } = this.#queue;
    return { platformQueueName: { instanceNamePrefix, platform: { properties: platform } }, sizeClass };
  }
}
