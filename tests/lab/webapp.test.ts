import { get } from "node:http";
import { sleep, systemClock } from "@windlass/clock";
import { Service } from "@windlass/runtime/kinds";
import { waitForCondition } from "@windlass/testing";
import { WebApp } from "@windlass/webapp";
import { expect, test } from "vitest";
import { installedWorld } from "../../operators/webapp/testing/installed-world.ts";
import { webappSuite } from "../../operators/webapp/testing/suite.ts";

/**
 * The suite that passes on the embedded control plane, with the operator in an image, three
 * replicas of it, and real pods.
 */
const world = webappSuite(installedWorld);

test("nginx answers over the Service of its WebApp", async () => {
  const { client, createNamespace } = world();
  const key = { namespace: await createNamespace(), name: "nginx-app" };
  await client.create(WebApp, { metadata: key, spec: { image: "nginx:1.25", replicas: 2 } });
  await waitForCondition(client, WebApp, key, "Ready", "True", { timeout: 60_000 });
  const { spec } = await client.get(Service, key);
  const page = await fetchPage(spec?.clusterIP ?? "");
  expect(page.status).toBe(200);
  expect(page.body).toContain("Welcome to nginx!");
});

const pauseMs = 200;

interface Page {
  readonly status: number;
  readonly body: string;
}

/**
 * Retries until a server answers, each time over a new connection: one that was begun before the
 * node knew the Service is remembered by its kernel as leading nowhere, and never gets there.
 */
async function fetchPage(address: string): Promise<Page> {
  const deadline = systemClock.monotonic() + 30_000;
  for (;;) {
    try {
      return await ask(address);
    } catch (error) {
      if (systemClock.monotonic() > deadline) throw error;
      await sleep(systemClock, pauseMs);
    }
  }
}

function ask(address: string): Promise<Page> {
  return new Promise((resolve, reject) => {
    const request = get(
      `http://${address}/`,
      { agent: false, signal: AbortSignal.timeout(1_000) },
      (response) => {
        let body = "";
        response.setEncoding("utf8");
        response.on("data", (chunk: string) => {
          body += chunk;
        });
        response.on("end", () => resolve({ status: response.statusCode ?? 0, body }));
      },
    );
    request.once("error", reject);
  });
}
