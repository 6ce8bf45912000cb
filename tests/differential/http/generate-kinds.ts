import type { Draw } from "./draw.ts";
import { at, configMap, deployment, widget } from "./scenarios/requests.ts";

/** A kind that sequences are made about. */
export interface Kind {
  readonly path: string;
  readonly make: (draw: Draw, name: string, metadata: object) => object;
  /** A change of its content, for merges and applies. */
  readonly change: (draw: Draw) => object;
  /** What its status may become. Absent for kinds that have none. */
  readonly status?: (draw: Draw) => object;
  readonly scales?: boolean;
  /** Custom kinds take no strategic patches, and no protobuf. */
  readonly custom?: boolean;
  /** JSON pointers worth patching. */
  readonly pointers: readonly string[];
  /** Fields worth selecting by, beside those that every kind has. */
  readonly fields?: readonly string[];
}

export const values = ["1", "2", "3"];
const letters = ["a", "b", "c", "d"];
const metadataPointers = [
  "/metadata/labels",
  "/metadata/labels/l",
  "/metadata/annotations",
  "/metadata/finalizers",
  "/metadata/name",
  "/metadata/ownerReferences",
];

function someData(draw: Draw): Record<string, string> {
  return Object.fromEntries(draw.some(letters, 0.5).map((key) => [key, draw.pick(values)]));
}

function widgetSpec(draw: Draw): object {
  return {
    ...draw.maybe(0.5, () => ({ size: draw.pick([0, 1, 2, 100, ...(draw.chance(0.1) ? [-1, "x"] : [])]) })),
    ...draw.maybe(0.3, () => ({ replicas: draw.below(4) })),
    ...draw.maybe(0.3, () => ({ color: draw.pick(["red", "green", ...(draw.chance(0.1) ? ["pink"] : [])]) })),
    ...draw.maybe(0.4, () => ({
      parts: draw
        .some(letters, 0.4)
        .map((name) => ({ name, ...draw.maybe(0.5, () => ({ count: draw.below(4) })) })),
    })),
    ...draw.maybe(0.3, () => ({ tags: draw.some(letters, 0.4) })),
    ...draw.maybe(0.2, () => ({ extra: draw.pick<object>([{ x: 1 }, { x: { y: [1, 2] } }, {}]) })),
    ...draw.maybe(0.05, () => ({ bogus: 1 })),
  };
}

function containers(draw: Draw): object[] {
  return ["main", ...draw.some(["side"], 0.3)].map((name) => ({
    name,
    image: `registry.example.com/${name}:${draw.pick(values)}`,
    ...draw.maybe(0.3, () => ({
      env: draw.some(letters, 0.4).map((key) => ({ name: key, value: draw.pick(values) })),
    })),
    ...draw.maybe(0.3, () => ({
      ports: [
        { containerPort: draw.pick([80, 81, 8080]), ...draw.maybe(0.3, () => ({ name: "web" })) },
        ...(draw.chance(0.2) ? [{ containerPort: 80, protocol: draw.pick(["TCP", "UDP"]) }] : []),
      ],
    })),
    ...draw.maybe(0.2, () => ({ resources: { requests: { cpu: draw.pick(["1", "500m", 2]) } } })),
  }));
}

function template(draw: Draw, labels: object): object {
  return { metadata: { labels }, spec: { containers: containers(draw) } };
}

const condition = (draw: Draw) => ({
  type: draw.pick(["Available", "Ready"]),
  status: draw.pick(["True", "False"]),
  ...draw.maybe(0.3, () => ({ reason: "Why" })),
});

