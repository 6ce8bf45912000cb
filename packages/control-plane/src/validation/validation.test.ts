import { seededRandom } from "@windlass/clock";
import { afterAll, beforeAll, expect, test } from "vitest";
import { ControlPlane } from "../control-plane.ts";
import type { JsonObject } from "../json.ts";

let plane: ControlPlane;

beforeAll(async () => {
  plane = await ControlPlane.start({ controllers: "none", random: seededRandom(1) });
  await send("POST", "/api/v1/namespaces/default/serviceaccounts", { metadata: { name: "default" } });
});
afterAll(() => plane.close());

async function send(method: string, path: string, body: unknown): Promise<JsonObject> {
  const type = method === "PATCH" ? "application/merge-patch+json" : "application/json";
  const response = await plane
    .connect()
    .request({ method, path, headers: { "content-type": type }, body: JSON.stringify(body) });
  const chunks: Uint8Array[] = [];
  for await (const chunk of response.body) chunks.push(chunk);
  return JSON.parse(Buffer.concat(chunks).toString()) as JsonObject;
}

const core = (plural: string) => `/api/v1/namespaces/default/${plural}`;
const apps = (plural: string) => `/apis/apps/v1/namespaces/default/${plural}`;
const template = { metadata: { labels: { a: "b" } }, spec: { containers: [{ name: "c", image: "x" }] } };
const selector = { matchLabels: { a: "b" } };

/** What is refused, as reason and field: `Required spec.ports`. */
async function faults(path: string, body: JsonObject, method = "POST"): Promise<string[]> {
  const metadata = { name: "x", ...(body.metadata as JsonObject | undefined) };
  const answer = await send(method, path, method === "POST" ? { ...body, metadata } : body);
  const { causes = [] } = (answer.details ?? {}) as { causes?: { reason: string; field: string }[] };
  return causes.map(({ reason, field }) => `${reason.replace("FieldValue", "")} ${field}`);
}

test.each<[string, string, JsonObject, string[]]>([
  ["a Service needs ports", core("services"), {}, ["Required spec.ports"]],
  [
    "a selector must match the template",
    apps("deployments"),
    { spec: { selector: { matchLabels: { a: "c" } }, template } },
    ["Invalid spec.template.metadata.labels"],
  ],
  [
    "a container needs a name and an image",
    core("pods"),
    { spec: { containers: [{}] } },
    ["Required spec.containers[0].name", "Required spec.containers[0].image"],
  ],
  [
    "a mount needs its volume",
    core("pods"),
    { spec: { containers: [{ name: "c", image: "x", volumeMounts: [{ name: "v", mountPath: "/v" }] }] } },
    ["NotFound spec.containers[0].volumeMounts[0].name"],
  ],
  [
    "requests stay within limits",
    core("pods"),
    {
      spec: {
        containers: [{ name: "c", image: "x", resources: { requests: { cpu: "2" }, limits: { cpu: "1" } } }],
      },
    },
    ["Invalid spec.containers[0].resources.requests"],
  ],
  [
    "a Secret of a type has its keys",
    core("secrets"),
    { type: "kubernetes.io/tls" },
    ["Required data[tls.crt]", "Required data[tls.key]"],
  ],
  ["a ConfigMap's keys are plain", core("configmaps"), { data: { "a b": "" } }, ["Invalid data[a b]"]],
  [
    "a budget bounds one side",
    "/apis/policy/v1/namespaces/default/poddisruptionbudgets",
    { spec: { minAvailable: 1, maxUnavailable: 1 } },
    ["Invalid spec"],
  ],
  [
    "an autoscaler's bounds are in order",
    "/apis/autoscaling/v2/namespaces/default/horizontalpodautoscalers",
    {
      spec: {
        scaleTargetRef: { apiVersion: "apps/v1", kind: "Deployment", name: "d" },
        minReplicas: 3,
        maxReplicas: 2,
      },
    },
    ["Invalid spec.maxReplicas"],
  ],
  [
    "a lease lasts",
    "/apis/coordination.k8s.io/v1/namespaces/default/leases",
    { spec: { leaseDurationSeconds: 0 } },
    ["Invalid spec.leaseDurationSeconds"],
  ],
  [
    "a claim asks for a size",
    core("persistentvolumeclaims"),
    { spec: { accessModes: ["ReadWriteOnce"] } },
    ["Required spec.resources[storage]"],
  ],
  [
    "a path has a type",
    "/apis/networking.k8s.io/v1/namespaces/default/ingresses",
    {
      spec: { rules: [{ http: { paths: [{ backend: { service: { name: "s", port: { number: 80 } } } }] } }] },
    },
    ["Required spec.rules[0].http.paths[0].pathType"],
  ],
])("%s", async (_what, path, body, expected) => {
  expect(await faults(path, body)).toEqual(expected);
});

