import { ManualClock, seededRandom } from "@windlass/clock";
import { afterEach, beforeEach, expect, test } from "vitest";
import { ControlPlane } from "../../control-plane.ts";
import type { JsonObject } from "../../json.ts";
import { valueAt } from "../../json-fields.ts";
import type { WebhookCall } from "./services.ts";

let plane: ControlPlane;

beforeEach(async () => {
  plane = await ControlPlane.start({
    clock: new ManualClock(),
    random: seededRandom(1),
    controllers: "none",
  });
  await send("/api/v1/namespaces/default/serviceaccounts", { metadata: { name: "default" } });
});
afterEach(() => plane.close());

async function send(path: string, body: object): Promise<{ status: number; body: JsonObject }> {
  const headers = { "content-type": "application/json" };
  const response = await plane
    .connect()
    .request({ method: "POST", path, headers, body: JSON.stringify(body) });
  const chunks: Uint8Array[] = [];
  for await (const chunk of response.body) chunks.push(chunk);
  return { status: response.status, body: JSON.parse(Buffer.concat(chunks).toString()) as JsonObject };
}

/** What a webhook for these resources is asked; a mutating one answers with the patch. */
async function asked(apiGroups: string[], resources: string[], patch?: object[]): Promise<JsonObject[]> {
  const seen: JsonObject[] = [];
  plane.bindService("default", "hook", 443, (call: WebhookCall) => {
    const review = JSON.parse(call.body) as JsonObject & { request: JsonObject };
    seen.push(review.request);
    const response = {
      uid: review.request.uid,
      allowed: true,
      ...(patch
        ? { patchType: "JSONPatch", patch: Buffer.from(JSON.stringify(patch)).toString("base64") }
        : {}),
    };
    return { body: JSON.stringify({ kind: review.kind, apiVersion: review.apiVersion, response }) };
  });
  const kind = patch ? "mutating" : "validating";
  await send(`/apis/admissionregistration.k8s.io/v1/${kind}webhookconfigurations`, {
    metadata: { name: "hook" },
    webhooks: [
      {
        name: "hook.example.com",
        clientConfig: { service: { namespace: "default", name: "hook" } },
        rules: [{ apiGroups, apiVersions: ["v1"], resources, operations: ["*"] }],
        sideEffects: "None",
        admissionReviewVersions: ["v1"],
      },
    ],
  });
  return seen;
}

const pods = "/api/v1/namespaces/default/pods";
const pod = (name: string) => ({ metadata: { name }, spec: { containers: [{ name: "c", image: "app" }] } });
const binding = (name: string) => ({ metadata: { name }, target: { kind: "Node", name: "far" } });

test("a binding is reviewed as what it is, with the pod's namespace, and puts the pod on its node", async () => {
  const seen = await asked([""], ["pods/binding", "bindings"]);
  await send(pods, pod("one"));
  await send(pods, pod("two"));
  const first = await send(`${pods}/one/binding`, binding("one"));
  const second = await send("/api/v1/namespaces/default/bindings", binding("two"));
  expect([first, second].map(({ status, body }) => [status, body.status])).toEqual([
    [201, "Success"],
    [201, "Success"],
  ]);
  const metadata = { name: "one", namespace: "default" };
  expect(seen).toMatchObject([
    {
      subResource: "binding",
      kind: { kind: "Binding" },
      resource: { resource: "pods" },
      object: { metadata, target: { kind: "Node", name: "far" } },
    },
    { kind: { kind: "Binding" }, resource: { resource: "bindings" }, name: "two" },
  ]);
  for (const name of ["one", "two"]) {
    const stored = plane.store.get("pods", `default/${name}`)?.object;
    expect(valueAt(stored, "spec", "nodeName")).toBe("far");
    expect(valueAt(stored, "status", "conditions")).toMatchObject([{ type: "PodScheduled", status: "True" }]);
  }
  expect(await send(`${pods}/one/binding`, binding("one"))).toMatchObject({
    status: 409,
    body: {
      message:
        'Operation cannot be fulfilled on pods/binding "one": pod one is already assigned to node "far"',
    },
  });
});

test("a webhook for one group's events is called for the other group's, in the version it asked for", async () => {
  const seen = await asked(["events.k8s.io"], ["events"]);
  const involvedObject = { kind: "Pod", namespace: "default", name: "x" };
  await send("/api/v1/namespaces/default/events", {
    metadata: { name: "e" },
    involvedObject,
    reason: "R",
    message: "said",
    type: "Normal",
  });
  expect(seen).toMatchObject([
    {
      kind: { group: "events.k8s.io", version: "v1", kind: "Event" },
      requestKind: { group: "", version: "v1", kind: "Event" },
      object: { apiVersion: "events.k8s.io/v1", note: "said", regarding: involvedObject },
    },
  ]);
});

test("what validating webhooks are shown has what the server adds, a Service's address among it", async () => {
  const seen = await asked([""], ["services"]);
  await send("/api/v1/namespaces/default/services", {
    metadata: { name: "web" },
    spec: { ports: [{ port: 80 }] },
  });
  expect(valueAt(seen[0], "object", "spec", "clusterIP")).toMatch(/^10\./);
  expect(valueAt(seen[0], "object", "status")).toEqual({ loadBalancer: {} });
});

test("a mutating webhook may send a pod elsewhere than its binding says", async () => {
  await asked([""], ["pods/binding"], [{ op: "replace", path: "/target/name", value: "near" }]);
  await send(pods, pod("one"));
  expect((await send(`${pods}/one/binding`, binding("one"))).status).toBe(201);
  expect(valueAt(plane.store.get("pods", "default/one")?.object, "spec", "nodeName")).toBe("near");
});
