import { ManualClock, seededRandom } from "@windlass/clock";
import { expect, test } from "vitest";
import { ControlPlane } from "../control-plane.ts";

test("of evictions at once only as many succeed as the disruption budget has", async () => {
  const clock = new ManualClock();
  await using plane = await ControlPlane.start({ clock, random: seededRandom(1) });
  const transport = plane.connect();
  const send = async (method: string, path: string, body: unknown) => {
    const response = await transport.request({
      method,
      path,
      headers: { "content-type": "application/json" },
      body: JSON.stringify(body),
    });
    return response.status;
  };
  const labels = { app: "web" };
  await send("POST", "/apis/apps/v1/namespaces/default/deployments", {
    metadata: { name: "web" },
    spec: {
      replicas: 3,
      selector: { matchLabels: labels },
      template: { metadata: { labels }, spec: { containers: [{ name: "c", image: "nginx:1.25" }] } },
    },
  });
  await send("POST", "/apis/policy/v1/namespaces/default/poddisruptionbudgets", {
    metadata: { name: "web" },
    spec: { minAvailable: 2, selector: { matchLabels: labels } },
  });
  await clock.advance(5_000);
  await plane.settle();
  const pods = Array.from(plane.store.entries("pods"), ({ object }) => object.metadata.name);
  const answers = await Promise.all(
    pods.map((name) =>
      send("POST", `/api/v1/namespaces/default/pods/${name}/eviction`, { metadata: { name } }),
    ),
  );
  expect(answers.toSorted((a, b) => a - b)).toEqual([201, 429, 429]);
});

test("a dry run takes nothing out of the budget, and an unready pod may be evicted where the budget allows it", async () => {
  await using plane = await ControlPlane.start({ clock: new ManualClock(), nodes: "none" });
  const transport = plane.connect();
  const send = async (method: string, path: string, body: unknown) => {
    const headers = {
      "content-type": method === "PATCH" ? "application/merge-patch+json" : "application/json",
    };
    const response = await transport.request({ method, path, headers, body: JSON.stringify(body) });
    return response.status;
  };
  const pods = "/api/v1/namespaces/default/pods";
  for (const name of ["ready", "sick"]) {
    const metadata = { name, labels: { app: "web" } };
    await send("POST", pods, { metadata, spec: { containers: [{ name: "c", image: "nginx:1.25" }] } });
    const conditions = [{ type: "Ready", status: name === "ready" ? "True" : "False" }];
    await send("PATCH", `${pods}/${name}/status`, { status: { phase: "Running", conditions } });
  }
  const budget = (minAvailable: number) => ({
    metadata: { name: "web" },
    spec: {
      minAvailable,
      unhealthyPodEvictionPolicy: "AlwaysAllow",
      selector: { matchLabels: { app: "web" } },
    },
  });
  await send("POST", "/apis/policy/v1/namespaces/default/poddisruptionbudgets", budget(0));
  await plane.settle();
  const evict = (name: string, more: object = {}) =>
    send("POST", `${pods}/${name}/eviction`, { metadata: { name }, ...more });
  expect(await evict("ready", { deleteOptions: { dryRun: ["All"] } })).toBe(201);
  expect(plane.store.get("pods", "default/ready")).toBeDefined();
  await send("PATCH", "/apis/policy/v1/namespaces/default/poddisruptionbudgets/web", {
    spec: { minAvailable: 2 },
  });
  await plane.settle();
  expect(await evict("ready")).toBe(429);
  expect(await evict("sick")).toBe(201);
  expect(plane.store.get("pods", "default/sick")).toBeUndefined();
});
