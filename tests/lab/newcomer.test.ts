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

let user: User;
const began = performance.now();

beforeAll(async () => {
  user = await newcomer(inject("tarballs"));
});
afterAll(() => user?.[Symbol.asyncDispose]());

test("from nothing to an operator that runs in a cluster, in under ten minutes", {
  timeout: 600_000,
}, async () => {
  const args = [
    "create",
    "windlass",
    "newcomer-operator",
    "--",
    "--kind",
    "Newcomer",
    "--group",
    Newcomer.group,
  ];
  const project = join(user.home, "newcomer-operator");
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

  const kubectl = (...words: readonly string[]) =>
    execFileSync("kubectl", words, { cwd: project, encoding: "utf8" });
  kubectl("apply", "--server-side", "-k", "config/default");
  await checkOverlay(project, kubectl);
  await using client = await connect();
  const operator = { namespace: "newcomer-system", name: "newcomer-operator" };
  const patience = { timeout: 120_000 };
  await waitForCondition(client, Deployment, operator, "Available", "True", patience);

  const sample = await readFile(join(project, "config", "samples", "newcomer.yaml"), "utf8");
  await writeFile(join(project, "sample.yaml"), sample.replace("nginx:1.29", runnable));
  kubectl("apply", "-f", "sample.yaml");
  await waitForCondition(client, Newcomer, { namespace: "default", name: "shop" }, "Ready", "True", patience);

  // Two replicas run; one of them holds the lease.
  const lease = await client.get(Lease, operator);
  expect(lease.spec?.holderIdentity).toContain("newcomer-operator-");
  expect((await client.get(Deployment, operator)).status?.readyReplicas).toBe(2);
  await checkCommands(project);
  execFileSync("helm", ["lint", "--strict", "chart"], { cwd: project, stdio: "inherit" });
  console.table(took);
  const minutes = (performance.now() - began) / 60_000;
  console.log(`from nothing to a running operator: ${minutes.toFixed(1)} min`);
  expect(minutes).toBeLessThan(10);
});

test("the Dockerfile of a new operator builds with BuildKit, to an image of under 130 MB", {
  timeout: 300_000,
}, async () => {
  await user.run(user.home, "npm", "create", "windlass", "docker-operator");
  const project = join(user.home, "docker-operator");
  // npm looks up native programs for every platform, of which a mirror may lack some.
  const manifest = join(project, "package.json");
  await writeFile(manifest, (await readFile(manifest, "utf8")).replace(/^.*@biomejs.*\n/m, ""));
  await user.run(project, "npm", "install", "--package-lock-only");
  const { output: registry } = await user.run(project, "npm", "config", "get", "registry");
  await writeFile(join(project, ".npmrc"), `registry=${registry.trim().split("\n").at(-1)}\n`);
  await using builder = await startBuilder("node:24-slim");
  const built = await builder.build(project);
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
async function checkOverlay(project: string, kubectl: (...words: readonly string[]) => string) {
  const guide = await readFile(join(root, "docs/guides/deploy.md"), "utf8");
  const [, path = "", text = ""] = /^```yaml\n# (\S+)\n(.*?)^```$/ms.exec(guide) ?? [];
  await mkdir(dirname(join(project, path)), { recursive: true });
  await writeFile(join(project, path), text.replaceAll("shop-operator", "newcomer-operator"));
  const objects = kubectl("kustomize", dirname(path));
  expect(objects).toContain("image: registry.acme.io/newcomer-operator:1.4.2\n");
  expect(objects).toContain("kind: PrometheusRule\n");
}

/** What one looks at a running operator with finds it well. */
async function checkCommands(project: string) {
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
