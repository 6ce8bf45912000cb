import type { Story } from "../story.ts";
import { access } from "./access.ts";
import { serviceAddresses } from "./addresses.ts";
import { admission } from "./admission.ts";
import { autoscaling } from "./autoscaling.ts";
import { cluster } from "./cluster.ts";
import { config } from "./config.ts";
import { corners } from "./corners.ts";
import { definitions } from "./definitions.ts";
import { emptyParts } from "./empty-parts.ts";
import { events } from "./events.ts";
import { networking } from "./networking.ts";
import { podUpdates } from "./pod-updates.ts";
import { pods } from "./pods.ts";
import { rights } from "./rights.ts";
import { services } from "./services.ts";
import { storage } from "./storage.ts";
import { jobs, workloads } from "./workloads.ts";

/**
 * Every story, in the order they are played. Storage comes first: its classes are used by others.
 */
export const stories: readonly Story[] = [
  ...config,
  ...storage,
  ...workloads,
  ...jobs,
  ...services,
  ...serviceAddresses,
  ...networking,
  ...autoscaling,
  ...access,
  ...rights,
  ...definitions,
  ...corners,
  ...cluster,
  ...emptyParts,
  ...events,
  ...pods,
  ...podUpdates,
  ...admission,
];
