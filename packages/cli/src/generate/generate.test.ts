import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { defineResource } from "@windlass/runtime";
import fc from "fast-check";
import { loadAll } from "js-yaml";
import { afterEach, expect, test, vi } from "vitest";
import { z } from "zod";
import { generatedFiles } from "./files.ts";
import { asValue, inText, templateFile } from "./helm-template.ts";
import { defineOperator, type OperatorDeclaration } from "./operator.ts";
import { relayOperator } from "./relay-operator.fixture.ts";
import { resolveOperator } from "./resolve.ts";

afterEach(() => vi.unstubAllEnvs());

interface Loaded {
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly namespace?: string };
  // biome-ignore lint/suspicious/noExplicitAny: whatever the object has
  readonly [field: string]: any;
}

const files = generatedFiles(resolveOperator(relayOperator, "1.2.3"));

function fileOf(path: string): string {
  const text = files.get(path);
  if (text === undefined) throw new Error(`${path} is not among ${[...files.keys()].join(", ")}`);
  return text;
}

function object(path: string, kind: string, name: string): Loaded {
  const found = (loadAll(fileOf(path)) as Loaded[]).find(
    (one) => one.kind === kind && one.metadata.name === name,
  );
  if (found === undefined) throw new Error(`${path} has no ${kind} ${name}`);
  return found;
}

test("each component has a Deployment, a Service, an account and roles of its own", () => {
  const { spec } = object("config/base/gateway.yaml", "Deployment", "relay-operator-gateway");
  expect(spec.replicas).toBe(3);
  expect(spec.template.spec.serviceAccountName).toBe("relay-operator-gateway");
  expect(spec.template.spec.volumes).toEqual([{ name: "scratch", emptyDir: {} }]);
  const [container] = spec.template.spec.containers;
  expect(container).toMatchObject({
    image: "registry.acme.io:5000/relay:1.2.3",
    args: ["gateway.js", "--verbose"],
    readinessProbe: { httpGet: { path: "/readyz", port: "health" } },
    volumeMounts: [{ name: "scratch", mountPath: "/tmp" }],
    securityContext: { readOnlyRootFilesystem: true },
  });
  expect(container.env).toEqual(
    expect.arrayContaining([
      { name: "METRICS_BIND_ADDRESS", value: ":9090" },
      { name: "HEALTH_PROBE_BIND_ADDRESS", value: ":9091" },
      { name: "MAX_CONNECTIONS", value: "1000000" },
      { name: "BANNER", value: 'say "hello"' },
    ]),
  );
  expect(object("config/base/gateway.yaml", "Service", "relay-operator-gateway").spec).toEqual({
    type: "LoadBalancer",
    selector: { "app.kubernetes.io/name": "relay-operator-gateway" },
    ports: [
      { name: "relay", port: 1235, targetPort: "relay" },
      { name: "lookup", port: 53, targetPort: "lookup", protocol: "UDP" },
    ],
  });
  const may = object("config/base/rbac.yaml", "ClusterRole", "relay-operator-gateway");
  expect(may.rules.flatMap((rule: { resources: string[] }) => rule.resources)).not.toContain("services");
  expect(object("config/base/rbac.yaml", "Role", "relay-operator-gateway-additional").rules).toEqual([
    { apiGroups: [""], resources: ["secrets"], verbs: ["get"], resourceNames: ["relay-operator-keys"] },
  ]);
});

