import { ManualClock, seededRandom } from "@windlass/clock";
import { afterEach, beforeEach, expect, test } from "vitest";
import { ControlPlane } from "../../control-plane.ts";
import type { JsonObject } from "../../json.ts";
import type { WebhookAnswer, WebhookCall } from "./services.ts";

let plane: ControlPlane;
let clock: ManualClock;

beforeEach(async () => {
  clock = new ManualClock();
  plane = await ControlPlane.start({ clock, random: seededRandom(1), controllers: "none" });
});
afterEach(() => plane.close());

interface Response {
  readonly status: number;
  readonly warnings: readonly string[];
  readonly body: JsonObject & { metadata: JsonObject; data?: JsonObject; message?: string };
}

async function send(
  method: string,
  path: string,
  body?: object,
  contentType = "application/json",
): Promise<Response> {
  const response = await plane.connect().request({
    method,
    path,
    headers: { "content-type": contentType },
    ...(body ? { body: JSON.stringify(body) } : {}),
  });
  const chunks: Uint8Array[] = [];
  for await (const chunk of response.body) chunks.push(chunk);
  const warning = response.headers.warning ?? [];
  return {
    status: response.status,
    warnings: typeof warning === "string" ? [warning] : warning,
    body: JSON.parse(Buffer.concat(chunks).toString()) as Response["body"],
  };
}

const maps = "/api/v1/namespaces/default/configmaps";

function configMap(name: string, labels: Record<string, string> = {}): object {
  return { metadata: { name, labels }, data: { a: "1" } };
}

/**
 * A webhook in this process: what it answers is up to `respond`, what it was asked is in `asked`.
 */
function hook(
  kind: "mutating" | "validating",
  name: string,
  respond: (request: JsonObject) => object,
  config: object = {},
): { asked: JsonObject[]; ready: Promise<Response> } {
  const asked: JsonObject[] = [];
  plane.bindService("default", name, 443, (call: WebhookCall): WebhookAnswer => {
    const review = JSON.parse(call.body) as JsonObject & { request: JsonObject };
    asked.push(review.request);
    const response = { uid: review.request.uid, ...respond(review.request) };
    return { body: JSON.stringify({ kind: review.kind, apiVersion: review.apiVersion, response }) };
  });
  const ready = send("POST", `/apis/admissionregistration.k8s.io/v1/${kind}webhookconfigurations`, {
    metadata: { name },
    webhooks: [
      {
        name: `${name}.example.com`,
        clientConfig: { service: { namespace: "default", name, path: "/hook" } },
        rules: [{ apiGroups: [""], apiVersions: ["v1"], resources: ["configmaps"], operations: ["*"] }],
        sideEffects: "None",
        admissionReviewVersions: ["v1"],
        ...config,
      },
    ],
  });
  return { asked, ready };
}

const allow = () => ({ allowed: true });

function patch(...operations: object[]): object {
  const text = Buffer.from(JSON.stringify(operations)).toString("base64");
  return { allowed: true, patchType: "JSONPatch", patch: text };
}

test("a webhook that says no is quoted to the client", async () => {
  const { ready } = hook("validating", "no", () => ({
    allowed: false,
    status: { code: 418, reason: "Teapot", message: "short and stout" },
  }));
  await ready;
  const answer = await send("POST", maps, configMap("x"));
  expect(answer.status).toBe(418);
  expect(answer.body).toMatchObject({
    reason: "Teapot",
    message: 'admission webhook "no.example.com" denied the request: short and stout',
  });
  expect((await send("GET", `${maps}/x`)).status).toBe(404);
});

test("a webhook's warnings reach the client", async () => {
  await hook("validating", "warns", () => ({ allowed: true, warnings: ["mind the gap"] })).ready;
  const answer = await send("POST", maps, configMap("x"));
  expect(answer.status).toBe(201);
  expect(answer.warnings).toEqual(['299 - "mind the gap"']);
});

test("a webhook sees who does what to which object", async () => {
  const { asked, ready } = hook("validating", "sees", allow);
  await ready;
  await send("POST", maps, configMap("x"));
  await send("PATCH", `${maps}/x`, { data: { a: "2" } }, "application/merge-patch+json");
  await send("DELETE", `${maps}/x`);
  expect(asked.map(({ operation }) => operation)).toEqual(["CREATE", "UPDATE", "DELETE"]);
  expect(asked[0]).toMatchObject({
    kind: { group: "", version: "v1", kind: "ConfigMap" },
    resource: { group: "", version: "v1", resource: "configmaps" },
    name: "x",
    namespace: "default",
    userInfo: { username: "kubernetes-admin" },
    object: { data: { a: "1" } },
    oldObject: null,
    dryRun: false,
  });
  expect(asked[1]).toMatchObject({ object: { data: { a: "2" } }, oldObject: { data: { a: "1" } } });
  expect(asked[2]).toMatchObject({ object: null, oldObject: { data: { a: "2" } } });
});

