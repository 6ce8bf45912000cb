import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { CustomResourceDefinition } from "@windlass/runtime/kinds";
import { startCluster, waitForCondition, waitForDeletion } from "@windlass/testing";
import { WebApp } from "@windlass/webapp";
import { expect, test } from "vitest";
import { windlass } from "../../packages/cli/src/program.ts";
import { runProgram } from "../../packages/cli/src/run.ts";
import { recordingTerminal } from "../../packages/cli/src/terminal.fixture.ts";
import { loadIntoLab } from "../../scripts/packaging/operator-image.ts";

const chart = join(import.meta.dirname, "..", "..", "operators", "webapp", "chart");
const helm = (...args: string[]) => execFileSync("helm", args, { stdio: ["ignore", "ignore", "inherit"] });

/** Runs a command of windlass on the operator. */
async function command(name: string, ...args: readonly string[]) {
  const terminal = recordingTerminal({ env: process.env as Record<string, string> });
  const config = join(chart, "..", "windlass.config.ts");
  const code = await runProgram(windlass, [name, "--config", config, ...args], terminal);
  return { code, said: terminal.said(), complained: terminal.complained() };
}

test("the chart passes helm's lint, and refuses values that do not fit", () => {
  helm("lint", "--strict", chart);
  const render = (value: string) => helm("template", "webapp-operator", chart, "--set", value);
  render("serviceMonitor.enabled=true,prometheusRule.enabled=true,dashboard.enabled=true");
  expect(() => render("policy.floatingImages=maybe")).toThrow();
  expect(() => render("policy.floatingImage=warn")).toThrow();
});

test("the chart installs an operator that works by the policy of its values, and goes without its CRD", async () => {
  await using cluster = await startCluster({ flavour: "cluster" });
  const { client } = cluster;
  const operator = await cluster.createNamespace("webapp-chart");
  const namespace = await cluster.createNamespace("webapp");
  const key = { namespace, name: "nginx-app" };
  const crd = { name: "webapps.example.com" };
  await loadIntoLab("webapp");
  helm(
    "install",
    "webapp-operator",
    chart,
    "-n",
    operator,
    "--set",
    "policy.floatingImages=refuse",
    "--wait",
  );
  try {
    await client.create(WebApp, { metadata: key, spec: { image: "nginx:1.25" } });
    await waitForCondition(client, WebApp, key, "Ready", "True", { timeout: 60_000 });
    const floating = { metadata: { namespace, name: "floating" }, spec: { image: "nginx" } };
    await expect(client.create(WebApp, floating)).rejects.toThrow("spec.image");
    const found = await command("doctor", "--namespace", operator);
    expect(found.said).toContain("Webhooks from the API server: reachable\n");
    expect(found).toMatchObject({ code: 0 });
    const { said } = await command(
      "top",
      "--namespace",
      operator,
      "--count",
      "1",
      "--interval",
      "1",
      "--json",
    );
    expect(JSON.parse(said)).toMatchObject({ leader: expect.any(String), controllers: [{ name: "webapp" }] });
    const settled = await command("diff", "--namespace", namespace, "--check");
    expect(settled).toMatchObject({ code: 0, said: "Nothing would change.\n" });
    await client.delete(WebApp, key);
    await waitForDeletion(client, WebApp, key, { timeout: 60_000 });
  } finally {
    helm("uninstall", "webapp-operator", "-n", operator, "--wait");
    expect(await client.get(CustomResourceDefinition, crd)).toBeDefined();
    await client.delete(CustomResourceDefinition, crd);
    await waitForDeletion(client, CustomResourceDefinition, crd);
  }
});
