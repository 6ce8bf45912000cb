import type { KindDeclaration } from "../declaration.ts";
import { jobCells } from "./columns.ts";
import { job } from "./strategy.ts";

export const jobKind = {
  group: "batch",
  kind: "Job",
  strategy: job,
  cells: jobCells,
  controllers: {
    "job-controller": async () => (await import("./controller.ts")).startJobs,
    "ttl-after-finished-controller": async () => (await import("./time-to-live.ts")).startTtlAfterFinished,
  },
} satisfies KindDeclaration;