test("what a mutating webhook patches is decoded and defaulted again", async () => {
  await hook("mutating", "patches", () =>
    patch({ op: "add", path: "/data/b", value: "2" }, { op: "add", path: "/unknown", value: 1 }),
  ).ready;
  const { status, body } = await send("POST", maps, configMap("x"));
  expect(status).toBe(201);
  expect(body.data).toEqual({ a: "1", b: "2" });
  expect(body).not.toHaveProperty("unknown");
  expect(body.metadata.uid).toMatch(/^[0-9a-f-]{36}$/);
});

test("a patch that does not apply fails the request and says which part", async () => {
  await hook("mutating", "patches", () => patch({ op: "remove", path: "/data/zzz" })).ready;
  const { status, body } = await send("POST", maps, configMap("x"));
  expect(status).toBe(500);
  expect(body.message).toBe(
    "Internal error occurred: error in remove for path: '/data/zzz': Unable to remove nonexistent key: zzz: missing value",
  );
});

test("mutating webhooks are called in the order of their configurations' names", async () => {
  const order: string[] = [];
  const note = (name: string) => () => {
    order.push(name);
    return { allowed: true };
  };
  await hook("mutating", "b", note("b")).ready;
  await hook("mutating", "a", note("a")).ready;
  await send("POST", maps, configMap("x"));
  expect(order).toEqual(["a", "b"]);
});

test("a webhook that asks for it is called once more when a later one changed the object", async () => {
  const first = hook("mutating", "a", allow, { reinvocationPolicy: "IfNeeded" });
  const never = hook("mutating", "b", allow);
  await Promise.all([first.ready, never.ready]);
  await hook("mutating", "c", () => patch({ op: "add", path: "/data/b", value: "2" })).ready;
  await send("POST", maps, configMap("x"));
  expect(first.asked).toHaveLength(2);
  expect(first.asked[1]).toMatchObject({ object: { data: { b: "2" } } });
  expect(never.asked).toHaveLength(1);
});

test("no webhook is called again when nothing changed", async () => {
  const first = hook("mutating", "a", allow, { reinvocationPolicy: "IfNeeded" });
  await first.ready;
  await hook("mutating", "b", () => patch({ op: "add", path: "/data/a", value: "1" })).ready;
  await send("POST", maps, configMap("x"));
  expect(first.asked).toHaveLength(1);
});

test.each([
  ["objectSelector", { objectSelector: { matchLabels: { on: "yes" } } }],
  ["a condition", { matchConditions: [{ name: "on", expression: "object.metadata.labels.on == 'yes'" }] }],
])("%s decides for which objects a webhook is called", async (_what, config) => {
  const { asked, ready } = hook("validating", "picky", allow, config);
  await ready;
  await send("POST", maps, configMap("x", { on: "yes" }));
  await send("POST", maps, configMap("y", { on: "no" }));
  expect(asked.map(({ name }) => name)).toEqual(["x"]);
});

test("a selector matches an object by what it was, too", async () => {
  const { asked, ready } = hook("validating", "picky", allow, {
    objectSelector: { matchLabels: { on: "yes" } },
  });
  await ready;
  await send("POST", maps, configMap("x", { on: "yes" }));
  await send("PATCH", `${maps}/x`, { metadata: { labels: { on: null } } }, "application/merge-patch+json");
  await send("PATCH", `${maps}/x`, { data: { a: "3" } }, "application/merge-patch+json");
  expect(asked.map(({ operation }) => operation)).toEqual(["CREATE", "UPDATE"]);
});

test("a namespace's own labels decide whether webhooks are called for it", async () => {
  const { asked, ready } = hook("validating", "spaces", allow, {
    namespaceSelector: { matchLabels: { team: "a" } },
    rules: [
      {
        apiGroups: [""],
        apiVersions: ["v1"],
        resources: ["namespaces"],
        operations: ["CREATE"],
        scope: "Cluster",
      },
    ],
  });
  await ready;
  await send("POST", "/api/v1/namespaces", { metadata: { name: "one", labels: { team: "a" } } });
  await send("POST", "/api/v1/namespaces", { metadata: { name: "two", labels: { team: "b" } } });
  expect(asked.map(({ name, namespace }) => [name, namespace])).toEqual([["one", "one"]]);
});

