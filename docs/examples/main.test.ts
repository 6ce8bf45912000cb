import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { type AddressInfo, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { ControlPlane } from "@windlass/control-plane";
import { Client } from "@windlass/runtime";
import { ConfigMap, CustomResourceDefinition } from "@windlass/runtime/kinds";
import { waitFor, waitForCondition } from "@windlass/testing";
import { expect, test } from "vitest";
import { Greeting } from "./greeting.ts";

async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  server.close();
  return port;
}

test("the program of the tutorial runs as it is, and its webhooks are called", async () => {
  await using plane = await ControlPlane.start();
  await using client = new Client({ transport: plane.connect() });
  const folder = await mkdtemp(join(tmpdir(), "windlass-tutorial-"));
  const kubeconfig = join(folder, "kubeconfig");
  await writeFile(kubeconfig, await plane.kubeconfig());
  const crd = Greeting.crd();
  await client.apply(CustomResourceDefinition, crd);
  await waitForCondition(client, CustomResourceDefinition, { name: crd.metadata.name }, "Established");
  const port = await freePort();
  const program = spawn(process.execPath, [fileURLToPath(new URL("main.ts", import.meta.url))], {
    stdio: ["ignore", "ignore", "inherit"],
    env: {
      ...process.env,
      KUBECONFIG: kubeconfig,
      WEBHOOK_URL: `https://127.0.0.1:${port}`,
      WEBHOOK_BIND_ADDRESS: `127.0.0.1:${port}`,
      HEALTH_PROBE_BIND_ADDRESS: "127.0.0.1:0",
      METRICS_BIND_ADDRESS: "127.0.0.1:0",
    },
  });
  const ended = once(program, "exit");
  try {
    const key = { namespace: "default", name: "ada" };
    await client.create(Greeting, { metadata: key, spec: { name: "Ada" } });
    await waitFor(client, ConfigMap, key, ({ data }) => data?.text === "Hello, Ada!");
    // The controller runs after the webhooks do.
    const bob = { namespace: "default", name: "bob" };
    const trimmed = await client.create(Greeting, { metadata: bob, spec: { name: "  Bob " } });
    expect(trimmed.spec.name).toBe("Bob");
    const rename = client.patch(Greeting, bob, { type: "merge", patch: { spec: { name: "Rob" } } });
    await expect(rename).rejects.toThrow(/spec\.name.*cannot change/);
  } finally {
    program.kill("SIGTERM");
    await rm(folder, { recursive: true, force: true });
  }
  expect(await ended).toEqual([0, null]);
}, 60_000);
