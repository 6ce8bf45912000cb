import { isObject, type Json, type JsonObject } from "../../../packages/control-plane/src/json.ts";
import { builtinSchema, normalize } from "../../../packages/control-plane/src/kinds/index.ts";
import type { Draw } from "./generate.ts";
import type { Scenario } from "./scenario.ts";

/** Fields of a Service that the server fills in once the entries are made: no manager owns them. */
const ALLOCATED = ["clusterIP", "clusterIPs", "ipFamilies", "ipFamilyPolicy"];

/**
 * Kinds that between them have every sort of list there is, and that no controller rewrites while
 * we look.
 */
export function builtinScenarios(namespace: string): Scenario[] {
  return [
    scenario(namespace, "", "ConfigMap", "configmaps", ["/data/a", "/data/z", "/data"], (draw) => ({
      ...maybe(draw, "data", () => texts(draw, ["a", "b", "c"])),
      ...maybe(draw, "binaryData", () =>
        Object.fromEntries(draw.some(["x", "y"], 0.5).map((key) => [key, "AAEC"])),
      ),
    })),
    scenario(
      namespace,
      "",
      "PodTemplate",
      "podtemplates",
      ["/template/spec/containers/0/image", "/template/spec/containers/-", "/template/metadata/labels/t"],
      (draw, extent) => ({ template: podTemplate(draw, extent) }),
    ),
    scenario(
      namespace,
      "",
      "Service",
      "services",
      ["/spec/ports/0", "/spec/ports/-", "/spec/selector"],
      (draw, extent) => ({ spec: service(draw, extent) }),
    ),
    scenario(
      namespace,
      "apps",
      "Deployment",
      "deployments",
      [
        "/spec/template/spec/containers/0/image",
        "/spec/minReadySeconds",
        "/spec/template/metadata/annotations",
      ],
      (draw, extent) => ({ spec: deployment(draw, extent) }),
    ),
    scenario(
      namespace,
      "networking.k8s.io",
      "NetworkPolicy",
      "networkpolicies",
      ["/spec/policyTypes/-", "/spec/ingress/0", "/spec/podSelector/matchLabels"],
      (draw) => ({ spec: networkPolicy(draw) }),
    ),
  ];
}

function scenario(
  namespace: string,
  group: string,
  kind: string,
  plural: string,
  paths: readonly string[],
  body: Scenario["body"],
): Scenario {
  const apiVersion = group === "" ? "v1" : `${group}/v1`;
  const normal = (object: JsonObject) => normalize({ group, version: "v1", kind }, object);
  return {
    apiVersion,
    kind,
    collection: `/${group === "" ? "api" : "apis"}/${apiVersion}/namespaces/${namespace}/${plural}`,
    schema: builtinSchema(group, "v1", kind),
    empty: normal({ apiVersion, kind }),
    builtin: true,
    status: false,
    paths,
    body,
    statusBody: () => ({}),
    tracked: (answered, sent) => {
      if (kind !== "Service" || !isObject(answered.spec)) return answered;
      const asked = isObject(sent.spec) ? sent.spec : {};
      const spec = Object.entries(answered.spec).filter(
        ([name]) => !ALLOCATED.includes(name) || Object.hasOwn(asked, name),
      );
      return { ...answered, spec: Object.fromEntries(spec) };
    },
    stored: normal,
  };
}

function maybe(draw: Draw, name: string, value: () => Json): JsonObject {
  return draw.chance(0.5) ? { [name]: value() } : {};
}

function texts(draw: Draw, names: readonly string[]): JsonObject {
  return Object.fromEntries(draw.some(names, 0.6).map((name) => [name, draw.pick(["1", "2", ""])]));
}

function deployment(draw: Draw, extent: "whole" | "part"): JsonObject {
  return {
    ...(extent === "whole" || draw.chance(0.3)
      ? { selector: { matchLabels: { app: "x" } }, replicas: 0 }
      : {}),
    ...(extent === "whole" || draw.chance(0.8) ? { template: podTemplate(draw, extent) } : {}),
    ...maybe(draw, "minReadySeconds", () => draw.pick([0, 1, 2])),
    ...maybe(draw, "revisionHistoryLimit", () => draw.pick([1, 2])),
    ...maybe(draw, "strategy", () =>
      draw.pick<Json>([
        { type: "RollingUpdate" },
        { type: "RollingUpdate", rollingUpdate: { maxSurge: 1 } },
        { type: "RollingUpdate", rollingUpdate: { maxSurge: "30%", maxUnavailable: 0 } },
      ]),
    ),
  };
}