test("a condition that fails refuses the request, unless failures are ignored", async () => {
  const conditions = { matchConditions: [{ name: "broken", expression: "object.data.zzz == 'x'" }] };
  const { asked, ready } = hook("validating", "broken", allow, conditions);
  await ready;
  const answer = await send("POST", maps, configMap("x"));
  expect(answer.status).toBe(403);
  expect(answer.body.message).toBe(
    `configmaps "x" is forbidden: expression 'object.data.zzz == 'x'' resulted in error: no such key: zzz`,
  );
  await send("DELETE", "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations/broken");
  await hook("validating", "lenient", () => ({ allowed: false }), { ...conditions, failurePolicy: "Ignore" })
    .ready;
  expect((await send("POST", maps, configMap("x"))).status).toBe(201);
  expect(asked).toHaveLength(0);
});

test("a webhook that takes too long fails by the clock", async () => {
  plane.bindService("default", "slow", 443, () => new Promise<never>(() => undefined));
  await send("POST", "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations", {
    metadata: { name: "slow" },
    webhooks: [
      {
        name: "slow.example.com",
        clientConfig: { service: { namespace: "default", name: "slow" } },
        rules: [{ apiGroups: [""], apiVersions: ["v1"], resources: ["configmaps"], operations: ["CREATE"] }],
        sideEffects: "None",
        admissionReviewVersions: ["v1"],
        timeoutSeconds: 3,
      },
    ],
  });
  const waiting = send("POST", maps, configMap("x"));
  await clock.advance(3_000);
  const answer = await waiting;
  expect(answer.status).toBe(500);
  expect(answer.body.message).toBe(
    'Internal error occurred: failed calling webhook "slow.example.com": failed to call webhook: Post "https://slow.default.svc:443/?timeout=3s": context deadline exceeded',
  );
});

test("a service without a backend fails the request, or is ignored", async () => {
  const config = { clientConfig: { service: { namespace: "default", name: "absent", path: "/x" } } };
  await hook("validating", "gone", allow, config).ready;
  const answer = await send("POST", maps, configMap("x"));
  expect(answer.body.message).toBe(
    'Internal error occurred: failed calling webhook "gone.example.com": failed to call webhook: Post "https://absent.default.svc:443/x?timeout=10s": service "absent" not found',
  );
  await send("DELETE", "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations/gone");
  await hook("validating", "gone", allow, { ...config, failurePolicy: "Ignore" }).ready;
  expect((await send("POST", maps, configMap("x"))).status).toBe(201);
});

test("a dry run passes only webhooks without side effects", async () => {
  await hook("validating", "careless", allow).ready;
  // Accepted by versions of long ago, and so perhaps still stored.
  const bucket = "validatingwebhookconfigurations.admissionregistration.k8s.io";
  const stored = plane.store.get(bucket, "careless")?.object;
  const [webhook] = (stored?.webhooks ?? []) as JsonObject[];
  plane.store.put(bucket, "careless", { ...stored, webhooks: [{ ...webhook, sideEffects: "Some" }] });
  const answer = await send("POST", `${maps}?dryRun=All`, configMap("x"));
  expect(answer.status).toBe(400);
  expect(answer.body.message).toBe('admission webhook "careless.example.com" does not support dry run');
});

test("webhook configurations stay changeable whatever webhooks say", async () => {
  await hook("validating", "all", () => ({ allowed: false }), {
    rules: [{ apiGroups: ["*"], apiVersions: ["*"], resources: ["*/*"], operations: ["*"] }],
  }).ready;
  expect((await send("POST", maps, configMap("x"))).status).toBe(400);
  const gone = await send(
    "DELETE",
    "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations/all",
  );
  expect(gone.status).toBe(200);
  expect((await send("POST", maps, configMap("x"))).status).toBe(201);
});

test("a scale is shown as a Scale, and can be changed as one", async () => {
  const { asked, ready } = hook(
    "mutating",
    "scales",
    () => patch({ op: "replace", path: "/spec/replicas", value: 2 }),
    {
      rules: [
        { apiGroups: ["apps"], apiVersions: ["v1"], resources: ["deployments/scale"], operations: ["*"] },
      ],
    },
  );
  await ready;
  const path = "/apis/apps/v1/namespaces/default/deployments";
  await send("POST", path, {
    metadata: { name: "web" },
    spec: {
      replicas: 1,
      selector: { matchLabels: { a: "b" } },
      template: { metadata: { labels: { a: "b" } }, spec: { containers: [{ name: "c", image: "i:1" }] } },
    },
  });
  await send("PATCH", `${path}/web/scale`, { spec: { replicas: 9 } }, "application/merge-patch+json");
  expect(asked).toMatchObject([
    {
      kind: { kind: "Scale" },
      subResource: "scale",
      object: { spec: { replicas: 9 } },
      oldObject: { spec: { replicas: 1 } },
    },
  ]);
  expect((await send("GET", `${path}/web`)).body).toMatchObject({ spec: { replicas: 2 } });
});
