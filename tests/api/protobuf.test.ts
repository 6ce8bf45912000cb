import { type AnyKind, Client, statusOf } from "@windlass/client";
import { createCache, defineResource } from "@windlass/runtime";
import * as kinds from "@windlass/runtime/kinds";
import { startCluster, type TestCluster } from "@windlass/testing";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { z } from "zod";

let cluster: TestCluster;
let namespace: string;

beforeAll(async () => {
  cluster = await startCluster();
  namespace = await cluster.createNamespace();
}, 90_000);
afterAll(() => cluster.close(), 60_000);

/**
 * A cache that reads JSON, or protobuf where there is some, and the media types that it asked for.
 */
function openCache(protobuf: boolean) {
  const accepted: string[] = [];
  const inner = cluster.transport();
  const client = new Client({
    transport: {
      request(request) {
        if (request.path !== "/version") accepted.push(String(request.headers.accept));
        return inner.request(request);
      },
      close: () => inner.close(),
    },
    protobuf,
    onWarning: () => undefined,
  });
  const cache = createCache({ source: client, keepManagedFields: true });
  onTestFinished(() => cache.stop());
  return { cache, accepted };
}

const container = {
  name: "c",
  image: "example.com/app:1",
  env: [
    { name: "A", value: "" },
    { name: "B", valueFrom: { fieldRef: { fieldPath: "metadata.name" } } },
  ],
  ports: [{ containerPort: 80, name: "http" }],
  resources: { requests: { cpu: "100m", memory: "1Gi" }, limits: { cpu: "1500m" } },
  livenessProbe: { httpGet: { path: "/", port: "http" }, periodSeconds: 7 },
  readinessProbe: { tcpSocket: { port: 80 } },
  volumeMounts: [{ name: "v", mountPath: "/v", readOnly: true }],
  securityContext: { runAsUser: 0, capabilities: { drop: ["ALL"] } },
};
const pod = {
  containers: [container],
  volumes: [
    { name: "v", configMap: { name: "cm", items: [{ key: "k", path: "p", mode: 0o400 }] } },
    { name: "w", emptyDir: {} },
  ],
  tolerations: [{ key: "k", operator: "Exists", effect: "NoExecute", tolerationSeconds: 0 }],
  affinity: {
    nodeAffinity: {
      preferredDuringSchedulingIgnoredDuringExecution: [
        { weight: 1, preference: { matchExpressions: [{ key: "a", operator: "In", values: ["b"] }] } },
      ],
    },
  },
};
const selector = { matchLabels: { app: "x" } };
const template = { metadata: { labels: { app: "x" } }, spec: pod };

/** One of most kinds that operators use, with values that the two encodings write differently. */
const objects: readonly (readonly [kind: AnyKind, content: object])[] = [
  [kinds.ConfigMap, { data: { a: "", b: "ü\n" }, binaryData: { c: "AAECAw==" }, immutable: false }],
  [kinds.Secret, { type: "Opaque", data: { a: "", b: "/+8=" } }],
  [
    kinds.Service,
    {
      spec: {
        selector: { app: "x" },
        ports: [
          { port: 80, targetPort: "http" },
          { port: 81, targetPort: 8081, name: "b" },
        ].map((port, index) => ({ ...port, name: `p${index}` })),
      },
    },
  ],
  [kinds.ServiceAccount, { automountServiceAccountToken: false }],
  [
    kinds.PersistentVolumeClaim,
    { spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1.5Gi" } } } },
  ],
  [kinds.LimitRange, { spec: { limits: [{ type: "Container", default: { cpu: "0.5" } }] } }],
  [
    kinds.Deployment,
    {
      spec: {
        replicas: 0,
        selector,
        template,
        strategy: { rollingUpdate: { maxSurge: "25%", maxUnavailable: 0 } },
      },
    },
  ],
  [
    kinds.StatefulSet,
    {
      spec: {
        replicas: 0,
        serviceName: "s",
        selector,
        template,
        volumeClaimTemplates: [
          {
            metadata: { name: "v" },
            spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Gi" } } },
          },
        ],
      },
    },
  ],
  [
    kinds.DaemonSet,
    { spec: { selector, template: { ...template, spec: { ...pod, nodeSelector: { none: "such" } } } } },
  ],
  [kinds.Job, { spec: { suspend: true, template: { spec: { ...pod, restartPolicy: "Never" } } } }],
  [
    kinds.CronJob,
    {
      spec: {
        suspend: true,
        schedule: "0 0 1 1 *",
        jobTemplate: { spec: { template: { spec: { ...pod, restartPolicy: "Never" } } } },
      },
    },
  ],
  [
    kinds.HorizontalPodAutoscaler,
    {
      spec: {
        maxReplicas: 3,
        scaleTargetRef: { kind: "Deployment", name: "none", apiVersion: "apps/v1" },
        metrics: [
          {
            type: "Resource",
            resource: { name: "cpu", target: { type: "AverageValue", averageValue: "1500m" } },
          },
        ],
      },
    },
  ],
  [
    kinds.Ingress,
    {
      spec: {
        rules: [
          {
            host: "a.example.com",
            http: {
              paths: [
                { path: "/", pathType: "Prefix", backend: { service: { name: "s", port: { number: 80 } } } },
              ],
            },
          },
        ],
      },
    },
  ],
  [
    kinds.NetworkPolicy,
    {
      spec: {
        podSelector: {},
        ingress: [
          { from: [{ ipBlock: { cidr: "10.0.0.0/8", except: ["10.1.0.0/16"] } }], ports: [{ port: 80 }] },
        ],
      },
    },
  ],
  [kinds.PodDisruptionBudget, { spec: { selector, minAvailable: "50%" } }],
  [kinds.Role, { rules: [{ apiGroups: [""], resources: ["pods"], verbs: ["get"] }] }],
  [
    kinds.RoleBinding,
    {
      roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "Role", name: "r" },
      subjects: [{ kind: "User", name: "u", apiGroup: "rbac.authorization.k8s.io" }],
    },
  ],
  [
    kinds.Lease,
    {
      spec: {
        holderIdentity: "me",
        leaseDurationSeconds: 15,
        renewTime: "2026-01-02T03:04:05.000006Z",
        acquireTime: "2026-01-02T03:04:05.000000Z",
      },
    },
  ],
  [
    kinds.EndpointSlice,
    {
      addressType: "IPv4",
      endpoints: [{ addresses: ["10.0.0.1"], conditions: { ready: false } }],
      ports: [{ port: 80, name: "" }],
    },
  ],
  [kinds.ControllerRevision, { revision: 3, data: { any: ["json", 1, null, { deep: true }] } }],
];

