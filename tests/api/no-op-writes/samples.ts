import type { AnyKind } from "@windlass/client";
import { atomic, defineResource, intOrString, listMap, listSet, quantity } from "@windlass/runtime";
import {
  ConfigMap,
  CronJob,
  DaemonSet,
  Deployment,
  EndpointSlice,
  HorizontalPodAutoscaler,
  Ingress,
  Job,
  Lease,
  LimitRange,
  NetworkPolicy,
  PersistentVolumeClaim,
  Pod,
  PodDisruptionBudget,
  ReplicaSet,
  ResourceQuota,
  Role,
  RoleBinding,
  Secret,
  Service,
  ServiceAccount,
  StatefulSet,
} from "@windlass/runtime/kinds";
import { z } from "zod";

const item = z.object({
  name: z.string(),
  value: z.string().optional(),
  tags: z.array(z.string()).check(listSet()).optional(),
  options: z.record(z.string(), z.string()).optional(),
});

/** Every way in which server-side apply takes a value apart, or does not. */
const everyType = z.object({
  text: z.string().optional(),
  number: z.int().optional(),
  flag: z.boolean().optional(),
  filled: z.string().default("filled in"),
  struct: z.object({ a: z.string().optional(), b: z.int().optional() }).optional(),
  whole: z.object({ a: z.string().optional(), b: z.int().optional() }).check(atomic()).optional(),
  map: z.record(z.string(), z.string()).optional(),
  mapOfStructs: z
    .record(z.string(), z.object({ a: z.string().optional(), b: z.int().optional() }))
    .optional(),
  wholeMap: z.record(z.string(), z.string()).check(atomic()).optional(),
  list: z.array(z.string()).optional(),
  listOfStructs: z.array(item).optional(),
  set: z.array(z.string()).check(listSet()).optional(),
  numbers: z.array(z.int()).check(listSet()).optional(),
  items: z.array(item).check(listMap("name")).optional(),
  amount: quantity().optional(),
  amounts: z.record(z.string(), quantity()).optional(),
  either: intOrString().optional(),
  nothing: z.string().nullable().optional(),
  fraction: z.number().optional(),
  anything: z.looseObject({}).optional(),
  ports: z
    .array(z.object({ port: z.int(), protocol: z.string().default("TCP"), note: z.string().optional() }))
    .check(listMap("port", "protocol"))
    .optional(),
});

/** A custom kind with a field of every type, both in its spec and in its status. */
export const Sample = defineResource({
  group: "writes.windlass.dev",
  version: "v1",
  kind: "Sample",
  spec: everyType,
  status: everyType,
});

/** Values for every field. */
export const everyField = {
  text: "as YAML \x85 another \u2028 text",
  number: 7,
  flag: true,
  struct: { a: "a", b: 1 },
  whole: { a: "a", b: 1 },
  map: { a: "1", b: "2", "example.com/c": "3" },
  mapOfStructs: { x: { a: "a", b: 1 }, y: { a: "b" } },
  wholeMap: { a: "1", b: "2" },
  list: ["b", "a", "c"],
  listOfStructs: [{ name: "b", value: "1" }, { name: "a" }],
  set: ["b", "a", 'quoted "c" <&>'],
  numbers: [3, 1, 2],
  items: [
    { name: "b", value: "1", tags: ["y", "x"], options: { o: "1" } },
    { name: "a", value: "2" },
    { name: "c, d", tags: ["z"] },
  ],
  amount: "1000m",
  amounts: { cpu: "0.5", memory: 1 },
  either: "80",
  nothing: null,
  fraction: 1.5,
  anything: { list: [{ name: "b" }, { name: "a" }], map: { a: "1", none: {} }, text: "t" },
  ports: [{ port: 53, protocol: "UDP", note: "n" }, { port: 53 }, { port: 80, protocol: "TCP" }],
};

const labels = { app: "sample", tier: "web" };

