import { ManualClock } from "@windlass/clock";
import { afterEach, beforeEach, expect, test } from "vitest";
import { administrator } from "../authority.ts";
import { ControlPlane } from "../control-plane.ts";
import type { Sink } from "./request.ts";

let plane: ControlPlane;
let clock: ManualClock;

beforeEach(async () => {
  clock = new ManualClock();
  plane = await ControlPlane.start({ clock, nodes: "none", controllers: ["namespace-controller"] });
  await plane.settle();
});
afterEach(() => plane.close());

async function ask(method: string, url: string, body?: object, type = "application/json") {
  return await plane.handle({
    method,
    url,
    headers: { "content-type": type },
    body: body && Buffer.from(JSON.stringify(body)),
    peer: administrator,
    signal: new AbortController().signal,
  });
}

/** The series of `/metrics` by name and labels. */
async function series(): Promise<ReadonlyMap<string, number>> {
  const { body } = await ask("GET", "/metrics");
  const lines = String(body).matchAll(/^([a-z_]+(?:\{.*\})?) (\S+)$/gm);
  return new Map(Array.from(lines, ([, name = "", value]) => [name, Number(value)]));
}

const maps = "/api/v1/namespaces/default/configmaps";
const about = (scope: string, verb: string) =>
  `group="",resource="configmaps",scope="${scope}",subresource="",verb="${verb}",version="v1"`;

test("requests are counted by verb, resource and code", async () => {
  await ask("POST", maps, { metadata: { name: "a" } });
  await ask("POST", maps, { metadata: { name: "a" } });
  await ask("POST", `${maps}?dryRun=All`, { metadata: { name: "b" } });
  await ask("GET", `${maps}/a`);
  await ask("GET", `${maps}/missing`);
  await ask("GET", maps);
  const config = { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "a" } };
  await ask("PATCH", `${maps}/a?fieldManager=me`, config, "application/apply-patch+yaml");
  await ask("GET", "/apis/nothing.example.com/v1/things");
  const seen = await series();
  const counted = [...seen].filter(([name]) => name.startsWith("apiserver_request_total"));
  const total = (code: number, dryRun: string, scope: string, verb: string) =>
    `apiserver_request_total{code="${code}",component="apiserver",dry_run="${dryRun}",${about(scope, verb)}}`;
  expect(Object.fromEntries(counted)).toEqual({
    [total(201, "", "resource", "POST")]: 1,
    [total(409, "", "resource", "POST")]: 1,
    [total(201, "All", "resource", "POST")]: 1,
    [total(200, "", "resource", "GET")]: 1,
    [total(404, "", "resource", "GET")]: 1,
    [total(200, "", "namespace", "LIST")]: 1,
    [total(200, "", "resource", "APPLY")]: 1,
  });
  expect(
    seen.get(
      `apiserver_request_duration_seconds_count{component="apiserver",dry_run="",${about("resource", "POST")}}`,
    ),
  ).toBe(2);
});

test("a duration is the time that passed on the control plane's clock", async () => {
  plane.faults.add({ verbs: ["list"], delay: 300 });
  const asked = ask("GET", maps);
  await clock.advance(300);
  await asked;
  plane.faults.clear();
  const seen = await series();
  const bucket = (le: string) =>
    seen.get(
      `apiserver_request_duration_seconds_bucket{component="apiserver",dry_run="",${about("namespace", "LIST")},le="${le}"}`,
    );
  expect([bucket("0.2"), bucket("0.4"), bucket("+Inf")]).toEqual([0, 1, 1]);
});

test("watches are counted while they are open, and their events", async () => {
  const { body } = await ask("GET", `${maps}?watch=true&resourceVersion=0`);
  if (typeof body !== "function") throw new Error("not a stream");
  const chunks: Uint8Array[] = [];
  const sink: Sink = {
    write: (chunk) => chunks.push(chunk) * 0,
    drained: () => undefined,
    end: () => undefined,
  };
  const open = `apiserver_longrunning_requests{component="apiserver",${about("namespace", "WATCH")}}`;
  const stop = body(sink);
  expect((await series()).get(open)).toBe(1);
  await ask("POST", maps, { metadata: { name: "a" } });
  expect(
    (await series()).get('apiserver_watch_events_total{group="",resource="configmaps",version="v1"}'),
  ).toBe(chunks.length);
  expect(chunks.length).toBeGreaterThan(0);
  stop();
  stop();
  expect((await series()).get(open)).toBe(0);
});