function podTemplate(draw: Draw, extent: "whole" | "part"): JsonObject {
  const containers = draw.shuffled(draw.some(["c1", "c2", "c3"], 0.6)).map((name) => container(draw, name));
  if (extent === "whole" && containers.length === 0) containers.push(container(draw, "c1"));
  return {
    ...(extent === "whole" || draw.chance(0.5)
      ? {
          metadata: {
            labels: { app: "x", ...texts(draw, ["t"]) },
            ...maybe(draw, "annotations", () => texts(draw, ["q"])),
          },
        }
      : {}),
    spec: {
      ...(containers.length > 0 ? { containers } : {}),
      ...maybe(draw, "volumes", () =>
        draw.some(["v1", "v2"], 0.7).map((name) => ({
          name,
          ...draw.pick<JsonObject>([
            { emptyDir: {} },
            { configMap: { name: "x" } },
            { emptyDir: { medium: "Memory" } },
            { projected: { sources: [{ configMap: { name: "y" } }] } },
          ]),
        })),
      ),
      ...maybe(draw, "tolerations", () =>
        draw.some(["t1", "t2"], 0.6).map((key) => ({ key, operator: "Exists" })),
      ),
      ...maybe(draw, "nodeSelector", () => texts(draw, ["n1", "n2"])),
      ...maybe(draw, "imagePullSecrets", () => draw.some(["s1", "s2"], 0.6).map((name) => ({ name }))),
      ...maybe(draw, "hostAliases", () =>
        draw
          .some(["10.0.0.1", "10.0.0.2"], 0.6)
          .map((ip) => ({ ip, hostnames: draw.some(["h1", "h2"], 0.7) })),
      ),
      ...maybe(draw, "securityContext", () => draw.pick<Json>([{}, { runAsUser: 5 }, { fsGroup: 1 }])),
      ...maybe(draw, "topologySpreadConstraints", () =>
        draw.some(["k1", "k2"], 0.6).map((topologyKey) => ({
          topologyKey,
          maxSkew: draw.pick([1, 2]),
          whenUnsatisfiable: "DoNotSchedule",
        })),
      ),
    },
  };
}

function container(draw: Draw, name: string): JsonObject {
  return {
    name,
    image: draw.pick(["i1", "i2"]),
    ...maybe(draw, "env", () =>
      draw.shuffled(draw.some(["A", "B", "C", "A"], 0.5)).map((variable) => ({
        name: variable,
        ...draw.pick<JsonObject>([
          { value: "1" },
          { value: "2" },
          { valueFrom: { fieldRef: { fieldPath: "metadata.name" } } },
        ]),
      })),
    ),
    ...maybe(draw, "ports", () =>
      draw.shuffled(draw.some([80, 443, 8080], 0.5)).map((containerPort) => ({
        containerPort,
        ...maybe(draw, "protocol", () => draw.pick(["TCP", "UDP"])),
        ...maybe(draw, "name", () => `p${containerPort}`),
      })),
    ),
    ...maybe(draw, "args", () => draw.some(["1", "2"], 0.5)),
    ...maybe(draw, "resources", () =>
      draw.pick<Json>([
        {},
        { limits: { cpu: "100m" } },
        { limits: { cpu: "0.1", memory: "1Gi" }, requests: { memory: "1024Mi" } },
        { requests: { cpu: 1 } },
      ]),
    ),
    ...maybe(draw, "readinessProbe", () =>
      draw.pick<Json>([
        { httpGet: { port: 80, path: "/" } },
        { tcpSocket: { port: "p80" }, periodSeconds: 5 },
      ]),
    ),
  };
}

function service(draw: Draw, extent: "whole" | "part"): JsonObject {
  const numbers = draw.shuffled(draw.some([80, 443, 8080], 0.6));
  if (extent === "whole" && numbers.length === 0) numbers.push(80);
  return {
    ...(numbers.length === 0
      ? {}
      : {
          ports: numbers.map((port) => ({
            port,
            name: `p${port}`,
            ...maybe(draw, "protocol", () => "TCP"),
            ...maybe(draw, "targetPort", () => draw.pick<Json>([1, 2, "web"])),
          })),
        }),
    ...maybe(draw, "selector", () => texts(draw, ["a", "b"])),
    ...maybe(draw, "publishNotReadyAddresses", () => draw.chance(0.5)),
  };
}

function networkPolicy(draw: Draw): JsonObject {
  return {
    podSelector: draw.pick<Json>([{}, { matchLabels: { a: "b" } }, { matchLabels: { a: "c" } }]),
    ...maybe(draw, "policyTypes", () => draw.some(["Ingress", "Egress"], 0.6)),
    ...maybe(draw, "ingress", () =>
      draw.some([80, 443], 0.6).map((port) => ({ ports: [{ port, protocol: "TCP" }] })),
    ),
  };
}
