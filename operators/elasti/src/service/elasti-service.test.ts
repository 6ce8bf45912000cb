import { ApiError, type ResourceKind } from "@windlass/client";
import { startCluster, type TestCluster } from "@windlass/testing";
import { afterAll, beforeAll, expect, test } from "vitest";
import { ElastiService } from "./elasti-service.ts";
import { privateServiceName, resolverSliceName } from "./names.ts";

/** For manifests that the compiler should not check: the server is asked. */
const { group, version, kind, plural, scope } = ElastiService;
const untyped: ResourceKind = { group, version, kind, plural, scope };

let cluster: TestCluster;
let namespace: string;

beforeAll(async () => {
  cluster = await startCluster();
  await cluster.install(ElastiService);
  namespace = await cluster.createNamespace();
}, 60_000);
afterAll(() => cluster.close());

const deployment = { apiVersion: "apps/v1", kind: "Deployment", name: "web" };
const minimal = { scaleTargetRef: deployment, service: "web" };
const prometheus = {
  type: "prometheus",
  metadata: {
    query: "sum(rate(nginx_ingress_controller_nginx_process_requests_total[1m])) or vector(0)",
    serverAddress: "http://kube-prometheus-stack-prometheus.monitoring.svc.cluster.local:9090",
    threshold: "0.5",
    uptimeFilter: 'container="prometheus"',
    headers: { "X-Scope-OrgID": "tenant" },
  },
};

/** The forms of ElastiService that the original's documentation and tests use. */
const originals = {
  "with a Deployment by its old name": {
    minTargetReplicas: 1,
    service: "target-deployment",
    cooldownPeriod: 5,
    scaleTargetRef: { apiVersion: "apps/v1", kind: "deployments", name: "target-deployment" },
    triggers: [prometheus],
  },
  "with a Rollout and KEDA": {
    minTargetReplicas: 2,
    service: "target-rollout",
    cooldownPeriod: 300,
    scaleTargetRef: { apiVersion: "argoproj.io/v1alpha1", kind: "rollouts", name: "target-rollout" },
    triggers: [prometheus],
    autoscaler: { name: "target-scaled-object", type: "keda" },
  },
  "with a StatefulSet, an HPA and a period": {
    service: "httpbin",
    scaleTargetRef: { apiVersion: "apps/v1", kind: "StatefulSet", name: "httpbin" },
    autoscaler: { name: "httpbin", type: "hpa" },
    enabledPeriod: { schedule: "0 9 * * 1-5", duration: "8h" },
    triggers: [prometheus],
  },
  "with answers to probes": {
    ...minimal,
    service: "probed",
    probeResponse: [
      {
        method: "GET",
        path: { type: "Exact", value: "/healthz" },
        headers: [{ name: "User-Agent", value: "^kube-probe/.*$", type: "RegularExpression" }],
        queryParams: [{ name: "verbose", value: "1" }],
        response: { status: 200, body: '{"status":"ok"}' },
      },
    ],
  },
};

test.for(Object.entries(originals))("a manifest of the original %s applies", async ([, spec]) => {
  const metadata = { namespace, name: spec.service };
  const stored = await cluster.client.create(
    untyped,
    { metadata, spec },
    {
      fieldValidation: "Strict",
    },
  );
  expect(stored.spec).toMatchObject(spec);
});

test("what is left out has a default that works", async () => {
  const { spec } = await cluster.client.create(ElastiService, {
    metadata: { namespace, name: "defaults" },
    spec: { ...minimal, enabledPeriod: {} },
  });
  expect(spec).toMatchObject({
    minTargetReplicas: 1,
    cooldownPeriod: 900,
    onDelete: "Restore",
    enabledPeriod: { schedule: "0 0 * * *", duration: "24h", timeZone: "UTC" },
  });
});

