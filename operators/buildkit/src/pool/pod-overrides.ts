import { listMap } from "@windlass/runtime";
import { container, envFromSource, envVar, podSpec, volumeMount } from "@windlass/runtime/schemas";
import { z } from "zod";

/** The name of the container that runs buildkitd. */
export const buildkitdContainer = "buildkitd";

const containerOverrides = container().extend({
  env: z.array(envVar()).max(64).check(listMap("name")).exactOptional(),
  envFrom: z.array(envFromSource()).max(16).exactOptional(),
  volumeMounts: z.array(volumeMount()).max(32).check(listMap("mountPath")).exactOptional(),
});

/**
 * The fields of a worker's pod that users may set. What keeps a worker working is not among them.
 */
export const podOverrides = podSpec()
  .pick({
    affinity: true,
    dnsConfig: true,
    dnsPolicy: true,
    hostAliases: true,
    imagePullSecrets: true,
    initContainers: true,
    nodeSelector: true,
    overhead: true,
    preemptionPolicy: true,
    priority: true,
    priorityClassName: true,
    runtimeClassName: true,
    schedulerName: true,
    securityContext: true,
    serviceAccountName: true,
    tolerations: true,
    topologySpreadConstraints: true,
    volumes: true,
  })
  .extend({ containers: z.array(containerOverrides).max(8).check(listMap("name")).exactOptional() });
