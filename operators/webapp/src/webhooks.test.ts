import { expect, test } from "vitest";
import { Policy, WebApp, webhooks } from "./index.ts";

interface Answer {
  readonly response: {
    readonly allowed: boolean;
    readonly warnings?: readonly string[];
    readonly patch?: string;
    readonly status?: { readonly message: string };
  };
}

async function ask(path: "validate" | "mutate", policy: object, object: object, oldObject?: object) {
  const request = {
    uid: "1",
    operation: oldObject ? "UPDATE" : "CREATE",
    object,
    ...(oldObject && { oldObject }),
  };
  const { body } = await webhooks(Policy.parse(policy), { port: false }).handle({
    path: `/${path}-example-com-v1-webapp`,
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ apiVersion: "admission.k8s.io/v1", kind: "AdmissionReview", request }),
  });
  return (JSON.parse(body) as Answer).response;
}

const floating = ["nginx", "nginx:latest", "registry.example.com:5000/shop/nginx", "a/b:latest"];
const fixed = [
  "nginx:1.25",
  "registry.example.com:5000/shop/nginx:1",
  "nginx@sha256:abc",
  "nginx:latest@sha256:abc",
];

test.for(floating)("%s floats: it is warned of, or refused", async (image) => {
  const app = WebApp.make("app", { image });
  const warned = await ask("validate", {}, app);
  expect(warned).toMatchObject({ allowed: true, warnings: [expect.stringContaining("spec.image")] });
  const refused = await ask("validate", { FLOATING_IMAGES: "refuse" }, app);
  expect(refused.allowed).toBe(false);
  expect(refused.status?.message).toContain("spec.image");
});

test.for(fixed)("%s is fine", async (image) => {
  const answer = await ask("validate", { FLOATING_IMAGES: "refuse" }, WebApp.make("app", { image }));
  expect(answer).toEqual({ uid: "1", allowed: true });
});

test("what was let in before a policy became stricter can still be changed elsewhere", async () => {
  const before = WebApp.make("app", { image: "nginx", replicas: 80 });
  const after = WebApp.make("app", { image: "nginx", replicas: 80, port: 8080 });
  const policy = { FLOATING_IMAGES: "refuse", MAX_REPLICAS: "10" };
  expect((await ask("validate", policy, after, before)).allowed).toBe(true);
  expect((await ask("validate", policy, after)).status?.message).toMatch(/spec\.image.*spec\.replicas/);
});

test("an autoscaler's bounds do not let more replicas in to begin with", async () => {
  const policy = { MAX_REPLICAS: "10" };
  const app = (replicas: number, max: number) =>
    WebApp.make("app", { image: "nginx:1", replicas, autoscaling: { min: 1, max } });
  expect((await ask("validate", policy, app(10, 10))).allowed).toBe(true);
  expect((await ask("validate", policy, app(1000, 1))).status?.message).toMatch(
    /spec\.replicas: .*1000 is more than the 10/,
  );
  expect((await ask("validate", policy, app(1000, 11))).status?.message).toMatch(
    /spec\.replicas.*spec\.autoscaling\.max/,
  );
  expect((await ask("validate", policy, app(1000, 11), app(1000, 1))).status?.message).not.toMatch(
    "spec.replicas",
  );
});

test("an app without a host or an autoscaler gets labels and nothing else; its own labels win", async () => {
  const labels = { "app.kubernetes.io/name": "mine" };
  const { patch = "" } = await ask("mutate", {}, WebApp.make({ name: "app", labels }, { image: "nginx:1" }));
  expect(JSON.parse(Buffer.from(patch, "base64").toString())).toEqual([
    { op: "add", path: "/metadata/labels/app.kubernetes.io~1component", value: "web" },
  ]);
});

test("an autoscaled app asks for CPU, for there to be something to measure by", async () => {
  const requestsOf = async (resources: object | undefined) => {
    const spec = { image: "nginx:1", autoscaling: { min: 1, max: 2 }, ...(resources && { resources }) };
    const { patch = "" } = await ask("mutate", {}, WebApp.make("app", spec));
    return Buffer.from(patch, "base64").toString();
  };
  expect(await requestsOf(undefined)).toContain('"cpu":"100m"');
  expect(await requestsOf({ limits: { cpu: "2" } })).toContain('{"cpu":"2"}');
  expect(await requestsOf({ requests: { cpu: "1" } })).not.toContain("cpu");
});

test("a policy that makes no sense is refused at the start, by the name of its variable", () => {
  expect(() => Policy.parse({ FLOATING_IMAGES: "maybe" })).toThrow("FLOATING_IMAGES");
  expect(() => Policy.parse({ MAX_REPLICAS: "many" })).toThrow("MAX_REPLICAS");
});
