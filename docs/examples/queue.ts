import { byOwner, controller, defineResource, indexed, watch } from "@windlass/runtime";
import { Job, Pod } from "@windlass/runtime/kinds";
import { z } from "zod";

export const Queue = defineResource({
  group: "example.com",
  version: "v1",
  kind: "Queue",
  spec: z.object({ limit: z.int32().min(1).default(10) }),
  status: z.object({ jobs: z.int32().optional(), pods: z.int32().optional(), full: z.boolean().optional() }),
});

const jobLabel = "batch.kubernetes.io/job-name";

/** Counts the Jobs that others have put into a queue: they name it as an owner that does not control them. */
export const queue = controller(Queue, {
  watches: [watch(Job, byOwner(Queue))],
  reads: [
    indexed(Pod, {
      job: ({ metadata: { namespace, labels } }) => [`${namespace}/${labels?.[jobLabel]}`],
    }),
  ],
  reconcile: ({ metadata: { namespace, uid = "" }, spec: { limit } }, { cache }) => {
    const jobs = cache.ownedBy(Job, uid).filter(({ status }) => status?.completionTime === undefined);
    const pods = jobs.flatMap(({ metadata }) => cache.byIndex(Pod, "job", `${namespace}/${metadata.name}`));
    return { status: { jobs: jobs.length, pods: pods.length, full: jobs.length >= limit } };
  },
});
