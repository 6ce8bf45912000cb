import { BuildbarnBrowser } from "./browser/browser.ts";
import { BuildbarnCluster } from "./cluster/cluster.ts";
import { BuildbarnFrontend } from "./frontend/frontend.ts";
import { BuildbarnScheduler } from "./scheduler/scheduler.ts";
import { BuildbarnStorage } from "./storage/storage.ts";
import { BuildbarnWorker } from "./worker/worker.ts";

/** The kinds of this operator, in the order in which they are installed. */
export const kinds = [
  BuildbarnStorage,
  BuildbarnScheduler,
  BuildbarnFrontend,
  BuildbarnWorker,
  BuildbarnBrowser,
  BuildbarnCluster,
] as const;
