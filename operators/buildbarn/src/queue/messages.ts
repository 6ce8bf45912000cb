import {
  boolean,
  type Decoded,
  integer,
  type Message,
  type Method,
  message,
  nested,
  repeated,
  text,
  textMap,
} from "../grpc/index.ts";

// What is used of package buildbarn.buildqueuestate, and of remote execution's own messages in it.
// Numbers are those that servers of February 2025 and August 2026 have in common.

const Empty = message({});

/** The properties that an action's platform has. */
export const Platform = message({
  properties: [1, repeated(message({ name: [1, text], value: [2, text] }))],
});

const PlatformQueueName = message({ instanceNamePrefix: [1, text], platform: [2, nested(Platform)] });

const SizeClassQueueName = message({
  platformQueueName: [1, nested(PlatformQueueName)],
  sizeClass: [2, integer],
});

/** What names a queue: workers of one size take from it. */
export type QueueName = Decoded<typeof SizeClassQueueName>;

const InvocationName = message({ sizeClassQueueName: [1, nested(SizeClassQueueName)] });

const OperationState = message({ name: [1, text], invocationName: [2, nested(InvocationName)] });

/** An action that waits or runs. */
export type OperationState = Decoded<typeof OperationState>;

const WorkerState = message({
  id: [1, textMap],
  currentOperation: [3, nested(OperationState)],
  drained: [4, boolean],
});

/** One thread of a worker. */
export type WorkerState = Decoded<typeof WorkerState>;

/** The stages of an action that have anything to do with workers. */
export const stages = { queued: 2, executing: 3 } as const;

function method<Q, A>(name: string, request: Message<Q>, response: Message<A>): Method<Q, A> {
  return { path: `/buildbarn.buildqueuestate.BuildQueueState/${name}`, request, response };
}

/** `BuildQueueState.ListPlatformQueues` */
export const listPlatformQueues = method(
  "ListPlatformQueues",
  Empty,
  message({
    platformQueues: [
      1,
      repeated(
        message({
          name: [1, nested(PlatformQueueName)],
          // How many actions wait is not read from here: the figure of a queue does not count those
          // of its invocations, which is all of them.
          sizeClassQueues: [
            2,
            repeated(
              message({ sizeClass: [1, integer], workersCount: [5, integer], drainsCount: [7, integer] }),
            ),
          ],
        }),
      ),
    ],
  }),
);

/** `BuildQueueState.ListOperations` */
export const listOperations = method(
  "ListOperations",
  message({
    pageSize: [1, integer],
    startAfter: [2, nested(message({ operationName: [1, text] }))],
    filterStage: [4, integer],
  }),
  message({
    operations: [1, repeated(OperationState)],
    paginationInfo: [2, nested(message({ startIndex: [1, integer], totalEntries: [2, integer] }))],
  }),
);

/** `BuildQueueState.ListWorkers` */
export const listWorkers = method(
  "ListWorkers",
  message({
    filter: [1, nested(message({ all: [1, nested(SizeClassQueueName)] }))],
    pageSize: [3, integer],
    startAfter: [4, nested(message({ workerId: [1, textMap] }))],
  }),
  message({ workers: [1, repeated(WorkerState)] }),
);

const drain = message({ sizeClassQueueName: [1, nested(SizeClassQueueName)], workerIdPattern: [2, textMap] });

/** `BuildQueueState.AddDrain` */
export const addDrain = method("AddDrain", drain, Empty);

/** `BuildQueueState.RemoveDrain` */
export const removeDrain = method("RemoveDrain", drain, Empty);

/** `BuildQueueState.ListDrains` */
export const listDrains = method(
  "ListDrains",
  message({ sizeClassQueueName: [1, nested(SizeClassQueueName)] }),
  message({ drains: [1, repeated(message({ workerIdPattern: [1, textMap] }))] }),
);

/** `BuildQueueState.TerminateWorkers` */
export const terminateWorkers = method("TerminateWorkers", message({ workerIdPattern: [1, textMap] }), Empty);
