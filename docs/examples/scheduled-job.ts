import { child, condition, controller, defineResource, listMap } from "@windlass/runtime";
import { Job } from "@windlass/runtime/kinds";
import { container, jobTemplateSpec } from "@windlass/runtime/schemas";
import { z } from "zod";

export const ScheduledJob = defineResource({
  group: "example.com",
  version: "v1",
  kind: "ScheduledJob",
  spec: z.object({
    everyMinutes: z.int32().min(1).max(1440).describe("How often to run it"),
    jobTemplate: jobTemplateSpec().describe("The Job to run"),
    sidecars: z.array(container()).max(4).check(listMap("name")).default([]).describe("What runs beside it"),
  }),
  status: z.object({ job: z.string().optional().describe("The Job of this period") }),
  printerColumns: [{ name: "Job", jsonPath: ".status.job" }],
});

export const scheduledJob = controller(ScheduledJob, {
  owns: [Job],
  reconcile: ({ metadata, spec }, { now, owned }) => {
    const period = spec.everyMinutes * 60_000;
    const count = Math.floor(now.getTime() / period);
    // The template of a Job cannot change, so a changed one is another Job.
    const name = `${metadata.name}-${count}-${metadata.generation}`;
    const { metadata: labels, spec: job } = spec.jobTemplate;
    const initContainers = [
      ...(job.template.spec.initContainers ?? []),
      ...spec.sidecars.map((sidecar) => ({ ...sidecar, restartPolicy: "Always" })),
    ];
    const template = { ...job.template, spec: { ...job.template.spec, initContainers } };
    return {
      children: [child(Job, { metadata: { ...labels, name }, spec: { ...job, template } })],
      status: {
        job: name,
        conditions: [condition("Complete", (owned(Job, name)?.status?.succeeded ?? 0) > 0, "JobSucceeded")],
      },
      requeueAfter: (count + 1) * period - now.getTime(),
    };
  },
});