test("admission, queues and storage are measured", async () => {
  await ask("POST", "/api/v1/namespaces", { metadata: { name: "new" } });
  await ask("POST", "/api/v1/namespaces/nowhere/configmaps", { metadata: { name: "a" } });
  await plane.settle();
  const seen = await series();
  const plugin = (rejected: boolean) =>
    seen.get(
      `apiserver_admission_controller_admission_duration_seconds_count{name="NamespaceLifecycle",operation="CREATE",rejected="${rejected}",type="admit"}`,
    );
  expect(plugin(true)).toBe(1);
  expect(plugin(false)).toBeGreaterThan(0);
  expect(seen.get('workqueue_adds_total{name="namespace"}')).toBe(5);
  expect(seen.get('workqueue_work_duration_seconds_count{name="namespace"}')).toBe(5);
  expect(seen.get('workqueue_depth{name="namespace"}')).toBe(0);
  expect(seen.get('apiserver_storage_objects{resource="namespaces"}')).toBe(5);
  expect(seen.get('apiserver_resource_objects{group="",resource="namespaces"}')).toBe(5);
});

test("webhooks are measured by what came of asking them", async () => {
  plane.bindService("default", "hook", 443, ({ body }) => {
    const { request } = JSON.parse(String(body)) as { request: { uid: string; name: string } };
    const response = { uid: request.uid, allowed: request.name !== "bad", status: { code: 403 } };
    return {
      status: 200,
      body: JSON.stringify({ apiVersion: "admission.k8s.io/v1", kind: "AdmissionReview", response }),
    };
  });
  const webhook = {
    name: "check.example.com",
    admissionReviewVersions: ["v1"],
    sideEffects: "None",
    clientConfig: { service: { namespace: "default", name: "hook" } },
    rules: [{ apiGroups: [""], apiVersions: ["v1"], operations: ["CREATE"], resources: ["configmaps"] }],
  };
  const hooks = "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations";
  await ask("POST", hooks, { metadata: { name: "hooks" }, webhooks: [webhook] });
  expect((await ask("POST", maps, { metadata: { name: "good" } })).status).toBe(201);
  expect((await ask("POST", maps, { metadata: { name: "bad" } })).status).toBe(403);
  const seen = await series();
  const labels = (rejected: boolean) =>
    `name="check.example.com",operation="CREATE",rejected="${rejected}",type="validate"`;
  expect(seen.get(`apiserver_admission_webhook_admission_duration_seconds_count{${labels(false)}}`)).toBe(1);
  expect(seen.get(`apiserver_admission_webhook_request_total{code="403",${labels(true)}}`)).toBe(1);
  expect(
    seen.get(
      'apiserver_admission_webhook_rejection_count{error_type="no_error",name="check.example.com",operation="CREATE",rejection_code="403",type="validate"}',
    ),
  ).toBe(1);
});

test("every family has its help and type, once, before its series", async () => {
  await ask("GET", maps);
  const text = String((await ask("GET", "/metrics")).body);
  const names = [...text.matchAll(/^# HELP (\S+) \S.*\n# TYPE \1 (?:counter|gauge|histogram)\n\1/gm)].map(
    ([, name]) => name,
  );
  expect(names.length).toBe(text.match(/^# HELP/gm)?.length);
  expect(new Set(names).size).toBe(names.length);
  expect(names).toContain("apiserver_request_total");
});

test("the root lists what can be asked, and each of it answers", async () => {
  const { body } = await ask("GET", "/");
  expect((await ask("GET", "/index.html")).body).toBe(body);
  // For people to read, independent of who asks.
  expect(body).toMatch(/^\{\n {2}"paths": \[\n {4}"\/\.well-known/);
  const { paths } = JSON.parse(String(body)) as { paths: string[] };
  expect(paths).toContain("/apis/apps/v1");
  for (const path of paths) expect(`${path} ${(await ask("GET", path)).status}`).toBe(`${path} 200`);
});

test("the health checks are shown one by one", async () => {
  const { status, body } = await ask("GET", "/metrics/slis");
  expect(status).toBe(200);
  expect(body).toContain('kubernetes_healthcheck{name="etcd",type="readyz"} 1\n');
});
