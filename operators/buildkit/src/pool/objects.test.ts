import { ManualClock, seededRandom } from "@windlass/clock";
import { type Controller, controllerReference } from "@windlass/runtime";
import {
  ConfigMap,
  Deployment,
  Ingress,
  NetworkPolicy,
  PodDisruptionBudget,
  Role,
  Secret,
  Service,
  ServiceAccount,
} from "@windlass/runtime/kinds";
import { existing, type ReconcileGiven, testReconcile } from "@windlass/testing";
import { describe, expect, test } from "vitest";
import { CredentialStore } from "../credentials.ts";
import { poolController } from "./controller.ts";
import { BuildKitPool } from "./pool.ts";

type PoolSpec = Parameters<typeof BuildKitPool.make>[1];
const key = { namespace: "builds", name: "ci" };

type PoolStatus = Parameters<typeof BuildKitPool.make>[2];
type Given = ReconcileGiven<OwnedBy<ReturnType<typeof poolController>>>;
type OwnedBy<C> = C extends Controller<infer _Kind, infer Owned> ? Owned : never;

function reconciled(spec: PoolSpec, given: Given = {}, status?: PoolStatus) {
  const clock = new ManualClock(Date.parse("2026-11-16T10:00:00Z"));
  const credentials = new CredentialStore({
    operatorNamespace: "buildkit-system",
    clock,
    random: seededRandom(1),
  });
  const controller = poolController({
    credentials,
    gatewayImage: "windlass/buildkit:dev",
    operatorNamespace: "buildkit-system",
    apiNames: [],
  });
  const pool = BuildKitPool.make({ ...key, uid: "1" }, spec, status);
  return testReconcile(controller, pool, given);
}

describe("the gateway", () => {
  test("runs as the operator's image, knows its pool, and reads workers alone", async () => {
    const { child } = await reconciled({});
    const deployment = child(Deployment);
    expect(deployment?.metadata.name).toBe("ci-gateway");
    const pod = deployment?.spec?.template.spec;
    expect(pod).toMatchObject({
      serviceAccountName: "ci-gateway",
      securityContext: { runAsNonRoot: true },
      terminationGracePeriodSeconds: 3_630,
    });
    expect(pod?.containers[0]).toMatchObject({
      image: "windlass/buildkit:dev",
      args: [
        "main.js",
        "gateway",
        "--pool-name=ci",
        "--pool-namespace=builds",
        "--listen-addr=0.0.0.0:1235",
        "--metrics-addr=0.0.0.0:9090",
        "--drain-timeout=1h",
      ],
      resources: { requests: { cpu: "50m", memory: "64Mi" }, limits: { cpu: "200m", memory: "256Mi" } },
      readinessProbe: { httpGet: { path: "/readyz", port: "metrics" } },
    });
    expect(pod?.volumes?.map(({ secret }) => secret?.secretName)).toEqual([
      "ci-tls",
      "ci-client-certs",
      "ci-token-keys",
    ]);
    expect(child(Role, "ci-gateway")?.rules).toEqual([
      {
        apiGroups: ["buildkit.smrt-devops.net"],
        resources: ["buildkitworkers"],
        verbs: ["get", "list", "watch"],
      },
      {
        apiGroups: [""],
        resources: ["configmaps"],
        resourceNames: ["ci-revocations"],
        verbs: ["get", "list", "watch"],
      },
    ]);
    expect(child(ServiceAccount)?.metadata.name).toBe("ci-gateway");
    expect(child(PodDisruptionBudget)).toBeUndefined();
  });

  test("has a disruption budget if it has several replicas, and asks for no more than it may use", async () => {
    const { child } = await reconciled({
      gateway: { replicas: 3, resources: { cpu: "20m", memory: "1Gi" } },
    });
    expect(child(PodDisruptionBudget)?.spec).toMatchObject({ maxUnavailable: 1 });
    expect(child(Deployment)?.spec).toMatchObject({
      replicas: 3,
      template: {
        spec: {
          containers: [
            {
              resources: { requests: { cpu: "20m", memory: "64Mi" }, limits: { cpu: "20m", memory: "1Gi" } },
            },
          ],
        },
      },
    });
  });

  test("is left out where it is disabled, with all that belongs to it", async () => {
    const { children, child, status } = await reconciled({ gateway: { enabled: false } });
    expect(children.map(({ kind }) => kind.kind).toSorted()).toEqual([
      "ConfigMap",
      "ConfigMap",
      "NetworkPolicy",
      "Role",
      "RoleBinding",
      "Secret",
      "Secret",
      "Secret",
    ]);
    expect(child(Service)).toBeUndefined();
    expect(status?.conditions).toContainEqual(
      expect.objectContaining({ type: "Ready", reason: "GatewayDisabled" }),
    );
  });
});