const podSpec = {
  containers: [
    {
      name: "app",
      image: "nginx:1.25",
      command: ["nginx"],
      args: ["-g", "daemon off;"],
      ports: [
        { name: "http", containerPort: 8080 },
        { containerPort: 53, protocol: "UDP" },
      ],
      env: [
        { name: "B", value: "1" },
        { name: "A", value: "" },
        { name: "C", valueFrom: { fieldRef: { fieldPath: "metadata.name" } } },
      ],
      envFrom: [{ configMapRef: { name: "settings" } }],
      resources: { requests: { cpu: "0.5", memory: "1024Mi" }, limits: { cpu: "1000m" } },
      volumeMounts: [
        { name: "data", mountPath: "/data" },
        { name: "tmp", mountPath: "/tmp", readOnly: false },
      ],
      readinessProbe: { httpGet: { path: "/", port: "http" }, periodSeconds: 5 },
      securityContext: { runAsNonRoot: true, capabilities: { drop: ["ALL"], add: [] } },
      stdin: false,
    },
    { name: "sidecar", image: "busybox:1", terminationMessagePath: "" },
  ],
  initContainers: [{ name: "init", image: "busybox:1" }],
  volumes: [
    { name: "tmp", emptyDir: {} },
    { name: "data", configMap: { name: "settings", items: [{ key: "k", path: "p" }] } },
  ],
  nodeSelector: { disk: "ssd" },
  tolerations: [{ key: "dedicated", operator: "Exists" }],
  topologySpreadConstraints: [
    {
      maxSkew: 1,
      topologyKey: "zone",
      whenUnsatisfiable: "ScheduleAnyway",
      labelSelector: { matchLabels: labels },
    },
  ],
  affinity: {
    podAntiAffinity: {
      preferredDuringSchedulingIgnoredDuringExecution: [
        { weight: 1, podAffinityTerm: { topologyKey: "zone", labelSelector: { matchLabels: labels } } },
      ],
    },
  },
  hostNetwork: false,
  imagePullSecrets: [{ name: "b" }, { name: "a" }],
  serviceAccountName: "default",
  terminationGracePeriodSeconds: 10,
  securityContext: {},
  hostAliases: [{ ip: "10.0.0.1", hostnames: ["b", "a"] }],
};

const template = { metadata: { labels, annotations: { note: "n" }, creationTimestamp: null }, spec: podSpec };
const jobSpec = {
  backoffLimit: 3,
  ttlSecondsAfterFinished: 60,
  template: { metadata: { labels }, spec: { ...podSpec, restartPolicy: "Never" } },
};

/** What operators own, with many of its fields. */
export interface KindSample {
  readonly kind: AnyKind;
  readonly full: Readonly<Record<string, unknown>>;
}