test("a cache filled by protobuf holds what one filled by JSON does", async () => {
  for (const [kind, content] of objects)
    await cluster.client.create(kind, {
      metadata: { name: "same", namespace, labels: { suite: "protobuf" }, annotations: { a: "b" } },
      ...content,
    });
  const [json, packed] = [openCache(false), openCache(true)];
  const scope = { namespace, labelSelector: "suite=protobuf" };
  for (const { cache } of [json, packed]) {
    for (const [kind] of objects) cache.informer(kind, scope);
    await cache.waitForSync();
  }
  expect(new Set(json.accepted)).toEqual(new Set(["application/json"]));
  expect(new Set(packed.accepted)).toEqual(new Set(["application/vnd.kubernetes.protobuf"]));
  for (const [kind] of objects) {
    const held = packed.cache.get(kind, { namespace, name: "same" });
    expect(held?.kind).toBe(kind.kind);
    await expect
      .poll(() => packed.cache.get(kind, { namespace, name: "same" }), { timeout: 10_000 })
      .toEqual(json.cache.get(kind, { namespace, name: "same" }));
  }
}, 60_000);

test("definitions, with all that a schema may hold, are the same in both", async () => {
  const Odd = defineResource({
    group: "protobuf.example.com",
    version: "v1",
    kind: "Odd",
    spec: z.object({
      any: z.record(z.string(), z.string()).default({ a: "b" }),
      list: z.array(z.object({ name: z.string(), size: z.int().min(0).max(5).default(0) })),
      port: z.union([z.int(), z.string()]).optional(),
      choice: z.enum(["a", "b"]).default("a"),
    }),
  });
  await cluster.install(Odd);
  const [json, packed] = [openCache(false), openCache(true)];
  for (const { cache } of [json, packed]) {
    cache.informer(kinds.CustomResourceDefinition);
    cache.informer(Odd, { metadataOnly: true });
    await cache.waitForSync();
  }
  const name = "odds.protobuf.example.com";
  await expect
    .poll(() => packed.cache.get(kinds.CustomResourceDefinition, { name }), { timeout: 10_000 })
    .toEqual(json.cache.get(kinds.CustomResourceDefinition, { name }));
  expect(packed.cache.get(kinds.CustomResourceDefinition, { name })?.spec.names.kind).toBe("Odd");
});

test("metadata of custom objects comes as protobuf, and changes of it are seen", async () => {
  const Plain = defineResource({
    group: "protobuf.example.com",
    version: "v1",
    kind: "Plain",
    spec: z.object({ size: z.int() }),
  });
  await cluster.install(Plain);
  const { cache, accepted } = openCache(true);
  const informer = cache.informer(Plain, { namespace, metadataOnly: true });
  await cache.waitForSync();
  expect(accepted).toEqual([
    "application/vnd.kubernetes.protobuf;as=PartialObjectMetadata;g=meta.k8s.io;v=v1",
  ]);
  await cluster.client.create(Plain, {
    metadata: { namespace, name: "one", labels: { a: "b" } },
    spec: { size: 1 },
  });
  const read = () => informer.list({ labelSelector: "a=b" });
  await expect.poll(() => read().map(({ metadata }) => metadata.name), { timeout: 10_000 }).toEqual(["one"]);
});

test("a refusal that comes as protobuf says what JSON would", async () => {
  const client = new Client({ transport: cluster.transport(), protobuf: true });
  const scope = { namespace, labelSelector: "a in" };
  const refusalOf = async (watch: AsyncIterable<unknown> | undefined) => {
    try {
      for await (const event of watch ?? []) expect(event).toBeUndefined();
    } catch (error) {
      return statusOf(error);
    }
    return undefined;
  };
  const [json, packed] = [
    await refusalOf(client.watchLines(kinds.ConfigMap, scope)),
    await refusalOf(client.protobuf?.watch(kinds.ConfigMap, scope)),
  ];
  expect(json).toMatchObject({ reason: "BadRequest", code: 400 });
  expect(packed).toEqual(json);
});