const serviceSpec = (draw: Draw): object => ({
  ...draw.maybe(0.9, () => ({
    ports: [
      { name: "one", port: draw.pick([80, 81]) },
      ...(draw.chance(0.3) ? [{ name: "two", port: 90, targetPort: draw.pick([1, "web"]) }] : []),
    ],
  })),
  ...draw.maybe(0.7, () => ({ selector: { app: draw.pick(values) } })),
  ...draw.maybe(0.25, () => ({ clusterIP: "None" })),
  ...draw.maybe(0.2, () =>
    draw.pick<object>([
      { type: "NodePort" },
      { type: "LoadBalancer" },
      { type: "ExternalName", externalName: "example.com", clusterIP: undefined },
      { type: "ClusterIP" },
    ]),
  ),
  ...draw.maybe(0.1, () => ({ sessionAffinity: "ClientIP" })),
  ...draw.maybe(0.1, () => ({ publishNotReadyAddresses: true })),
});

const selector = (name: string) => ({ matchLabels: { app: name } });

export const kinds: readonly Kind[] = [
  {
    path: at.configMaps,
    make: (draw, name, metadata) => ({
      ...configMap(name, someData(draw), metadata),
      ...draw.maybe(0.05, () => ({ immutable: true })),
      ...draw.maybe(0.1, () => ({ binaryData: { z: draw.pick(["eg==", "AAEC"]) } })),
    }),
    change: (draw) => ({ data: someData(draw) }),
    pointers: ["/data/a", "/data/b", "/data", "/binaryData", ...metadataPointers],
  },
  {
    path: at.secrets,
    make: (draw, name, metadata) => ({
      apiVersion: "v1",
      kind: "Secret",
      metadata: { name, ...metadata },
      ...draw.maybe(0.7, () => ({ stringData: someData(draw) })),
      ...draw.maybe(0.3, () => ({ data: { z: "eg==" } })),
      ...draw.maybe(0.2, () => ({ type: draw.pick(["Opaque", "example.com/own"]) })),
    }),
    change: (draw) => ({ stringData: someData(draw) }),
    pointers: ["/data/a", "/data", "/stringData", "/type", ...metadataPointers],
    fields: ["type"],
  },
  {
    path: at.services,
    status: (draw) => ({
      loadBalancer: draw.pick<object>([
        {},
        { ingress: [{ ip: "1.2.3.4" }] },
        { ingress: [{ hostname: "x.y" }] },
      ]),
      ...draw.maybe(0.3, () => ({
        conditions: [
          { ...condition(draw), lastTransitionTime: "2024-01-01T00:00:00Z", reason: "R", message: "m" },
        ],
      })),
    }),
    make: (draw, name, metadata) => ({
      apiVersion: "v1",
      kind: "Service",
      metadata: { name, ...metadata },
      spec: serviceSpec(draw),
    }),
    change: (draw) => ({
      spec: draw.pick<object>([
        { selector: { app: draw.pick(values) } },
        { ports: [{ name: "one", port: draw.pick([80, 81]), protocol: "TCP" }] },
        { sessionAffinity: draw.pick(["None", "ClientIP"]) },
        serviceSpec(draw),
      ]),
    }),
    pointers: ["/spec/selector", "/spec/ports/0/port", "/spec/type", "/spec/clusterIP", ...metadataPointers],
    fields: ["spec.type", "spec.clusterIP"],
  },
  {
    path: at.deployments,
    scales: true,
    status: (draw) => ({
      ...draw.maybe(0.7, () => ({ replicas: draw.below(3) })),
      ...draw.maybe(0.5, () => ({ conditions: [condition(draw)] })),
      ...draw.maybe(0.1, () => ({ phase: "x" })),
    }),
    make: (draw, name, metadata) =>
      deployment(
        name,
        { ...draw.maybe(0.5, () => ({ replicas: draw.below(4) })), template: template(draw, { app: name }) },
        metadata,
      ),
    change: (draw) => ({
      spec: {
        ...draw.maybe(0.5, () => ({ replicas: draw.below(4) })),
        ...draw.maybe(0.5, () => ({ template: { spec: { containers: containers(draw) } } })),
        ...draw.maybe(0.2, () => ({ paused: draw.chance(0.5) })),
      },
    }),
    pointers: [
      "/spec/replicas",
      "/spec/template/spec/containers/0/image",
      "/spec/template/spec/containers/0",
      "/spec/paused",
      "/spec/selector",
      ...metadataPointers,
    ],
  },
  {
    path: at.widgets,
    custom: true,
    scales: true,
    status: (draw) => draw.pick<object>([{ replicas: draw.below(3) }, { phase: "x" }, {}, { phase: 1 }]),
    make: (draw, name, metadata) => widget(name, widgetSpec(draw), metadata),
    change: (draw) => ({ spec: widgetSpec(draw) }),
    pointers: [
      "/spec/size",
      "/spec/parts",
      "/spec/parts/0",
      "/spec/extra",
      "/spec/replicas",
      ...metadataPointers,
    ],
    fields: ["spec.color"],
  },
  {
    path: "/api/v1/namespaces/{ns}/pods",
    status: (draw) => ({
      ...draw.maybe(0.7, () => ({ phase: draw.pick(["Running", "Succeeded", "Failed"]) })),
      ...draw.maybe(0.5, () => ({ conditions: [condition(draw)] })),
      ...draw.maybe(0.3, () => ({ podIP: "10.0.0.1", podIPs: [{ ip: "10.0.0.1" }] })),
    }),
    make: (draw, name, metadata) => ({
      apiVersion: "v1",
      kind: "Pod",
      metadata: { name, ...metadata },
      spec: {
        automountServiceAccountToken: false,
        containers: containers(draw),
        ...draw.maybe(0.2, () => ({ restartPolicy: draw.pick(["Never", "OnFailure"]) })),
        ...draw.maybe(0.1, () => ({ terminationGracePeriodSeconds: draw.below(2) })),
        ...draw.maybe(0.1, () => ({ schedulingGates: [{ name: "x.io/gate" }] })),
      },
    }),
    change: (draw) => ({
      spec: draw.pick<object>([
        { containers: [{ name: "main", image: `registry.example.com/main:${draw.pick(values)}` }] },
        { activeDeadlineSeconds: draw.pick([5, 9]) },
        { tolerations: [{ key: draw.pick(values), operator: "Exists" }] },
        { restartPolicy: "Never" },
      ]),
    }),
    pointers: ["/spec/containers/0/image", "/spec/restartPolicy", "/spec/tolerations", ...metadataPointers],
    fields: ["spec.nodeName", "status.phase", "spec.restartPolicy"],
  },
  {
    path: at.leases,
    make: (draw, name, metadata) => ({
      apiVersion: "coordination.k8s.io/v1",
      kind: "Lease",
      metadata: { name, ...metadata },
      spec: {
        ...draw.maybe(0.6, () => ({ holderIdentity: draw.pick(values) })),
        ...draw.maybe(0.5, () => ({ leaseDurationSeconds: draw.pick([15, 30, 0]) })),
        ...draw.maybe(0.4, () => ({
          renewTime: draw.pick(["2024-01-01T00:00:00.000000Z", "2024-01-01T00:00:00Z"]),
        })),
      },
    }),
    change: (draw) => ({
      spec: { holderIdentity: draw.pick(values), leaseTransitions: draw.below(3) },
    }),
    pointers: ["/spec/holderIdentity", "/spec/renewTime", "/spec", ...metadataPointers],
  },
  {
    path: "/apis/batch/v1/namespaces/{ns}/jobs",
    status: (draw) => ({
      ...draw.maybe(0.7, () => ({ active: draw.below(2) })),
      ...draw.maybe(0.3, () => ({ startTime: "2024-01-01T00:00:00Z" })),
      ...draw.maybe(0.3, () => ({ conditions: [{ type: "Complete", status: "True" }] })),
    }),
    make: (draw, name, metadata) => ({
      apiVersion: "batch/v1",
      kind: "Job",
      // Without any, a reader gets the template's, and the next writer stores them.
      metadata: { name, ...metadata, labels: { own: "1", ...(metadata as { labels?: object }).labels } },
      spec: {
        suspend: true,
        ...draw.maybe(0.3, () => ({ parallelism: draw.below(3) })),
        ...draw.maybe(0.3, () => ({ completions: draw.below(3) })),
        ...draw.maybe(0.2, () => ({ ttlSecondsAfterFinished: draw.below(3) })),
        template: {
          spec: { restartPolicy: draw.pick(["Never", "OnFailure", "Never"]), containers: containers(draw) },
        },
      },
    }),
    change: (draw) => ({
      spec: draw.pick<object>([
        { parallelism: draw.below(3) },
        { suspend: draw.chance(0.5) },
        { backoffLimit: 2 },
      ]),
    }),
    pointers: ["/spec/parallelism", "/spec/suspend", "/spec/completions", ...metadataPointers],
    fields: ["status.successful"],
  },
  {
    path: "/apis/apps/v1/namespaces/{ns}/statefulsets",
    scales: true,
    status: (draw) => ({
      replicas: draw.below(3),
      ...draw.maybe(0.5, () => ({ conditions: [condition(draw)] })),
    }),
    make: (draw, name, metadata) => ({
      apiVersion: "apps/v1",
      kind: "StatefulSet",
      metadata: { name, ...metadata },
      spec: {
        selector: selector(name),
        ...draw.maybe(0.5, () => ({ replicas: draw.below(4) })),
        ...draw.maybe(0.7, () => ({ serviceName: draw.pick(["svc", "other"]) })),
        ...draw.maybe(0.3, () => ({
          volumeClaimTemplates: [
            {
              metadata: { name: "data" },
              spec: {
                accessModes: ["ReadWriteOnce"],
                resources: { requests: { storage: draw.pick(["1Gi", "2Gi"]) } },
              },
            },
          ],
        })),
        template: template(draw, { app: name }),
      },
    }),
    change: (draw) => ({
      spec: draw.pick<object>([
        { replicas: draw.below(4) },
        { template: { spec: { containers: containers(draw) } } },
        { serviceName: "changed" },
        { updateStrategy: { type: draw.pick(["OnDelete", "RollingUpdate"]) } },
      ]),
    }),
    pointers: [
      "/spec/replicas",
      "/spec/serviceName",
      "/spec/template/spec/containers/0/image",
      ...metadataPointers,
    ],
  },
  {
    path: "/apis/networking.k8s.io/v1/namespaces/{ns}/ingresses",
    status: () => ({
      loadBalancer: { ingress: [{ ip: "1.2.3.4", ports: [{ port: 80, protocol: "TCP" }] }] },
    }),
    make: (draw, name, metadata) => ({
      apiVersion: "networking.k8s.io/v1",
      kind: "Ingress",
      metadata: { name, ...metadata },
      spec: {
        ...draw.maybe(0.3, () => ({ ingressClassName: draw.pick(["a", "b"]) })),
        rules: draw.some(["x.example.com", "y.example.com"], 0.7).map((host) => ({
          host,
          http: {
            paths: [
              {
                path: draw.pick(["/", "/a", "b"]),
                pathType: draw.pick(["Prefix", "Exact", "ImplementationSpecific"]),
                backend: { service: { name: "web", port: { number: 80 } } },
              },
            ],
          },
        })),
        ...draw.maybe(0.4, () => ({ defaultBackend: { service: { name: "d", port: { name: "http" } } } })),
      },
    }),
    change: (draw) => ({
      spec: draw.pick<object>([
        { ingressClassName: draw.pick(["a", "b"]) },
        { defaultBackend: { service: { name: "e", port: { number: 81 } } } },
      ]),
    }),
    pointers: ["/spec/ingressClassName", "/spec/rules/0", "/spec/defaultBackend", ...metadataPointers],
  },
  ...["v1", "v2"].map(
    (version): Kind => ({
      path: `/apis/autoscaling/${version}/namespaces/{ns}/horizontalpodautoscalers`,
      status: (draw) => ({ currentReplicas: draw.below(3), desiredReplicas: draw.below(3) }),
      make: (draw, name, metadata) => ({
        apiVersion: `autoscaling/${version}`,
        kind: "HorizontalPodAutoscaler",
        metadata: { name, ...metadata },
        spec: {
          scaleTargetRef: { apiVersion: "apps/v1", kind: "Deployment", name: "web" },
          maxReplicas: draw.pick([3, 4, 0]),
          ...draw.maybe(0.5, () => ({ minReplicas: draw.pick([1, 2]) })),
          ...draw.maybe(0.4, () =>
            version === "v1"
              ? { targetCPUUtilizationPercentage: 50 }
              : {
                  metrics: [
                    {
                      type: "Resource",
                      resource: { name: "cpu", target: { type: "Utilization", averageUtilization: 60 } },
                    },
                  ],
                },
          ),
        },
      }),
      change: (draw) => ({
        spec: draw.pick<object>([{ maxReplicas: 5 }, { minReplicas: draw.pick([1, 2]) }]),
      }),
      pointers: ["/spec/maxReplicas", "/spec/minReplicas", "/spec/metrics", ...metadataPointers],
    }),
  ),
  {
    path: "/api/v1/namespaces/{ns}/endpoints",
    make: (draw, name, metadata) => ({
      apiVersion: "v1",
      kind: "Endpoints",
      metadata: { name, ...metadata },
      subsets: [{ addresses: [{ ip: draw.pick(["10.1.1.1", "10.1.1.2"]) }], ports: [{ port: 80 }] }],
    }),
    change: (draw) => ({
      subsets: [{ addresses: [{ ip: "10.1.1.3" }], ports: [{ port: draw.pick([80, 81]) }] }],
    }),
    pointers: ["/subsets/0/addresses/0/ip", "/subsets", ...metadataPointers],
  },
  {
    path: "/apis/policy/v1/namespaces/{ns}/poddisruptionbudgets",
    status: (draw) => ({
      disruptionsAllowed: draw.below(2),
      currentHealthy: 1,
      desiredHealthy: 1,
      expectedPods: 1,
    }),
    make: (draw, name, metadata) => ({
      apiVersion: "policy/v1",
      kind: "PodDisruptionBudget",
      metadata: { name, ...metadata },
      spec: {
        selector: selector(name),
        ...draw.pick<object>([{ minAvailable: 1 }, { maxUnavailable: "50%" }, { minAvailable: "x" }, {}]),
      },
    }),
    change: (draw) => ({
      spec: draw.pick<object>([{ minAvailable: 2 }, { maxUnavailable: null, minAvailable: "10%" }]),
    }),
    pointers: ["/spec/minAvailable", "/spec/selector", ...metadataPointers],
  },
  {
    path: "/api/v1/namespaces/{ns}/persistentvolumeclaims",
    status: (draw) => ({ phase: draw.pick(["Pending", "Bound"]) }),
    make: (draw, name, metadata) => ({
      apiVersion: "v1",
      kind: "PersistentVolumeClaim",
      metadata: { name, ...metadata },
      spec: {
        accessModes: ["ReadWriteOnce"],
        resources: { requests: { storage: draw.pick(["1Gi", "2Gi", "3Gi"]) } },
        ...draw.maybe(0.3, () => ({ storageClassName: draw.pick(["", "fast"]) })),
      },
    }),
    change: () => ({ spec: { resources: { requests: { storage: "4Gi" } } } }),
    pointers: ["/spec/resources/requests/storage", "/spec/storageClassName", ...metadataPointers],
  },
  {
    path: "/apis/rbac.authorization.k8s.io/v1/namespaces/{ns}/roles",
    make: (draw, name, metadata) => ({
      apiVersion: "rbac.authorization.k8s.io/v1",
      kind: "Role",
      metadata: { name, ...metadata },
      rules: draw.some(["pods", "secrets"], 0.6).map((resource) => ({
        apiGroups: [""],
        resources: [resource],
        verbs: draw.some(["get", "list"], 0.8),
      })),
    }),
    change: (draw) => ({
      rules: [{ apiGroups: ["apps"], resources: ["*"], verbs: [draw.pick(["get", "*"])] }],
    }),
    pointers: ["/rules", "/rules/0/verbs", ...metadataPointers],
  },
];
