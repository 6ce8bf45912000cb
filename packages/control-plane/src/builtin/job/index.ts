import { cellsOf, type KindDeclaration } from "../declaration.ts";
import { jobCells } from "./columns.ts";
import { startJobs } from "./controller.ts";
import { job } from "./strategy.ts";
import { startTtlAfterFinished } from "./time-to-live.ts";

export const jobKind = {
  group: "batch",
  kind: "Job",
  strategy: job,
  cells: cellsOf(jobCells),
  controllers: {
    "job-controller": startJobs,
    "ttl-after-finished-controller": startTtlAfterFinished,
  },
} satisfies KindDeclaration;
