import { execFileSync } from "node:child_process";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { connect } from "@windlass/client";
import { Deployment, Lease } from "@windlass/runtime/kinds";
import { waitForCondition } from "@windlass/testing";
import { afterAll, beforeAll, expect, inject, test } from "vitest";
import { importIntoLab } from "../../scripts/packaging/operator-image.ts";
import { root } from "../../scripts/packaging/source-packages.ts";
import { startBuilder } from "../packages/dockerfile.ts";
import { newcomer, type Newcomer as User } from "../packages/newcomer.ts";

/** The image that an operator of the lab can run: it is there from the start. */
const runnable = "registry.k8s.io/pause:3.10.1";
const Newcomer = {
  group: "newcomer.acme.io",
  version: "v1",
  kind: "Newcomer",
  plural: "newcomers",
  scope: "Namespaced",
} as const;

const operator = { namespace: "newcomer-system", name: "newcomer-operator" };
const sample = { namespace: "default", name: "shop" };
const patience = { timeout: 120_000 };

/** Tests build on one another, as the steps of a newcomer do. */
let user: User;
let project: string;
const began = performance.now();

const run = (program: string, ...words: readonly string[]) =>
  execFileSync(program, words, { cwd: project, encoding: "utf8" });
const kubectl = (...words: readonly string[]) => run("kubectl", ...words);
const helm = (...words: readonly string[]) => run("helm", ...words);

beforeAll(async () => {
  user = await newcomer(inject("tarballs"));
  project = join(user.home, operator.name);
});
afterAll(() => user?.[Symbol.asyncDispose]());

test("from nothing to an operator that runs in a cluster, in under ten minutes", {
  timeout: 600_000,
}, async () => {
  const args = ["create", "windlass", operator.name, "--", "--kind", "Newcomer", "--group", Newcomer.group];
  const took: Record<string, string> = {};
  const step = async (folder: string, program: string, ...words: readonly string[]) => {
    const { tookMs } = await user.run(folder, program, ...words);
    took[[program, ...words.slice(0, 2)].join(" ")] = `${(tookMs / 1_000).toFixed(1)} s`;
  };
  await step(user.home, "npm", ...args);
  await step(project, "npm", "install");
  await step(project, "npm", "test");
  await step(project, "npm", "run", "dev", "--", "--exit-when-ready");
  await step(project, "npm", "run", "generate");
  await step(project, "npm", "run", "image");
  importIntoLab(join(project, ".windlass", "image.tar"));

  kubectl("apply", "--server-side", "-k", "config/default");
  await checkOverlay();
  await using client = await connect();
  await waitForCondition(client, Deployment, operator, "Available", "True", patience);

  const text = await readFile(join(project, "config", "samples", "newcomer.yaml"), "utf8");
  await writeFile(join(project, "sample.yaml"), text.replace("nginx:1.29", runnable));
  kubectl("apply", "-f", "sample.yaml");
  await waitForCondition(client, Newcomer, sample, "Ready", "True", patience);

  // Two replicas run; one of them holds the lease.
  const lease = await client.get(Lease, operator);
  expect(lease.spec?.holderIdentity).toContain("newcomer-operator-");
  expect((await client.get(Deployment, operator)).status?.readyReplicas).toBe(2);
  await checkCommands();
  console.table(took);
  const minutes = (performance.now() - began) / 60_000;
  console.log(`from nothing to a running operator: ${minutes.toFixed(1)} min`);
  expect(minutes).toBeLessThan(10);
});

