import { spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { Deployment, Service } from "@windlass/runtime/kinds";
import { existing, startCluster, testReconcile, waitFor, waitForCondition } from "@windlass/testing";
import { expect, test } from "vitest";
import { WebApp, webapp } from "./webapp.ts";

test("the program on the README's first page runs as it stands", async () => {
  await using cluster = await startCluster();
  await cluster.install(WebApp);
  const namespace = await cluster.createNamespace();
  const program = spawn(process.execPath, [fileURLToPath(new URL("webapp-main.ts", import.meta.url))], {
    env: {
      ...process.env,
      KUBECONFIG: await cluster.kubeconfig(),
      POD_NAMESPACE: namespace,
      METRICS_BIND_ADDRESS: "0",
      HEALTH_PROBE_BIND_ADDRESS: "0",
    },
    stdio: ["ignore", "pipe", "pipe"],
  });
  const output: string[] = [];
  for (const stream of [program.stdout, program.stderr])
    stream.on("data", (chunk) => output.push(String(chunk)));
  const ended = once(program, "exit");
  try {
    const key = { namespace, name: "shop" };
    await cluster.client.create(WebApp, { metadata: key, spec: { image: "nginx:1.25", replicas: 2 } });
    await Promise.race([
      waitForCondition(cluster.client, WebApp, key, "Ready"),
      ended.then(() => expect.fail(`the program ended: ${output.join("")}`)),
    ]);
    expect((await cluster.client.get(Deployment, key)).spec.replicas).toBe(2);
    await waitFor(cluster.client, Service, key, ({ spec }) => spec.clusterIP);
  } finally {
    program.kill("SIGTERM");
    await ended;
  }
}, 60_000);

test("an app is ready when as many replicas are available as it asks for", async () => {
  const shop = WebApp.make("shop", { image: "nginx:1.25", replicas: 2 });
  const withAvailable = (availableReplicas: number) => ({
    owned: [existing(Deployment, { metadata: { name: "shop" }, status: { availableReplicas } })],
  });
  const waiting = await testReconcile(webapp, shop, withAvailable(1));
  expect(waiting.status?.conditions?.[0]).toMatchObject({ type: "Ready", status: "False" });
  const ready = await testReconcile(webapp, shop, withAvailable(2));
  expect(ready.status?.conditions?.[0]).toMatchObject({ type: "Ready", status: "True" });
});