describe("the Service", () => {
  test("shows the port of clients alone, and metrics to no client outside", async () => {
    const { child } = await reconciled({});
    expect(child(Service)?.metadata.name).toBe("ci");
    expect(child(Service)?.spec).toMatchObject({
      type: "ClusterIP",
      ports: [{ name: "gateway", port: 1_235 }],
    });
    expect(child(Service)?.spec?.ports).toHaveLength(1);
  });

  test("is what the pool says of its type, port, addresses and annotations", async () => {
    const { child, status } = await reconciled(
      {
        networking: { port: 4_000, annotations: { a: "1" }, allowedCIDRs: ["10.0.0.0/8"] },
        gateway: {
          serviceType: "LoadBalancer",
          port: 4_443,
          nodePort: 30_100,
          loadBalancerClass: "example.com/lb",
        },
      },
      {
        owned: [
          existing(Service, {
            metadata: key,
            status: { loadBalancer: { ingress: [{ ip: "203.0.113.7" }] } },
          }),
        ],
      },
    );
    expect(child(Service)).toMatchObject({
      metadata: { annotations: { a: "1" } },
      spec: {
        type: "LoadBalancer",
        loadBalancerClass: "example.com/lb",
        loadBalancerSourceRanges: ["10.0.0.0/8"],
        externalTrafficPolicy: "Local",
        ports: [{ port: 4_443, nodePort: 30_100 }],
      },
    });
    expect(status).toMatchObject({
      endpoint: "tcp://ci.builds.svc:4443",
      externalEndpoint: "tcp://203.0.113.7:4443",
    });
  });

  test("an external name is the endpoint outside, and an Ingress leads to it where one is wanted", async () => {
    const external = { enabled: true, hostname: "builds.example.com", annotations: { dns: "yes" } };
    const named = await reconciled({ networking: { external } });
    expect(named.status?.externalEndpoint).toBe("tcp://builds.example.com:1235");
    expect(named.child(Service)?.metadata.annotations).toEqual({ dns: "yes" });
    const ingress = { enabled: true, hostname: "in.example.com", ingressClassName: "nginx" };
    const routed = await reconciled({ gateway: { ingress } });
    expect(routed.child(Ingress)?.spec).toMatchObject({
      ingressClassName: "nginx",
      rules: [{ host: "in.example.com" }],
    });
    expect(routed.status?.externalEndpoint).toBe("tcp://in.example.com:443");
  });
});

test("the allocation API may read the Secrets that the pool names, and no others", async () => {
  const { children } = await reconciled({
    auth: { methods: [{ type: "token", token: { secretRef: "team-tokens" } }] },
  });
  const named = (kind: string) =>
    children.find(({ kind: one, object }) => one.kind === kind && object.metadata?.name === "ci-api")?.object;
  expect(named("Role")).toMatchObject({
    rules: expect.arrayContaining([
      {
        apiGroups: [""],
        resources: ["secrets"],
        resourceNames: ["ci-tls", "ci-token-keys", "team-tokens"],
        verbs: ["get"],
      },
    ]),
  });
  expect(named("RoleBinding")).toMatchObject({
    subjects: [{ kind: "ServiceAccount", name: "buildkit-controller-api", namespace: "buildkit-system" }],
  });
});