test("a twin is the same program in a container of its own, with ports of its own", () => {
  const { spec } = object("config/base/gateway.yaml", "Deployment", "relay-operator-gateway");
  const [first, twin, ...others] = spec.template.spec.containers;
  expect(others).toEqual([]);
  expect([first.name, twin.name]).toEqual(["gateway", "gateway-twin"]);
  for (const field of ["image", "args", "resources", "volumeMounts", "securityContext"])
    expect(twin[field]).toEqual(first[field]);
  expect(twin.ports).toEqual([
    { name: "metrics-twin", containerPort: 9092 },
    { name: "health-twin", containerPort: 9093 },
    { name: "control", containerPort: 7001 },
  ]);
  expect(twin.readinessProbe.httpGet).toEqual({ path: "/readyz", port: "health-twin" });
  const own = new Set(["METRICS_BIND_ADDRESS", "HEALTH_PROBE_BIND_ADDRESS", "CONTROL_PORT"]);
  const common = ({ env }: Loaded) => env.filter(({ name }: { name: string }) => !own.has(name));
  expect(common(twin)).toEqual(common(first));
  expect(twin.env).toEqual(
    expect.arrayContaining([
      { name: "METRICS_BIND_ADDRESS", value: ":9092" },
      { name: "HEALTH_PROBE_BIND_ADDRESS", value: ":9093" },
      { name: "CONTROL_PORT", value: "7001" },
    ]),
  );
  const service = object("config/base/gateway.yaml", "Service", "relay-operator-gateway-metrics");
  expect(service.spec.ports).toEqual([
    { name: "metrics", port: 9090, targetPort: "metrics" },
    { name: "metrics-twin", port: 9092, targetPort: "metrics-twin" },
  ]);
  const monitor = object(
    "config/monitoring/service-monitor.yaml",
    "ServiceMonitor",
    "relay-operator-gateway",
  );
  expect(monitor.spec.endpoints).toEqual([{ port: "metrics" }, { port: "metrics-twin" }]);
});

test("a component that declares no rights has no roles and no token", () => {
  const { spec } = object("config/base/log-sink.yaml", "Deployment", "relay-operator-log-sink");
  expect(spec.template.spec.automountServiceAccountToken).toBe(false);
  expect(spec.template.spec.containers[0].readinessProbe).toBeUndefined();
  expect(fileOf("config/base/rbac.yaml")).not.toMatch(/Role[\s\S]{0,40}name: relay-operator-log-sink/);
});

test("the pods of one component are not selected by what is another's", () => {
  const selected = (
    loadAll(
      [...files].map(([path, text]) => (path.startsWith("config/base") ? text : "")).join("---\n"),
    ) as Loaded[]
  )
    .filter((one) => ["Deployment", "PodDisruptionBudget", "NetworkPolicy"].includes(one?.kind))
    .map(({ kind, metadata, spec }) => [
      kind,
      metadata.name,
      (spec.selector ?? spec.podSelector).matchLabels,
    ]);
  for (const [, name, labels] of selected) expect(labels).toEqual({ "app.kubernetes.io/name": name });
  expect(selected).toHaveLength(9);
});

test("traffic is limited to what is declared", () => {
  const policy = object("config/base/network.yaml", "NetworkPolicy", "relay-operator-gateway").spec;
  expect(policy.ingress[0].ports.map((one: { port: number }) => one.port)).toEqual([
    9090, 9091, 1235, 5353, 7000, 20_000, 9092, 9093, 7001,
  ]);
  expect(policy.ingress[0].ports).toContainEqual({ port: 20_000, endPort: 20_999, protocol: "TCP" });
  expect(policy.egress[0].ports).toContainEqual({ port: 1234, protocol: "TCP" });
  const open = object("config/base/network.yaml", "NetworkPolicy", "relay-operator-log-sink").spec;
  expect(open.egress).toEqual([{}]);
});

test("the chart's values have descriptions and a schema that refuses what means nothing", () => {
  expect(fileOf("chart/values.yaml")).toContain(`gateway:
  # How many pods of the gateway run
  replicas: 3
`);
  expect(fileOf("chart/values.yaml")).toContain(
    "  limits:\n    # Connections at a time\n    connections: 1000000\n",
  );
  const schema = JSON.parse(fileOf("chart/values.schema.json"));
  expect(schema.additionalProperties).toBe(false);
  expect(schema.properties.gateway.properties.limits.properties.connections).toMatchObject({
    type: "integer",
    minimum: 1,
  });
  expect(schema.properties.logSink.properties.replicas).toEqual({
    description: "How many pods of the log-sink run",
    type: "integer",
    minimum: 0,
  });
  // Helm prints large numbers with an exponent, unless they are printed as JSON.
  expect(fileOf("chart/templates/generated/gateway.yaml")).toContain(
    "value: {{ .Values.gateway.limits.connections | toJson | quote }}",
  );
});

