import { browserController } from "./browser/controller.ts";
import { type CertificateDependencies, certificateControllers } from "./certificates/controller.ts";
import { clusterController } from "./cluster/controller.ts";
import { frontendController } from "./frontend/controller.ts";
import { type ProbeDependencies, probeController } from "./probe/controller.ts";
import { schedulerController } from "./scheduler/controller.ts";
import type { RestartDependencies } from "./scheduler/drain.ts";
import { monitoringController } from "./service-monitors.ts";
import { ConfigurationChecks } from "./set/index.ts";
import { storageController } from "./storage/controller.ts";
import { type WorkerDependencies, workerController } from "./worker/controller.ts";

/**
 * What the operator stands on. Every field has a default for an operator in the cluster that it
 * looks after.
 */
export type OperatorDependencies = WorkerDependencies &
  RestartDependencies &
  ProbeDependencies &
  CertificateDependencies;

/** What the operator runs. */
export function controllersWith(dependencies: OperatorDependencies) {
  const checks = new ConfigurationChecks();
  return [
    storageController(checks, dependencies),
    schedulerController(checks, dependencies),
    frontendController(checks, dependencies),
    workerController(checks, dependencies),
    browserController(checks, dependencies),
    clusterController,
    probeController(dependencies),
    ...certificateControllers(dependencies),
    monitoringController,
  ] as const;
}

/** What the operator runs in a cluster. */
export const controllers = controllersWith({});