test("workers are reached by their gateway and by the operator, and by no other pod", async () => {
  const { child } = await reconciled({});
  expect(child(NetworkPolicy)?.spec).toEqual({
    podSelector: {
      matchLabels: {
        "app.kubernetes.io/name": "buildkit-worker",
        "app.kubernetes.io/managed-by": "buildkit-operator",
        "buildkit.smrt-devops.net/pool": "ci",
        "buildkit.smrt-devops.net/worker": "true",
      },
    },
    policyTypes: ["Ingress"],
    ingress: [
      {
        from: [
          {
            podSelector: {
              matchLabels: {
                "app.kubernetes.io/name": "buildkit-gateway",
                "buildkit.smrt-devops.net/pool": "ci",
              },
            },
          },
          {
            namespaceSelector: { matchLabels: { "kubernetes.io/metadata.name": "buildkit-system" } },
            podSelector: { matchLabels: { "app.kubernetes.io/name": "buildkit-controller" } },
          },
        ],
        ports: [{ port: 1_234, protocol: "TCP" }],
      },
    ],
  });
});

test("the Gateway API has a Gateway and a TLSRoute that passes TLS through", async () => {
  const gatewayAPI = { enabled: true, hostname: "builds.example.com", gatewayClassName: "envoy" };
  const { writes, status } = await reconciled({ gateway: { gatewayAPI } });
  const applied = writes.filter(({ verb }) => verb === "apply");
  expect(applied.map(({ body }) => body)).toMatchObject([
    {
      kind: "Gateway",
      metadata: { name: "ci-gateway" },
      spec: {
        gatewayClassName: "envoy",
        listeners: [{ protocol: "TLS", port: 1_235, tls: { mode: "Passthrough" } }],
      },
    },
    {
      apiVersion: "gateway.networking.k8s.io/v1",
      kind: "TLSRoute",
      metadata: { name: "ci-tlsroute" },
      spec: { hostnames: ["builds.example.com"], rules: [{ backendRefs: [{ name: "ci", port: 1_235 }] }] },
    },
  ]);
  expect(status?.conditions).toContainEqual(expect.objectContaining({ type: "RouteReady", status: "True" }));
  expect(status?.externalEndpoint).toBe("tcp://builds.example.com:1235");
});

test("a route attaches to a Gateway that exists", async () => {
  const gatewayAPI = {
    enabled: true,
    hostname: "b.example.com",
    gatewayRef: { name: "edge", namespace: "edge" },
  };
  const { writes } = await reconciled({ gateway: { gatewayAPI } });
  expect(writes.filter(({ verb }) => verb === "apply").map(({ body }) => body)).toMatchObject([
    { kind: "TLSRoute", spec: { parentRefs: [{ name: "edge", namespace: "edge" }] } },
  ]);
});