test("its chart installs it as its README says, follows values, refuses others, and goes without the CRD", {
  timeout: 300_000,
}, async () => {
  kubectl("delete", "-f", "sample.yaml");
  kubectl("delete", "-k", "config/default");
  helm("lint", "--strict", "chart");
  const readme = await readFile(join(project, "README.md"), "utf8");
  const [, words = ""] = /helm (install .*)$/m.exec(readme) ?? [];
  helm(...words.split(" "), "--wait");
  await using client = await connect();
  await waitForCondition(client, Deployment, operator, "Available", "True", patience);
  kubectl("apply", "-f", "sample.yaml");
  await waitForCondition(client, Newcomer, sample, "Ready", "True", patience);
  await checkCommands();

  const upgrade = (...values: readonly string[]) =>
    helm("upgrade", operator.name, "chart", "-n", operator.namespace, "--wait", "--set", values.join(","));
  expect(() => upgrade("replica=1")).toThrow("additional properties 'replica' not allowed");
  upgrade("replicas=1", "logLevel=debug", "dashboard.enabled=true");
  const { spec, status } = await client.get(Deployment, operator);
  expect([spec?.replicas, status?.readyReplicas]).toEqual([1, 1]);
  expect(spec?.template.spec?.containers[0]?.env).toContainEqual({ name: "LOG_LEVEL", value: "debug" });
  kubectl("patch", "newcomer/shop", "--type", "merge", "--patch", '{"spec":{"replicas":1}}');
  kubectl("wait", "--for=jsonpath={.status.availableReplicas}=1", "newcomer/shop", "--timeout=60s");

  helm("uninstall", operator.name, "-n", operator.namespace, "--wait");
  // What users made stays until they delete it.
  expect((await client.get(Newcomer, sample)).metadata.name).toBe("shop");
  kubectl("delete", "crd", `${Newcomer.plural}.${Newcomer.group}`);
});

test("the Dockerfile of a new operator builds with BuildKit, to an image of under 130 MB", {
  timeout: 300_000,
}, async () => {
  await user.run(user.home, "npm", "create", "windlass", "docker-operator");
  const folder = join(user.home, "docker-operator");
  // npm looks up native programs for every platform, of which a mirror may lack some.
  const manifest = join(folder, "package.json");
  await writeFile(manifest, (await readFile(manifest, "utf8")).replace(/^.*@biomejs.*\n/m, ""));
  await user.run(folder, "npm", "install", "--package-lock-only");
  const { output: registry } = await user.run(folder, "npm", "config", "get", "registry");
  await writeFile(join(folder, ".npmrc"), `registry=${registry.trim().split("\n").at(-1)}\n`);
  await using builder = await startBuilder("node:24-slim");
  const built = await builder.build(folder);
  console.log(`the image of the Dockerfile: ${(built.unpackedBytes / 1e6).toFixed(1)} MB`);
  expect(built.unpackedBytes).toBeLessThan(130e6);
  const runs = { User: "65532:65532", WorkingDir: "/app", Entrypoint: ["/usr/bin/node"], Cmd: ["main.js"] };
  expect(built.config).toMatchObject(runs);
  const inside = [built.root, "/usr/bin/node", "--print", "process.version"];
  expect(execFileSync("chroot", ["--userspec=65532:65532", ...inside], { encoding: "utf8" })).toMatch(
    /^v24\./,
  );
});

/** The overlay that the guide shows fits what was generated. */
async function checkOverlay() {
  const guide = await readFile(join(root, "docs/guides/deploy.md"), "utf8");
  const [, path = "", text = ""] = /^```yaml\n# (\S+)\n(.*?)^```$/ms.exec(guide) ?? [];
  await mkdir(dirname(join(project, path)), { recursive: true });
  await writeFile(join(project, path), text.replaceAll("shop-operator", "newcomer-operator"));
  const objects = kubectl("kustomize", dirname(path));
  expect(objects).toContain("image: registry.acme.io/newcomer-operator:1.4.2\n");
  expect(objects).toContain("kind: PrometheusRule\n");
}

/** What one looks at a running operator with finds it well. */
async function checkCommands() {
  const windlass = async (...words: readonly string[]) => {
    const kubeconfig = `KUBECONFIG=${process.env.KUBECONFIG}`;
    return (await user.run(project, "env", kubeconfig, "npx", "windlass", ...words)).output;
  };
  expect(await windlass("doctor")).toMatch(/✓ .*Lease newcomer-operator.*: held by newcomer-operator-/);
  expect(await windlass("diff", "--check")).toContain("Nothing would change.");
  const top = await windlass("top", "--count", "1", "--interval", "1");
  expect(top).toMatch(/^newcomer-operator +2 replicas, .*leads$/m);
  expect(top).toMatch(/^newcomer +0 +0\/\d/m);
  const types = await windlass("types", "--cluster", `${Newcomer.plural}.${Newcomer.group}`);
  expect(types).toContain("export const Newcomer: ResourceKind<");
}
