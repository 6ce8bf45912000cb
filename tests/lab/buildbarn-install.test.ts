import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { Deployment, Pod } from "@windlass/runtime/kinds";
import {
  startCluster,
  type TestCluster,
  waitFor,
  waitForCondition,
  waitForDeletion,
} from "@windlass/testing";
import { afterAll, beforeAll, expect, test } from "vitest";
import {
  BuildbarnFrontend,
  BuildbarnScheduler,
  BuildbarnStorage,
  kinds,
} from "../../operators/buildbarn/src/index.ts";
import { labSpecs, loadImages } from "../../operators/buildbarn/testing/lab-test-environment.ts";
import { loadIntoLab } from "../../scripts/packaging/operator-image.ts";

/** The operator in a pod, as it is installed, with the rights that its manifests give it. */
const operator = join(import.meta.dirname, "..", "..", "operators", "buildbarn");
const system = "buildbarn-system";
const wait = { timeout: 120_000 };
const run = (program: string, ...args: readonly string[]) =>
  execFileSync(program, args, { stdio: ["ignore", "ignore", "inherit"] });

let cluster: TestCluster;

beforeAll(async () => {
  cluster = await startCluster({ flavour: "cluster" });
  await loadImages(cluster);
  await loadIntoLab("buildbarn");
}, 300_000);
afterAll(() => cluster?.close());

test("the chart passes helm's lint, and refuses values that do not fit", () => {
  const chart = join(operator, "chart");
  const quiet = (...args: string[]) => execFileSync("helm", args, { stdio: "ignore" });
  const render = (value: string) => quiet("template", "buildbarn-operator", chart, "--set", value);
  quiet("lint", "--strict", chart);
  render("serviceMonitor.enabled=true,prometheusRule.enabled=true,dashboard.enabled=true");
  expect(() => render("replicas=many")).toThrow();
});

const installers = [
  {
    by: "kustomize",
    install: () =>
      run(
        "kubectl",
        "apply",
        "--server-side",
        "--force-conflicts",
        "-k",
        join(operator, "config", "default"),
      ),
    // The definitions stay: others may have resources of them.
    uninstall: () => {
      run("kubectl", "delete", "namespace", system);
      const roles = ["clusterrole,clusterrolebinding", "-l", "app.kubernetes.io/part-of=buildbarn-operator"];
      run("kubectl", "delete", ...roles);
    },
  },
  {
    by: "helm",
    install: () => {
      const taking = ["--take-ownership", "--force-conflicts"];
      const chart = join(operator, "chart");
      run("helm", "install", "buildbarn-operator", chart, "-n", system, "--create-namespace", ...taking);
    },
    uninstall: () => {
      run("helm", "uninstall", "buildbarn-operator", "-n", system, "--wait");
      run("kubectl", "delete", "namespace", system);
    },
  },
] as const;

test.for(installers)(
  "installed by $by: a set comes up, and what a user writes is checked where the operator runs",
  { timeout: 300_000 },
  async ({ by, install, uninstall }) => {
    const { client } = cluster;
    const namespace = await cluster.createNamespace(`buildbarn-${by}`);
    const key = (name: string) => ({ namespace, name });
    const { storage, scheduler, frontend } = labSpecs("2025-02");
    const override = (configOverrides: string) =>
      client.patch(BuildbarnFrontend, key("frontend"), {
        type: "merge",
        patch: { spec: { configOverrides } },
      });
    const made = [
      [BuildbarnFrontend, "frontend"],
      [BuildbarnScheduler, "scheduler"],
      [BuildbarnStorage, "storage"],
    ] as const;
    install();
    try {
      await waitFor(
        client,
        Deployment,
        { namespace: system, name: "buildbarn-operator" },
        ({ spec, status }) => status?.availableReplicas === spec?.replicas,
        wait,
      );
      await client.create(BuildbarnStorage, { metadata: key("storage"), spec: storage });
      await client.create(BuildbarnScheduler, { metadata: key("scheduler"), spec: scheduler });
      await client.create(BuildbarnFrontend, { metadata: key("frontend"), spec: frontend });
      for (const [kind, name] of made) await waitForCondition(client, kind, key(name), "Ready", "True", wait);

      for (const kind of kinds) {
        const fields = ["explain", `${kind.plural}.spec`, "--api-version=buildbarn.io/v1alpha1"];
        expect(execFileSync("kubectl", fields, { encoding: "utf8" })).toMatch(
          /\n {2}version\t?.*(?:\n {2}enum: .*)?\n {4}The release of/,
        );
      }

      await override("{ maximumMessageSizeBytes: 4 * 1024 * 1024 }");
      await waitForCondition(client, BuildbarnFrontend, key("frontend"), "Ready", "True", wait);
      await override("local f(a, n) = if n == 0 then a else f(a + a, n - 1); { a: f([1, 2, 3], 60) }");
      const refused = await waitForCondition(
        client,
        BuildbarnFrontend,
        key("frontend"),
        "ConfigValid",
        "False",
        wait,
      );
      const said = refused.status?.conditions?.find(({ type }) => type === "ConfigValid")?.message;
      expect(said).toMatch(/^frontend\.jsonnet: takes more than/);
      const pods = (await client.list(Pod, { namespace: system })).items;
      expect(pods.length).toBeGreaterThan(0);
      for (const { status } of pods)
        expect(status?.containerStatuses?.map(({ restartCount }) => restartCount)).toEqual([0]);
    } finally {
      for (const [kind, name] of made) {
        await client.delete(kind, key(name));
        await waitForDeletion(client, kind, key(name), wait);
      }
      uninstall();
    }
  },
);