describe("objects of the Gateway API", () => {
  const gatewayAPI = { enabled: true, hostname: "builds.example.com", gatewayClassName: "envoy" };
  const object = (kind: string, name: string, own: boolean) => ({
    kind: {
      group: "gateway.networking.k8s.io",
      version: "v1",
      kind,
      plural: `${kind.toLowerCase()}s`,
      scope: "Namespaced" as const,
    },
    object: {
      apiVersion: "gateway.networking.k8s.io/v1",
      kind,
      metadata: {
        namespace: key.namespace,
        name,
        uid: `${kind} ${name}`,
        labels: { "buildkit.smrt-devops.net/pool": "ci" },
        ...(own && { ownerReferences: [controllerReference(BuildKitPool, pool)] }),
      },
    },
  });
  const pool = BuildKitPool.make({ ...key, uid: "1" }, {});
  const madeBefore = {
    conditions: [
      {
        type: "RouteReady",
        status: "True",
        reason: "RouteMade",
        message: "",
        lastTransitionTime: "2026-01-01T00:00:00Z",
      },
    ],
  } as const;
  const written = (writes: readonly { verb: string; kind: { kind: string }; key: { name?: string } }[]) =>
    writes
      .filter(({ kind }) => kind.kind !== "Secret")
      .map((one) => `${one.verb} ${one.kind.kind} ${one.key.name}`);

  test.for([
    ["Gateway", "ci-gateway"],
    ["TLSRoute", "ci-tlsroute"],
  ] as const)("that others have made are left alone, and reported: %s", async ([kind, name]) => {
    const { writes, status, child } = await reconciled(
      { gateway: { gatewayAPI } },
      { cache: [object(kind, name, false)] },
    );
    expect(written(writes)).not.toContain(`apply ${kind} ${name}`);
    expect(status?.conditions).toContainEqual(
      expect.objectContaining({
        type: "RouteReady",
        status: "False",
        reason: "RouteNameTaken",
        message: expect.stringContaining(`${kind} builds/${name} exists`),
      }),
    );
    expect(child(Deployment)).toBeDefined();
  });

  test("that others have made are not deleted where none is wanted any more", async () => {
    const cache = [object("Gateway", "ci-gateway", false), object("TLSRoute", "ci-tlsroute", false)];
    const { writes } = await reconciled({}, { cache }, madeBefore);
    expect(written(writes)).toEqual([]);
  });

  test("of the pool are deleted where none is wanted any more", async () => {
    const cache = [object("Gateway", "ci-gateway", true), object("TLSRoute", "ci-tlsroute", true)];
    const { writes, status } = await reconciled({}, { cache }, madeBefore);
    expect(written(writes).toSorted()).toEqual(["delete Gateway ci-gateway", "delete TLSRoute ci-tlsroute"]);
    expect(status?.conditions?.map(({ type }) => type)).not.toContain("RouteReady");
  });

  test.for([
    [
      "another name",
      { gatewayName: "edge" },
      ["apply Gateway edge", "apply TLSRoute ci-tlsroute", "delete Gateway ci-gateway"],
    ],
    [
      "a Gateway that exists",
      { gatewayRef: { name: "edge" } },
      ["apply TLSRoute ci-tlsroute", "delete Gateway ci-gateway"],
    ],
  ] as const)("are replaced where the pool names %s", async ([, change, expected]) => {
    const cache = [object("Gateway", "ci-gateway", true)];
    const { writes } = await reconciled(
      { gateway: { gatewayAPI: { ...gatewayAPI, ...change } } },
      { cache },
      madeBefore,
    );
    expect(written(writes)).toEqual(expected);
  });
});

test("workers reach everything but the addresses that the pool denies, and DNS", async () => {
  expect((await reconciled({})).child(NetworkPolicy, "ci-workers-egress")).toBeUndefined();
  const { child } = await reconciled({
    networking: { deniedEgressCIDRs: ["169.254.169.254/32", "10.0.0.0/8", "fd00::/8"] },
  });
  expect(child(NetworkPolicy, "ci-workers-egress")?.spec).toMatchObject({
    podSelector: child(NetworkPolicy, "ci-workers")?.spec?.podSelector,
    policyTypes: ["Egress"],
    egress: [
      {
        to: [
          { ipBlock: { cidr: "0.0.0.0/0", except: ["169.254.169.254/32", "10.0.0.0/8"] } },
          { ipBlock: { cidr: "::/0", except: ["fd00::/8"] } },
        ],
      },
      {
        ports: [
          { port: 53, protocol: "UDP" },
          { port: 53, protocol: "TCP" },
        ],
      },
    ],
  });
});

test("metrics of gateways are for the namespaces that the pool names, clients are not held to them", async () => {
  const { child } = await reconciled({ observability: { metrics: { allowedNamespaces: ["monitoring"] } } });
  expect(child(NetworkPolicy, "ci-gateway")?.spec?.ingress).toEqual([
    { ports: [{ port: 1_235, protocol: "TCP" }] },
    {
      from: [{ namespaceSelector: { matchLabels: { "kubernetes.io/metadata.name": "monitoring" } } }],
      ports: [{ port: 9_090, protocol: "TCP" }],
    },
  ]);
});