/** One of each kind that operators own. */
export const samples: readonly KindSample[] = [
  {
    kind: Deployment,
    full: {
      spec: { replicas: 2, selector: { matchLabels: labels }, template, strategy: {}, minReadySeconds: 0 },
    },
  },
  {
    kind: StatefulSet,
    full: {
      spec: {
        serviceName: "sample",
        replicas: 0,
        selector: { matchLabels: labels },
        template,
        volumeClaimTemplates: [
          {
            metadata: { name: "data" },
            spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1024Mi" } } },
          },
        ],
      },
    },
  },
  { kind: DaemonSet, full: { spec: { selector: { matchLabels: labels }, template } } },
  {
    kind: Service,
    full: {
      spec: {
        selector: { app: "sample", tier: "web" },
        ports: [
          { name: "http", port: 80, targetPort: "http" },
          { name: "dns", port: 53, protocol: "UDP" },
        ],
        publishNotReadyAddresses: false,
        sessionAffinity: "None",
        externalIPs: ["10.9.8.7", "10.9.8.6"],
        loadBalancerSourceRanges: [],
      },
    },
  },
  {
    kind: Ingress,
    full: {
      spec: {
        ingressClassName: "nginx",
        tls: [{ hosts: ["b.example.com", "a.example.com"], secretName: "tls" }],
        rules: [
          {
            host: "a.example.com",
            http: {
              paths: [
                {
                  path: "/",
                  pathType: "Prefix",
                  backend: { service: { name: "s", port: { name: "http" } } },
                },
                { path: "/b", pathType: "Exact", backend: { service: { name: "s", port: { number: 80 } } } },
              ],
            },
          },
        ],
      },
    },
  },
  { kind: ConfigMap, full: { data: { a: "1", "b.txt": "2", c: "" }, binaryData: { d: "AAEC" } } },
  { kind: Secret, full: { type: "Opaque", stringData: { a: "1" }, data: { b: "Mg==" } } },
  {
    kind: HorizontalPodAutoscaler,
    full: {
      spec: {
        scaleTargetRef: { apiVersion: "apps/v1", kind: "Deployment", name: "sample" },
        minReplicas: 1,
        maxReplicas: 3,
        metrics: [
          {
            type: "Resource",
            resource: { name: "cpu", target: { type: "Utilization", averageUtilization: 80 } },
          },
          {
            type: "Resource",
            resource: { name: "memory", target: { type: "AverageValue", averageValue: "0.5Gi" } },
          },
        ],
        behavior: { scaleDown: { policies: [{ type: "Pods", value: 1, periodSeconds: 60 }] } },
      },
    },
  },
  {
    kind: PodDisruptionBudget,
    full: { spec: { minAvailable: "50%", selector: { matchLabels: labels, matchExpressions: [] } } },
  },
  {
    kind: NetworkPolicy,
    full: {
      spec: {
        podSelector: { matchLabels: labels },
        policyTypes: ["Ingress", "Egress"],
        ingress: [{ from: [{ podSelector: { matchLabels: { app: "a" } } }], ports: [{ port: 80 }] }],
        egress: [{ to: [{ ipBlock: { cidr: "10.0.0.0/8", except: ["10.1.0.0/16"] } }] }],
      },
    },
  },
  { kind: Job, full: { spec: jobSpec } },
  {
    kind: CronJob,
    full: {
      spec: { schedule: "0 * * * *", suspend: false, jobTemplate: { metadata: { labels }, spec: jobSpec } },
    },
  },
  {
    kind: ServiceAccount,
    full: {
      automountServiceAccountToken: false,
      imagePullSecrets: [{ name: "b" }, { name: "a" }],
      secrets: [{ name: "s" }],
    },
  },
  {
    kind: Role,
    full: {
      rules: [
        { apiGroups: [""], resources: ["pods", "configmaps"], verbs: ["list", "get"] },
        { apiGroups: ["apps"], resources: ["deployments"], resourceNames: ["x"], verbs: ["get"] },
      ],
    },
  },
  {
    kind: RoleBinding,
    full: {
      roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "Role", name: "sample" },
      subjects: [
        { kind: "ServiceAccount", name: "default", namespace: "default" },
        { kind: "User", name: "jane" },
      ],
    },
  },
  {
    kind: PersistentVolumeClaim,
    full: {
      spec: {
        accessModes: ["ReadWriteOnce"],
        resources: { requests: { storage: "0.5Gi" } },
        selector: { matchLabels: labels },
        storageClassName: "",
      },
    },
  },
  {
    kind: Pod,
    full: {
      spec: {
        ...podSpec,
        restartPolicy: "Always",
        readinessGates: [{ conditionType: "example.com/b" }, { conditionType: "example.com/a" }],
        schedulingGates: [{ name: "example.com/wait" }],
      },
    },
  },
  {
    kind: EndpointSlice,
    full: {
      addressType: "IPv4",
      endpoints: [
        { addresses: ["10.0.0.2", "10.0.0.1"], conditions: { ready: true }, hostname: "b" },
        { addresses: ["10.0.0.3"], conditions: {}, targetRef: { kind: "Pod", name: "p" } },
      ],
      ports: [
        { name: "http", port: 80, protocol: "TCP", appProtocol: "http" },
        { name: "", port: 53, protocol: "UDP" },
      ],
    },
  },
  { kind: ReplicaSet, full: { spec: { replicas: 1, selector: { matchLabels: labels }, template } } },
  {
    kind: Lease,
    full: {
      spec: {
        holderIdentity: "somebody",
        leaseDurationSeconds: 15,
        renewTime: "2026-01-01T00:00:00.500000Z",
        acquireTime: "2026-01-01T00:00:00.000000Z",
      },
    },
  },
  {
    kind: LimitRange,
    full: {
      spec: {
        limits: [
          {
            type: "Container",
            default: { cpu: "0.5" },
            defaultRequest: { cpu: "100m" },
            max: { cpu: "1000m" },
          },
          { type: "Pod", max: { memory: "1024Mi" } },
        ],
      },
    },
  },
  {
    kind: ResourceQuota,
    full: {
      spec: {
        hard: { pods: "1000", "requests.cpu": "0.5k", "count/jobs.batch": "100000" },
        scopeSelector: {
          matchExpressions: [{ scopeName: "PriorityClass", operator: "In", values: ["b", "a"] }],
        },
      },
    },
  },
  { kind: Sample, full: { spec: everyField } },
];