const trigger = (type: string, metadata?: object) => ({
  triggers: [{ type, ...(metadata && { metadata }) }],
});
const target = (part: object) => ({ scaleTargetRef: { ...deployment, ...part } });
const malformed = { name: "x", type: "RegularExpression", value: "[z-a]" };
const probed = (part: object) => ({ probeResponse: [{ response: { status: 200, body: "" }, ...part }] });
const bad: readonly (readonly [field: string, spec: object])[] = [
  ["spec.scaleTargetRef.apiVersion", target({ apiVersion: "argoproj.io/v1alpha1" })],
  ["spec.scaleTargetRef.apiVersion", target({ kind: "Rollout" })],
  ["spec.scaleTargetRef.kind", target({ kind: "de ployment" })],
  ["spec.scaleTargetRef.name", target({ name: "" })],
  ["spec.service", { service: "Web" }],
  ["spec.minTargetReplicas", { minTargetReplicas: 0 }],
  ["spec.maxTargetReplicas", { minTargetReplicas: 3, maxTargetReplicas: 2 }],
  ["spec.cooldownPeriod", { cooldownPeriod: -1 }],
  ["spec.cooldownPeriod", { cooldownPeriod: 604_801 }],
  ["spec.triggers", { triggers: [] }],
  ["spec.triggers[0].type", trigger("cpu")],
  ["spec.triggers[0].metadata", trigger("prometheus", { query: "up" })],
  ["spec.triggers[0].metadata", trigger("http", { url: "http://x" })],
  ["spec.triggers[0].metadata", trigger("schedule")],
  ["spec.triggers[0].metadata.threshold", trigger("prometheus", { query: "up", threshold: "much" })],
  [
    "spec.triggers[0].metadata.serverAddress",
    trigger("prometheus", { query: "up", threshold: 1, serverAddress: "x" }),
  ],
  [
    "spec.triggers[0].metadata.url",
    trigger("http", { url: "http://a b/", valueLocation: "x", threshold: 1 }),
  ],
  ["spec.triggers[0].metadata.start", trigger("schedule", { start: "at nine", end: "0 18 * * *" })],
  ["spec.enabledPeriod.schedule", { enabledPeriod: { schedule: "nightly" } }],
  ["spec.enabledPeriod.duration", { enabledPeriod: { duration: "8 hours" } }],
  ["spec.enabledPeriod.timeZone", { enabledPeriod: { timeZone: "Europe Berlin" } }],
  ["spec.autoscaler.type", { autoscaler: { type: "vpa", name: "x" } }],
  ["spec.probeResponse[0].response.status", { probeResponse: [{ response: { status: 418, body: "" } }] }],
  ["spec.probeResponse[0].path", probed({ path: { type: "RegularExpression", value: "(" } })],
  ["spec.probeResponse[0].headers[0]", probed({ headers: [malformed] })],
  ["spec.probeResponse[0].queryParams[0]", probed({ queryParams: [malformed] })],
  ["spec.onDelete", { onDelete: "Forget" }],
  ["spec.dependsOn", { dependsOn: ["refused"] }],
  ["spec.hold.timeoutSeconds", { hold: { timeoutSeconds: 0 } }],
];

test.for(bad)("%s is refused in %j", async ([field, spec]) => {
  const metadata = { namespace, name: "refused" };
  const creating = cluster.client.create(untyped, { metadata, spec: { ...minimal, ...spec } });
  const error = await creating.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(ApiError);
  expect((error as ApiError).message).toContain(field);
});

test("objects have the names that the original gives them", () => {
  expect(privateServiceName("target-deployment")).toBe("elasti-target-deployment-pvt-9696239e87");
  expect(privateServiceName("httpbin")).toBe("elasti-httpbin-pvt-abbea20e59");
  expect(resolverSliceName("service")).toBe("elasti-service-endpointslice-to-resolver-9df6b026a8");
});

test("the longest name of a Service gives names that Kubernetes takes", () => {
  const longest = "a".repeat(63);
  expect(privateServiceName(longest)).toHaveLength(63);
  expect(privateServiceName(longest)).not.toBe(privateServiceName("a".repeat(62)));
  expect(resolverSliceName(longest).length).toBeLessThanOrEqual(253);
});
