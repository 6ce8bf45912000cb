import type { PodTemplateSpecInput } from "@windlass/runtime/kinds";
import { type PodConfiguration, podTemplate, programContainer } from "../component/index.ts";
import { ports, profiles } from "../configuration/index.ts";
import { podSelector } from "../names.ts";
import { credentialMounts, credentialVolumes } from "./credentials.ts";
import type { Frontend } from "./frontend.ts";

/** Where Bazel asks. */
export const publicPorts = { grpc: ports.frontend } as const;
/** Where the scheduler of the set asks, and the operator, if there is a way of their own. */
export const internalPorts = { "internal-grpc": ports.frontendInternal } as const;

/** The template of a frontend's pod. */
export function frontendTemplate(
  frontend: Frontend,
  configuration: PodConfiguration,
  way: { readonly isInternal: boolean },
): PodTemplateSpecInput {
  const { spec, metadata } = frontend;
  const container = programContainer({
    name: "storage",
    image: spec.image ?? profiles[spec.version].images.storage,
    entry: "frontend.jsonnet",
    ports: way.isInternal ? { ...publicPorts, ...internalPorts } : publicPorts,
    resources: spec.resources,
    mounts: credentialMounts(frontend),
  });
  return podTemplate({
    app: "frontend",
    object: frontend,
    selector: podSelector("frontend", metadata.name),
    ...configuration,
    pod: { volumes: credentialVolumes(frontend) },
    // New connections stop coming before the program does.
    containers: [{ ...container, lifecycle: { preStop: { sleep: { seconds: 5 } } } }],
  });
}
