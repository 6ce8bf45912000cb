import { GrpcConnection, GrpcError, type GrpcServer } from "../grpc/index.ts";
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
  type WorkerState,
} from "./messages.ts";

/** Actions of one platform and size, and the workers that take them. */
export interface Queue {
  readonly instanceNamePrefix: string;
  /** In Buildbarn's order. */
  readonly platform: readonly { readonly name: string; readonly value: string }[];
  readonly sizeClass: number;
}

/** A pod of workers, as its scheduler sees it. */
export interface WorkerPod {
  readonly name: string;
  /** Threads that ask for actions. */
  readonly threads: number;
  /** Those of them that have one. */
  readonly executing: number;
  /** Whether every thread is kept from new actions. */
  readonly isDrained: boolean;
}

/** What a scheduler reports of a queue. */
export interface QueueSeen {
  /** Whether it knows the queue at all: it does from the start if it is declared. */
  readonly exists: boolean;
  /** Actions that wait. Counted no further than was asked for. */
  readonly queued: number;
  /** By pod. */
  readonly pods: readonly WorkerPod[];
  /** Pods that are drained by name, whether they are there or not. */
  readonly drains: readonly string[];
}

/** The labels by which a scheduler knows a worker, beside its thread. */
const podLabel = "pod";
const PAGE = 500;

/** The queue of one scheduler, over BuildQueueState. */
export class BuildQueue implements Disposable {
  readonly #connection: GrpcConnection;

  /** @param server That of BuildQueueState. */
  constructor(server: GrpcServer | string) {
    const { address, ...options } = typeof server === "string" ? { address: server } : server;
    this.#connection = new GrpcConnection(address, options);
  }

  [Symbol.dispose](): void {
    this.#connection[Symbol.dispose]();
  }

  /**
   * Looks at a queue.
   *
   * @param most How many waiting actions are counted at most: a long queue is not read to its end
   *   for nothing.
   * @throws {GrpcError}
   */
  async look(queue: Queue, most: number, signal: AbortSignal): Promise<QueueSeen> {
    const name = nameOf(queue);
    const { platformQueues } = await this.#connection.call(listPlatformQueues, {}, signal);
    const exists = platformQueues.some(
      (one) =>
        isSamePlatform(one.name, name.platformQueueName) &&
        one.sizeClassQueues.some(({ sizeClass }) => sizeClass === queue.sizeClass),
    );
    if (!exists) return { exists, queued: 0, pods: [], drains: [] };
    const queued = await this.#count(name, most, signal);
    const pods = podsOf(await this.#workers(name, signal));
    const { drains } = await this.#connection.call(listDrains, { sizeClassQueueName: name }, signal);
    return {
      exists,
      queued,
      pods,
      drains: drains.flatMap(({ workerIdPattern }) => workerIdPattern[podLabel] ?? []),
    };
  }

  /** Keeps a pod from new actions. What it runs goes on. */
  async drain(queue: Queue, pod: string, signal: AbortSignal): Promise<void> {
    const request = { sizeClassQueueName: nameOf(queue), workerIdPattern: { [podLabel]: pod } };
    await this.#connection.call(addDrain, request, signal);
  }

  /** Takes {@link drain} back, also of a pod that has gone. */
  async undrain(queue: Queue, pod: string, signal: AbortSignal): Promise<void> {
    await this.#removeDrain(nameOf(queue), { [podLabel]: pod }, signal);
  }

  /**
   * Keeps all workers of all queues from new actions, also those that come later.
   *
   * @returns How many actions they run.
   * @throws {GrpcError}
   */
  async drainAll(signal: AbortSignal): Promise<number> {
    let executing = 0;
    for (const name of await this.#queues(signal)) {
      await this.#connection.call(addDrain, { sizeClassQueueName: name, workerIdPattern: {} }, signal);
      const workers = await this.#workers(name, signal);
      executing += workers.filter(({ currentOperation }) => currentOperation !== undefined).length;
    }
    return executing;
  }

  /** Takes {@link drainAll} back. @throws {GrpcError} */
  async undrainAll(signal: AbortSignal): Promise<void> {
    for (const name of await this.#queues(signal)) await this.#removeDrain(name, {}, signal);
  }

  async #queues(signal: AbortSignal): Promise<readonly QueueName[]> {
    const { platformQueues } = await this.#connection.call(listPlatformQueues, {}, signal);
    return platformQueues.flatMap(({ name, sizeClassQueues }) =>
      sizeClassQueues.map(({ sizeClass }) => ({ platformQueueName: name, sizeClass })),
    );
  }

  async #removeDrain(
    name: QueueName,
    workerIdPattern: Readonly<Record<string, string>>,
    signal: AbortSignal,
  ): Promise<void> {
    try {
      await this.#connection.call(removeDrain, { sizeClassQueueName: name, workerIdPattern }, signal);
    } catch (error) {
      if (!(error instanceof GrpcError && error.code === "NOT_FOUND")) throw error;
    }
  }

  /**
   * Keeps a pod from new actions for as long as the scheduler knows its name, and waits until those
   * that it runs are over.
   */
  async terminate(pod: string, signal: AbortSignal): Promise<void> {
    await this.#connection.call(terminateWorkers, { workerIdPattern: { [podLabel]: pod } }, signal);
  }

  async #count(name: QueueName, most: number, signal: AbortSignal): Promise<number> {
    let count = 0;
    let startAfter: { readonly operationName: string } | undefined;
    while (count < most) {
      const request = { filterStage: stages.queued, pageSize: PAGE, startAfter };
      const { operations } = await this.#connection.call(listOperations, request, signal);
      count += operations.filter(({ invocationName }) =>
        isSameQueue(invocationName?.sizeClassQueueName, name),
      ).length;
      const last = operations.at(-1);
      if (last === undefined || operations.length < PAGE) break;
      startAfter = { operationName: last.name };
    }
    return Math.min(count, most);
  }

  async #workers(name: QueueName, signal: AbortSignal): Promise<readonly WorkerState[]> {
    const all: WorkerState[] = [];
    for (;;) {
      const last = all.at(-1);
      const { workers } = await this.#connection.call(
        listWorkers,
        { filter: { all: name }, pageSize: PAGE, startAfter: last && { workerId: last.id } },
        signal,
      );
      all.push(...workers);
      if (workers.length < PAGE) return all;
    }
  }
}

function nameOf({ instanceNamePrefix, platform, sizeClass }: Queue): QueueName {
  return { platformQueueName: { instanceNamePrefix, platform: { properties: platform } }, sizeClass };
}

function isSameQueue(one: QueueName | undefined, other: QueueName): boolean {
  return one?.sizeClass === other.sizeClass && isSamePlatform(one.platformQueueName, other.platformQueueName);
}

function isSamePlatform(one: QueueName["platformQueueName"], other: QueueName["platformQueueName"]): boolean {
  const properties = one?.platform?.properties ?? [];
  const others = other?.platform?.properties ?? [];
  return (
    one?.instanceNamePrefix === other?.instanceNamePrefix &&
    properties.length === others.length &&
    properties.every(
      ({ name, value }, index) => name === others[index]?.name && value === others[index]?.value,
    )
  );
}

function podsOf(workers: readonly WorkerState[]): readonly WorkerPod[] {
  const byPod = Map.groupBy(workers, ({ id }) => id[podLabel] ?? "");
  return [...byPod].map(([name, threads]) => ({
    name,
    threads: threads.length,
    executing: threads.filter(({ currentOperation }) => currentOperation !== undefined).length,
    isDrained: threads.every(({ drained }) => drained),
  }));
}
