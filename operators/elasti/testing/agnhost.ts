import type { ContainerInput } from "@windlass/runtime/kinds";

/**
 * Kubernetes' own test server. It cuts its connections on SIGTERM at once: nothing about it helps
 * with the switch.
 */
export const agnhost: ContainerInput = {
  name: "web",
  image: "registry.k8s.io/e2e-test-images/agnhost:2.59",
  args: ["netexec", "--http-port=8080"],
  readinessProbe: { httpGet: { path: "/hostname", port: 8080 }, periodSeconds: 1 },
  // Starved of CPU, it would have requests for longer than connections are given to drain.
  resources: { requests: { cpu: "100m", memory: "16Mi" } },
};
