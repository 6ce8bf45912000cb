import { cellsOf, type KindDeclaration } from "../declaration.ts";
import { cronJobCells } from "./columns.ts";
import { startCronJobs } from "./controller.ts";
import { cronJob } from "./strategy.ts";

export const cronJobKind = {
  group: "batch",
  kind: "CronJob",
  strategy: cronJob,
  cells: cellsOf(cronJobCells),
  controllers: {
    "cronjob-controller": startCronJobs,
  },
} satisfies KindDeclaration;
