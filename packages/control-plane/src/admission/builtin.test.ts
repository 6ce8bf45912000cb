import { seededRandom } from "@windlass/clock";
import { expect, test } from "vitest";
import { ControlPlane } from "../control-plane.ts";
import type { JsonObject } from "../json.ts";
import type { Requester } from "../registry/admission.ts";

async function stage(user?: Requester) {
  const plane = await ControlPlane.start({ controllers: "none", random: seededRandom(1) });
  const transport = plane.connect();
  const other = user ? plane.connect(user) : transport;
  const through =
    (way: typeof transport) =>
    async (method: string, path: string, body?: unknown): Promise<JsonObject> => {
      const type = method === "PATCH" ? "application/merge-patch+json" : "application/json";
      const response = await way.request({
        method,
        path,
        headers: { "content-type": type },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });
      const chunks: Uint8Array[] = [];
      for await (const chunk of response.body) chunks.push(chunk);
      return JSON.parse(Buffer.concat(chunks).toString()) as JsonObject;
    };
  return { plane, send: through(transport), as: through(other), [Symbol.asyncDispose]: () => plane.close() };
}

const pods = "/api/v1/namespaces/default/pods";
const account = { metadata: { name: "default" } };
const accounts = "/api/v1/namespaces/default/serviceaccounts";
const pod = (name: string, spec: JsonObject = {}) => ({
  metadata: { name },
  spec: { containers: [{ name: "c", image: "x" }], ...spec },
});

test("a pod is refused until its service account exists, and is then given its token", async () => {
  await using cluster = await stage();
  expect(await cluster.send("POST", pods, pod("a"))).toMatchObject({
    code: 403,
    message:
      'pods "a" is forbidden: error looking up service account default/default: serviceaccount "default" not found',
  });
  await cluster.send("POST", accounts, account);
  expect(await cluster.send("POST", pods, pod("a"))).toMatchObject({
    spec: {
      serviceAccountName: "default",
      priority: 0,
      volumes: [{ name: expect.stringMatching(/^kube-api-access-[a-z0-9]{5}$/) }],
      containers: [
        { volumeMounts: [{ mountPath: "/var/run/secrets/kubernetes.io/serviceaccount", readOnly: true }] },
      ],
      tolerations: [{ key: "node.kubernetes.io/not-ready", tolerationSeconds: 300 }, {}],
    },
  });
});

test("limits of very many resources make no pod that could not be stored", async () => {
  await using cluster = await stage();
  await cluster.send("POST", accounts, account);
  const resources = (value: string) =>
    Object.fromEntries(Array.from({ length: 2_000 }, (_, index) => [`example.com/r${index}`, value]));
  const limits = "/api/v1/namespaces/default/limitranges";
  const containers = Array.from({ length: 1_000 }, (_, index) => ({ name: `c${index}`, image: "x" }));
  const limit = (item: JsonObject) => ({ metadata: { name: "l" }, spec: { limits: [item] } });
  await cluster.send("POST", limits, limit({ type: "Container", max: resources("1") }));
  expect(await cluster.send("POST", pods, pod("a", { containers }))).toMatchObject({
    code: 500,
    message: "etcdserver: request is too large",
  });
  await cluster.send("DELETE", `${limits}/l`);
  await cluster.send("POST", limits, limit({ type: "Container", maxLimitRequestRatio: resources("2") }));
  const refused = await cluster.send("POST", pods, pod("a", { containers }));
  expect(refused.code).toBe(403);
  expect(JSON.stringify(refused.message).length).toBeLessThan(2_000_000);
});

test("a pod waits for the account of a namespace that was made a moment ago", async () => {
  await using plane = await ControlPlane.start({ random: seededRandom(1) });
  const transport = plane.connect();
  const post = (path: string, body: unknown) =>
    transport.request({ method: "POST", path, headers: {}, body: JSON.stringify(body) });
  await post("/api/v1/namespaces", { metadata: { name: "fresh" } });
  expect((await post("/api/v1/namespaces/fresh/pods", pod("a"))).status).toBe(201);
});

test("priority classes stand for numbers, which pods may not choose themselves", async () => {
  await using cluster = await stage();
  await cluster.send("POST", accounts, account);
  await cluster.send("POST", "/apis/scheduling.k8s.io/v1/priorityclasses", {
    metadata: { name: "high" },
    value: 1000,
  });
  expect(await cluster.send("POST", pods, pod("a", { priorityClassName: "high" }))).toMatchObject({
    spec: { priority: 1000 },
  });
  expect(await cluster.send("POST", pods, pod("b", { priority: 5 }))).toMatchObject({ code: 403 });
  expect(await cluster.send("POST", pods, pod("c", { priorityClassName: "none" }))).toMatchObject({
    code: 403,
  });
});

