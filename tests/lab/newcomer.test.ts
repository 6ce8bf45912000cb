import { execFileSync } from "node:child_process";
import { chmod, mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { connect } from "@windlass/client";
import { Deployment, Lease } from "@windlass/runtime/kinds";
import { waitForCondition } from "@windlass/testing";
import { afterAll, beforeAll, expect, inject, test } from "vitest";
import { type Newcomer, newcomer } from "../packages/newcomer.ts";

/** The image that an operator of the lab can run: it is there from the start. */
const runnable = "registry.k8s.io/pause:3.10.1";
const lab = process.env.WINDLASS_LAB ?? join(import.meta.dirname, "..", "..", "..", "shared", "lab", "lab");
const Ticket = {
  group: "desk.acme.io",
  version: "v1",
  kind: "Ticket",
  plural: "tickets",
  scope: "Namespaced",
} as const;

let user: Newcomer;
const began = performance.now();

beforeAll(async () => {
  user = await newcomer(inject("tarballs"));
});
afterAll(() => user?.[Symbol.asyncDispose]());

test("from nothing to an operator that runs in a cluster, in under ten minutes", {
  timeout: 600_000,
}, async () => {
  const args = ["create", "windlass", "ticket-operator", "--", "--kind", "Ticket", "--group", "desk.acme.io"];
  await user.run(user.home, "npm", ...args);
  const project = join(user.home, "ticket-operator");
  await user.run(project, "npm", "install");
  await user.run(project, "npm", "test");
  await user.run(project, "npm", "run", "build");
  await makeImage(project, "ticket-operator:0.1.0");

  const kubectl = (...words: readonly string[]) =>
    execFileSync("kubectl", words, { cwd: project, encoding: "utf8" });
  kubectl("apply", "--server-side", "-k", "config");
  await using client = await connect();
  const operator = { namespace: "ticket-system", name: "ticket-operator" };
  const patience = { timeoutMs: 120_000 };
  await waitForCondition(client, Deployment, operator, "Available", "True", patience);

  const sample = await readFile(join(project, "config", "samples", "ticket.yaml"), "utf8");
  await writeFile(join(project, "sample.yaml"), sample.replace("nginx:1.29", runnable));
  kubectl("apply", "-f", "sample.yaml");
  await waitForCondition(client, Ticket, { namespace: "default", name: "shop" }, "Ready", "True", patience);

  // Two replicas run; one of them holds the lease.
  const lease = await client.get(Lease, operator);
  expect(lease.spec?.holderIdentity).toContain("ticket-operator-");
  expect((await client.get(Deployment, operator)).status?.readyReplicas).toBe(2);
  const minutes = (performance.now() - began) / 60_000;
  console.log(`from nothing to a running operator: ${minutes.toFixed(1)} min`);
  expect(minutes).toBeLessThan(10);
});

/** What the Dockerfile does, by the lab's own means: there is no registry to pull from. */
async function makeImage(project: string, name: string): Promise<void> {
  const app = join(project, "image");
  await mkdir(app);
  await writeFile(join(app, "main.mjs"), await readFile(join(project, "dist", "main.js")));
  await chmod(app, 0o755);
  const adding = ["--add", `${process.execPath}:/usr/bin/node`, "--add", `${app}:/app`];
  const running = ["--user", "65532:65532", "--entrypoint", '["node","/app/main.mjs"]'];
  execFileSync(lab, ["image", name, "--debian", "libstdc++6,ca-certificates", ...adding, ...running], {
    stdio: ["ignore", "ignore", "inherit"],
  });
  await rm(app, { recursive: true });
}