test("alerts and graphs use metrics that exist, of the operator alone", async () => {
  const reference = join(import.meta.dirname, "..", "..", "..", "..", "docs", "reference", "metrics.md");
  const documented = new Set(
    [...(await readFile(reference, "utf8")).matchAll(/^\| `(\w+)`/gm)].map(([, name]) => name),
  );
  const { spec } = object("config/monitoring/prometheus-rule.yaml", "PrometheusRule", "relay-operator");
  const alerts = spec.groups.flatMap((group: { rules: { expr: string }[] }) =>
    group.rules.map(({ expr }) => expr),
  );
  const { data } = object("config/monitoring/dashboard.yaml", "ConfigMap", "relay-operator-dashboard");
  const { panels } = JSON.parse(data["relay-operator.json"]) as { panels: { targets: { expr: string }[] }[] };
  const expressions: string[] = [
    ...alerts,
    ...panels.flatMap(({ targets }) => targets.map(({ expr }) => expr)),
  ];
  const own = new Set(["up", "relay_refused_total", "relay_bytes"]);
  for (const expression of expressions) {
    const names = [...expression.matchAll(/(\w+)\{namespace="relay-system",job/g)].map(
      ([, name = ""]) => name,
    );
    expect(names, expression).not.toEqual([]);
    const unknown = names.filter((name) => !own.has(name) && !documented.has(name.replace(/_bucket$/, "")));
    expect(unknown, expression).toEqual([]);
  }
  expect(expressions.length).toBeGreaterThan(15);
});

test("a setting that all have in common is one value, and reaches each of them", () => {
  const region = { name: "REGION", value: "eu" };
  for (const [file, name] of [
    ["manager", "relay-operator"],
    ["gateway", "relay-operator-gateway"],
    ["log-sink", "relay-operator-log-sink"],
  ] as const) {
    const { spec } = object(`config/base/${file}.yaml`, "Deployment", name);
    expect(spec.template.spec.containers[0].env).toContainEqual(region);
    expect(fileOf(`chart/templates/generated/${file}.yaml`)).toContain("{{ .Values.region | quote }}");
  }
  expect(fileOf("chart/values.yaml").match(/^ *region: eu$/gm)).toHaveLength(1);
});

test("pods that the operator makes are scraped wherever they are", () => {
  const { metadata, spec } = object(
    "config/monitoring/service-monitor.yaml",
    "PodMonitor",
    "relay-operator-relays",
  );
  expect(metadata.namespace).toBe("relay-system");
  expect(spec).toEqual({
    namespaceSelector: { any: true },
    selector: { matchLabels: { "net.acme.io/role": "relay" } },
    podMetricsEndpoints: [{ port: "metrics" }],
  });
});

test("the same code gives the same files, wherever it runs", () => {
  vi.stubEnv("POD_NAMESPACE", "elsewhere");
  expect(generatedFiles(resolveOperator(relayOperator, "1.2.3"))).toEqual(files);
});

/** What Helm makes of a template that has no other expressions than ours. */
function rendered(template: string, values: Readonly<Record<string, string>>): unknown {
  const text = template.replaceAll(/\{\{ (?:`(\{\{)`|([^`}]+)) \}\}/g, (_, braces, expression) =>
    braces === undefined ? (values[expression] ?? "?") : braces,
  );
  return loadAll(text);
}

test("a template renders to the objects that it was made from, whatever texts they have", () => {
  const text = fc.oneof(
    fc.string(),
    fc.string({ unit: fc.constantFrom("{", "}", '"', "'", "`", ":", " ", "#", "a", "\n", "-", "\\") }),
  );
  const tree = fc.letrec((node) => ({
    tree: fc.oneof(
      text,
      fc.integer(),
      fc.boolean(),
      fc.array(node("tree"), { maxLength: 3 }),
      fc.dictionary(fc.stringMatching(/^[a-z{]{1,8}$/), node("tree"), { maxKeys: 3 }),
    ),
  })).tree;
  fc.assert(
    fc.property(
      fc.array(fc.dictionary(fc.stringMatching(/^[a-z]+$/), tree), { minLength: 1, maxLength: 3 }),
      (objects) => {
        const written = objects.map((one) => ({
          ...one,
          name: `in ${inText(".Release.Namespace")}`,
          n: asValue("int .Values.n"),
        }));
        const expected = objects.map((one) => ({ ...one, name: "in shop", n: 3 }));
        expect(
          rendered(templateFile(written), { ".Release.Namespace": "shop", "int .Values.n": "3" }),
        ).toEqual(JSON.parse(JSON.stringify(expected)));
      },
    ),
  );
});

const kindOf = (group: string) => defineResource({ group, version: "v1", kind: "Shop", spec: z.object({}) });
const minimal: OperatorDeclaration = {
  name: "shop-operator",
  description: "Shops",
  kinds: [],
  controllers: [],
};

test("an operator that declares little gets the rest by default", () => {
  const operator = resolveOperator(defineOperator(minimal), "0.3.0");
  expect(operator).toMatchObject({
    namespace: "shop-system",
    image: { repository: "shop-operator", tag: "0.3.0" },
    lease: "shop-operator",
    manager: { replicas: 2 },
  });
  expect([...generatedFiles(operator).keys()]).not.toContain("config/base/webhook.yaml");
});

test.for<[Partial<OperatorDeclaration>, string]>([
  [{ name: "Shop" }, "name:"],
  [{ image: "shop" }, "image:"],
  [{ image: "shop:latest" }, "image:"],
  [{ ports: { metrics: 1 } }, "ports.metrics:"],
  [{ ports: { api: 70_000 } }, "ports.api: 70000 is no port"],
  [{ ports: { api: { port: 20, endPort: 10 } } }, "ports.api: endPort 10 must not be below port 20"],
  [{ ports: { api: { port: 20, endPort: 30, service: 20 } } }, "ports.api: no Service can lead to a range"],
  [{ components: { Gateway: {} } }, "components.Gateway:"],
  [
    { ports: { api: 80 }, twin: { metricsPort: 1, healthPort: 2, ports: { api: 81 } } },
    "twin.ports.api: is the name of a port of the component",
  ],
  [{ settings: { "a b": { env: "A", schema: z.string().default("") } } }, "settings.a b:"],
  [{ settings: { a: { env: "A", schema: z.string() } } }, "settings.a: its schema must have a default"],
  [
    { ...(relayOperator.webhooks && { webhooks: relayOperator.webhooks }) },
    "webhooks: have the name relay-operator",
  ],
  [
    { settings: { image: { env: "A", schema: z.string().default("") } } },
    "values image and image.repository",
  ],
  [{ podMonitors: { all: { labels: {} } } }, "podMonitors.all.labels: must not be empty"],
  [{ podMonitors: { "A b": { labels: { a: "b" } } } }, "podMonitors.A b:"],
  [{ components: { webhook: {} } }, "components.webhook: must not be one of"],
  [{ kinds: [kindOf("storage.k8s.io")] }, "kinds: Shop is in the group storage.k8s.io, which belongs to"],
])("a declaration that cannot be right is refused by its field: %j", ([part, words]) => {
  expect(() => generatedFiles(resolveOperator({ ...minimal, ...part }, "1.0.0"))).toThrow(words);
});