test("containers get a namespace's default limits, and what is beyond its bounds is refused", async () => {
  await using cluster = await stage();
  await cluster.send("POST", accounts, account);
  await cluster.send("POST", "/api/v1/namespaces/default/limitranges", {
    metadata: { name: "l" },
    spec: { limits: [{ type: "Container", default: { cpu: "1" }, max: { cpu: "2" } }] },
  });
  expect(await cluster.send("POST", pods, pod("a"))).toMatchObject({
    metadata: {
      annotations: { "kubernetes.io/limit-ranger": expect.stringContaining("cpu limit for container c") },
    },
    spec: { containers: [{ resources: { limits: { cpu: "1" }, requests: { cpu: "1" } } }] },
  });
  const greedy = pod("b", { containers: [{ name: "c", image: "x", resources: { limits: { cpu: "3" } } }] });
  expect(await cluster.send("POST", pods, greedy)).toMatchObject({
    message: 'pods "b" is forbidden: maximum cpu usage per Container is 2, but limit is 3',
  });
});

test("a quota counts what is there, and room comes back with a deletion", async () => {
  await using cluster = await stage();
  const maps = "/api/v1/namespaces/default/configmaps";
  await cluster.send("POST", "/api/v1/namespaces/default/resourcequotas", {
    metadata: { name: "q" },
    spec: { hard: { configmaps: "1" } },
  });
  expect(await cluster.send("POST", maps, { metadata: { name: "a" } })).toMatchObject({ kind: "ConfigMap" });
  expect(await cluster.send("POST", maps, { metadata: { name: "b" } })).toMatchObject({
    message:
      'configmaps "b" is forbidden: exceeded quota: q, requested: configmaps=1, used: configmaps=1, limited: configmaps=1',
  });
  await cluster.send("DELETE", `${maps}/a`);
  expect(await cluster.send("POST", maps, { metadata: { name: "b" } })).toMatchObject({ kind: "ConfigMap" });
});

test("a namespace that asks for restricted pods gets no others", async () => {
  await using cluster = await stage();
  await cluster.send("POST", accounts, account);
  const enforce = (level: string) => ({
    metadata: { labels: { "pod-security.kubernetes.io/enforce": level } },
  });
  expect(await cluster.send("PATCH", "/api/v1/namespaces/default", enforce("nonsense"))).toMatchObject({
    code: 422,
  });
  await cluster.send("PATCH", "/api/v1/namespaces/default", enforce("restricted"));
  expect(await cluster.send("POST", pods, pod("a"))).toMatchObject({
    code: 403,
    message: expect.stringContaining('violates PodSecurity "restricted:latest"'),
  });
  const securityContext = {
    allowPrivilegeEscalation: false,
    runAsNonRoot: true,
    capabilities: { drop: ["ALL"] },
    seccompProfile: { type: "RuntimeDefault" },
  };
  const careful = pod("b", { containers: [{ name: "c", image: "x", securityContext }] });
  expect(await cluster.send("POST", pods, careful)).toMatchObject({ kind: "Pod" });
});

test("no user grants rights that they do not hold", async () => {
  const admin = { name: "eve", groups: ["system:authenticated"] };
  await using cluster = await stage(admin);
  const rbac = "/apis/rbac.authorization.k8s.io/v1/namespaces/default";
  const rules = [{ apiGroups: ["rbac.authorization.k8s.io"], resources: ["roles"], verbs: ["create"] }];
  await cluster.send("POST", `${rbac}/roles`, { metadata: { name: "maker" }, rules });
  await cluster.send("POST", `${rbac}/rolebindings`, {
    metadata: { name: "maker" },
    roleRef: { kind: "Role", name: "maker" },
    subjects: [{ kind: "User", name: "eve" }],
  });
  const more = {
    metadata: { name: "more" },
    rules: [{ apiGroups: [""], resources: ["secrets"], verbs: ["get"] }],
  };
  expect(await cluster.as("POST", `${rbac}/roles`, more)).toMatchObject({
    code: 403,
    message: expect.stringContaining("is attempting to grant RBAC permissions not currently held"),
  });
  expect(await cluster.as("POST", `${rbac}/roles`, { metadata: { name: "same" }, rules })).toMatchObject({
    kind: "Role",
  });
});
