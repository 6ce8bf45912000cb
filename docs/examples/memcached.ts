import {
  byLabel,
  type ContextOf,
  child,
  condition,
  controller,
  declaration,
  defineResource,
  type ObjectOf,
  watch,
  workloadFault,
} from "@windlass/runtime";
import { Deployment, type DeploymentInput, Pod } from "@windlass/runtime/kinds";
import { z } from "zod";

/** The first operator of kubebuilder's book. */
export const Memcached = defineResource({
  group: "example.com",
  version: "v1",
  kind: "Memcached",
  spec: z.object({
    size: z.int32().min(1).max(5).default(1).describe("How many servers run"),
    containerPort: z.int32().min(1).max(65_535).default(11_211).describe("Where each of them listens"),
  }),
  status: z.object({
    nodes: z.array(z.string()).optional().describe("The names of the pods"),
  }),
});
type MemcachedObject = ObjectOf<typeof Memcached>;

const nameLabel = "app.kubernetes.io/instance";
const labelsOf = (name: string) => ({ "app.kubernetes.io/name": "memcached", [nameLabel]: name });

const declared = declaration(Memcached, {
  owns: [Deployment],
  watches: [watch(Pod, byLabel(nameLabel), { scope: { labelSelector: "app.kubernetes.io/name=memcached" } })],
});

/** Keeps a Deployment of memcached servers, and says which pods there are. */
export const memcached = controller(Memcached, {
  ...declared,
  reconcile: (object, context) => {
    const live = context.owned(Deployment);
    const available = live?.status?.availableReplicas ?? 0;
    const isUp = available === object.spec.size;
    const pods = podsOf(context);
    // Why they do not come up: an image that cannot be pulled, a crash, no node.
    const fault = isUp || !live ? undefined : workloadFault(live, pods);
    const reason = isUp ? "Available" : (fault?.reason ?? "Starting");
    const count = `${available} of ${object.spec.size} servers are available`;
    return {
      children: [child(Deployment, deploymentFor(object))],
      status: {
        nodes: pods.map(({ metadata }) => metadata.name),
        conditions: [condition("Ready", isUp, reason, fault ? `${count}; ${fault.message}` : count)],
      },
    };
  },
});

function deploymentFor({
  metadata: { name },
  spec: { size, containerPort },
}: MemcachedObject): DeploymentInput {
  return {
    metadata: { name },
    spec: {
      replicas: size,
      selector: { matchLabels: labelsOf(name) },
      template: {
        metadata: { labels: labelsOf(name) },
        spec: {
          securityContext: { runAsNonRoot: true, seccompProfile: { type: "RuntimeDefault" } },
          containers: [
            {
              name: "memcached",
              image: "memcached:1.6-alpine",
              command: ["memcached", "--memory-limit=64", "-o", "modern", "-v", `--port=${containerPort}`],
              ports: [{ name: "memcached", containerPort }],
              securityContext: {
                runAsUser: 1001,
                allowPrivilegeEscalation: false,
                capabilities: { drop: ["ALL"] },
              },
            },
          ],
        },
      },
    },
  };
}

/** A function of the controller knows what its controller declares: here, that it watches pods. */
function podsOf({ cache, key: { namespace, name } }: ContextOf<typeof declared>) {
  const pods = cache.list(Pod, { namespace, labelSelector: `${nameLabel}=${name}` });
  return pods.toSorted((a, b) => (a.metadata.name < b.metadata.name ? -1 : 1));
}
