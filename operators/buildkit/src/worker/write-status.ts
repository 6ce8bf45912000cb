import { isDeepStrictEqual } from "node:util";
import type { Writer } from "@windlass/client";
import { ignoreNotFound, type StatusFor, timestamp } from "@windlass/runtime";
import { BuildKitWorker, type Worker } from "./worker.ts";

type Status = StatusFor<typeof BuildKitWorker>;

/**
 * Writes a worker's status as a whole, unless it is that already.
 *
 * By a patch and not by apply, as the framework writes those of other kinds: no other program
 * writes it, and where the server tracks no managers of fields (`untracked`) that costs it half as
 * much. Workers are written each time that they are given out.
 *
 * @throws ApiError, also if another worker has its name by now. That the worker is gone is no
 *   error.
 */
export async function writeStatus(
  client: Pick<Writer, "patch">,
  worker: Worker,
  wanted: Status,
  now: number,
): Promise<void> {
  const { namespace, name, uid, generation } = worker.metadata;
  const status = {
    ...wanted,
    ...(generation === undefined ? {} : { observedGeneration: generation }),
    conditions: stamped(wanted, worker, now),
  };
  if (isDeepStrictEqual(status, worker.status)) return;
  const patch = [
    { op: "test", path: "/metadata/uid", value: uid },
    { op: "add", path: "/status", value: status },
  ] as const;
  const key = { namespace, name };
  await ignoreNotFound(client.patch(BuildKitWorker, key, { type: "json", patch }, { subresource: "status" }));
}

/** The conditions with the time since when each is what it is. */
function stamped({ conditions = [] }: Status, { metadata, status }: Worker, now: number) {
  return conditions.map((one) => {
    const before = status?.conditions?.find(({ type }) => type === one.type);
    const since = before?.status === one.status ? before.lastTransitionTime : undefined;
    return {
      ...one,
      lastTransitionTime: since ?? timestamp(now),
      ...(metadata.generation === undefined ? {} : { observedGeneration: metadata.generation }),
    };
  });
}
