import type { KindDeclaration } from "../declaration.ts";
import { cronJobCells } from "./columns.ts";
import { cronJob } from "./strategy.ts";

export const cronJobKind = {
  group: "batch",
  kind: "CronJob",
  strategy: cronJob,
  cells: cronJobCells,
  controllers: {
    "cronjob-controller": async () => (await import("./controller.ts")).startCronJobs,
  },
} satisfies KindDeclaration;