test.for([
  ["NodePort", ["10.0.0.0/8"], "Local"],
  ["NodePort", [], undefined],
  ["ClusterIP", ["10.0.0.0/8"], undefined],
] as const)(
  "a Service of type %s for %j keeps the addresses of clients: %s",
  async ([serviceType, allowedCIDRs, policy]) => {
    const { child } = await reconciled({ networking: { serviceType, allowedCIDRs } });
    expect(child(Service)?.spec?.externalTrafficPolicy).toBe(policy);
  },
);

test("cache backends are sent to clients in the words of buildctl and buildx", async () => {
  const { status } = await reconciled({
    cache: {
      backends: [
        { type: "registry", registry: { endpoint: "r.example.com/cache" } },
        { type: "s3", s3: { bucket: "cache", region: "eu-west-1", endpoint: "https://s3.example.com" } },
      ],
    },
  });
  expect(status?.cacheOptions).toEqual({
    import: [
      "type=registry,ref=r.example.com/cache",
      "type=s3,bucket=cache,region=eu-west-1,endpoint_url=https://s3.example.com,use_path_style=true",
    ],
    export: [
      "type=registry,ref=r.example.com/cache,mode=max,compression=zstd,ignore-error=true",
      "type=s3,bucket=cache,region=eu-west-1,endpoint_url=https://s3.example.com,use_path_style=true,mode=max,ignore-error=true",
    ],
  });
});

test("fields of the original that mean nothing are named, so that no user relies on them", async () => {
  const { status } = await reconciled({
    scaling: { targetCPUUtilization: 70 },
    tls: { enabled: false },
    cache: { gc: { schedule: "0 2 * * *" } },
    auth: { methods: [{ type: "mtls", mtls: { clientCASecret: "theirs" } }] },
  });
  expect(status?.conditions).toContainEqual(
    expect.objectContaining({
      type: "FieldsIgnored",
      message:
        "these fields have no effect: spec.scaling.targetCPUUtilization, spec.cache.gc.schedule, spec.tls.enabled, spec.auth.methods[].mtls.clientCASecret",
    }),
  );
  const { status: plain } = await reconciled({});
  expect(plain?.conditions?.map(({ type }) => type)).toEqual([
    "Ready",
    "GatewayReady",
    "CertificatesReady",
    "CapacityAvailable",
  ]);
});

test("a certificate that a person owes is a condition, and everything else of the pool is made", async () => {
  const { status, child } = await reconciled({
    tls: { mode: "manual", manual: { serverCertSecret: "theirs", caSecret: "their-ca" } },
  });
  expect(status).toMatchObject({ phase: "Failed" });
  expect(status?.conditions).toContainEqual(
    expect.objectContaining({
      type: "CertificatesReady",
      status: "False",
      reason: "CertificateMissing",
      message: expect.stringContaining("theirs"),
    }),
  );
  for (const name of ["ci-token-keys", "ci-client-certs"]) expect(child(Secret, name)).toBeDefined();
  expect(child(Secret, "ci-tls")).toBeUndefined();
  expect(child(Deployment)).toBeDefined();
});

test("the metrics have the original's names, by pool and phase", async () => {
  const { metrics } = await reconciled({});
  const text = metrics.render();
  for (const phase of ["pending", "provisioning", "idle", "allocated", "running", "terminating", "failed"])
    expect(text).toContain(`buildkit_workers_total{pool="ci",namespace="builds",phase="${phase}"} 0`);
  expect(text).toContain('buildkit_queue_length{pool="ci",namespace="builds"} 0');
});

test("the workers' configuration is there before them", async () => {
  const { child, children } = await reconciled({ maxParallelism: 3 });
  expect(child(ConfigMap, "ci-config")?.data?.["buildkitd.toml"]).toContain("max-parallelism = 3");
  expect(children.filter(({ kind }) => kind === Secret)).toHaveLength(3);
});
