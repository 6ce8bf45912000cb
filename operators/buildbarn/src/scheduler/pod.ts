import type { PodTemplateSpecInput } from "@windlass/runtime/kinds";
import { type PodConfiguration, podTemplate, programContainer } from "../component/index.ts";
import { ports, profiles } from "../configuration/index.ts";
import { podSelector } from "../names.ts";
import type { Scheduler } from "./scheduler.ts";

/** Where a scheduler listens. */
export const schedulerPorts = {
  "client-grpc": ports.schedulerClients,
  "worker-grpc": ports.schedulerWorkers,
  "state-grpc": ports.schedulerState,
  http: ports.schedulerPage,
} as const;

/** The template of a scheduler's pod. */
export function schedulerTemplate(
  scheduler: Scheduler,
  configuration: PodConfiguration,
): PodTemplateSpecInput {
  const { spec, metadata } = scheduler;
  return podTemplate({
    app: "scheduler",
    object: scheduler,
    selector: podSelector("scheduler", metadata.name),
    ...configuration,
    containers: [
      programContainer({
        name: "scheduler",
        image: spec.image ?? profiles[spec.version].images.scheduler,
        entry: "scheduler.jsonnet",
        ports: schedulerPorts,
        resources: spec.resources,
      }),
    ],
  });
}
