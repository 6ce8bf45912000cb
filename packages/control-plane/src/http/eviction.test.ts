import { ManualClock, seededRandom } from "@windlass/clock";
import { expect, test } from "vitest";
import { ControlPlane } from "../control-plane.ts";

test("of evictions at once only as many succeed as the disruption budget has", async () => {
  const clock = new ManualClock();
  await using plane = await ControlPlane.start({ clock, random: seededRandom(1) });
  const door = plane.connect();
  const send = async (method: string, path: string, body: unknown) => {
    const response = await door.request({
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