test.each<[string, string, JsonObject, JsonObject, string[]]>([
  [
    "a Deployment's selector",
    apps("deployments"),
    { spec: { selector, template } },
    { spec: { selector: { matchLabels: { a: "c" } }, template: { metadata: { labels: { a: "c" } } } } },
    ["Invalid spec.selector"],
  ],
  [
    "a StatefulSet's service name",
    apps("statefulsets"),
    { spec: { serviceName: "s", selector, template } },
    { spec: { serviceName: "t" } },
    ["Forbidden spec"],
  ],
  ["a Secret's type", core("secrets"), { type: "a" }, { type: "b" }, ["Invalid type"]],
  [
    "data that calls itself immutable",
    core("configmaps"),
    { immutable: true, data: { a: "b" } },
    { data: { a: "c" } },
    ["Forbidden data"],
  ],
  [
    "the role of a binding",
    "/apis/rbac.authorization.k8s.io/v1/namespaces/default/rolebindings",
    { roleRef: { kind: "Role", name: "a" } },
    { roleRef: { name: "b" } },
    ["Invalid roleRef"],
  ],
  [
    "a pod's node selector",
    core("pods"),
    { spec: { containers: [{ name: "c", image: "x" }] } },
    { spec: { nodeSelector: { a: "b" } } },
    ["Forbidden spec"],
  ],
])("%s does not change", async (_what, path, made, change, expected) => {
  const name = "fixed";
  expect(await send("POST", path, { ...made, metadata: { name } })).not.toHaveProperty("code");
  expect(await faults(`${path}/${name}`, change, "PATCH")).toEqual(expected);
});

test("an event is one object under both its names", async () => {
  const made = await send("POST", "/apis/events.k8s.io/v1/namespaces/default/events", {
    metadata: { name: "e" },
    eventTime: "2024-01-01T00:00:00.000000Z",
    regarding: { kind: "Pod", namespace: "default", name: "p" },
    note: "n",
    reason: "R",
    type: "Normal",
    action: "A",
    reportingController: "example.com/c",
    reportingInstance: "i",
  });
  expect(made).toMatchObject({ note: "n", regarding: { name: "p" } });
  expect(plane.store.get("events", "default/e")?.object).toMatchObject({
    apiVersion: "v1",
    message: "n",
    involvedObject: { name: "p" },
    reportingComponent: "example.com/c",
  });
});

test("the generation of a Deployment counts its spec and annotations, not its labels or status", async () => {
  const path = `${apps("deployments")}/counted`;
  const generation = async (method: string, at: string, body: JsonObject) =>
    ((await send(method, at, body)).metadata as JsonObject).generation;
  const made = { metadata: { name: "counted" }, spec: { selector, template } };
  expect(await generation("POST", apps("deployments"), made)).toBe(1);
  expect(await generation("PATCH", path, { metadata: { labels: { x: "y" } } })).toBe(1);
  expect(await generation("PATCH", path, { metadata: { annotations: { x: "y" } } })).toBe(2);
  expect(await generation("PATCH", path, { spec: { replicas: 2 } })).toBe(3);
  const status = { metadata: { annotations: { z: "y" } }, status: { replicas: 1 } };
  expect(await generation("PATCH", `${path}/status`, status)).toBe(3);
});
