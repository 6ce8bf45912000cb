/**
 * Runs Kubernetes' own end-to-end tests on the embedded control plane, as far as they need no containers: about 25 min.
 *
 *     E2E_TEST=… node tests/clients/e2e.ts [FOCUS]
 *
 * E2E_TEST is the program that `e2e/README.md` tells how to build. FOCUS, a regular expression, runs only what it matches. With KUBECONFIG,
 * that cluster is tested in place of the embedded one. What a run of everything on the embedded one showed is kept in e2e/last-result.json.
 */
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Pod } from "@windlass/kinds/builtin";
import { ControlPlane } from "../../packages/control-plane/src/control-plane.ts";
import { excluded, wanted } from "./e2e/specs.ts";
import { findProgram, mustRun, run, skip } from "./program.ts";

interface SpecReport {
  readonly ContainerHierarchyTexts: readonly string[];
  readonly LeafNodeText: string;
  readonly LeafNodeType: string;
  readonly State: string;
  readonly RunTime: number;
  readonly Failure?: { readonly Message: string };
}

/**
 * Specs that want nodes for themselves wait a minute for what runs on every node of a cluster, each time. This is all of it, by its name.
 */
const systemPod = [
  "run",
  "kube-proxy-fluentd-elasticsearch-node-problem-detector",
  "--namespace=kube-system",
  "--image=registry.k8s.io/pause",
];

const program = (await findProgram("e2e.test", "E2E_TEST")) ?? skip("there is no e2e.test");
const kubectl = (await findProgram("kubectl", "KUBECTL")) ?? skip("there is no kubectl");
const folder = await mkdtemp(join(tmpdir(), "clients-e2e-"));
try {
  const { KUBECONFIG: real } = process.env;
  await using plane = real === undefined ? await ControlPlane.start() : undefined;
  if (plane) teach(plane);
  const kubeconfig = real ?? join(folder, "kubeconfig");
  if (plane) await writeFile(kubeconfig, await plane.kubeconfig());
  if (plane) await mustRun(kubectl, [`--kubeconfig=${kubeconfig}`, ...systemPod]);
  const report = join(folder, "report.json");
  const { output } = await run(program, [
    `--kubeconfig=${kubeconfig}`,
    `--kubectl-path=${kubectl}`,
    "--ginkgo.no-color",
    "--ginkgo.timeout=3h",
    `--ginkgo.json-report=${report}`,
    `--ginkgo.focus=${process.argv[2] ?? wanted.join("|")}`,
    `--ginkgo.skip=${Object.values(excluded).flat().join("|")}`,
  ]);
  const result = tell(await readFile(report, "utf8").catch(() => ""), output);
  if (plane && process.argv[2] === undefined) {
    const kept = join(import.meta.dirname, "e2e/last-result.json");
    await writeFile(kept, `${JSON.stringify(result, undefined, 2)}\n`);
  }
} finally {
  await rm(folder, { recursive: true, force: true });
}

/** What images and commands of the specs do. All other pods run, and those of Jobs succeed. */
function teach({ node }: ControlPlane): void {
  node.missingImages("webserver:404");
  const contains =
    (part: string) =>
    ({ spec }: Pod) =>
      JSON.stringify(spec).includes(part);
  node.on(contains("/pause:"), "run");
  node.on(contains('"exit 1"'), "fail");
}

interface Result {
  readonly passed: number;
  readonly run: number;
  readonly seconds: number;
  /** Their names. */
  readonly failed: readonly string[];
}

function tell(report: string, output: string): Result {
  if (report === "") throw new Error(`e2e.test left no report:\n${output}`);
  const [suite] = JSON.parse(report) as { readonly SpecReports: readonly SpecReport[] }[];
  const specs = (suite?.SpecReports ?? []).filter(
    ({ LeafNodeType, State }) => LeafNodeType === "It" && State !== "skipped",
  );
  const nameOf = (spec: SpecReport) => [...spec.ContainerHierarchyTexts, spec.LeafNodeText].join(" ");
  const failed = specs.filter(({ State }) => State !== "passed");
  for (const spec of failed) {
    process.stdout.write(`${spec.State}: ${nameOf(spec)}\n  ${spec.Failure?.Message.slice(0, 500) ?? ""}\n`);
  }
  const seconds = Math.round(specs.reduce((sum, { RunTime }) => sum + RunTime, 0) / 1e9);
  process.stdout.write(`e2e: ${specs.length - failed.length} of ${specs.length} passed in ${seconds} s\n`);
  if (failed.length > 0) process.exitCode = 1;
  return { passed: specs.length - failed.length, run: specs.length, seconds, failed: failed.map(nameOf) };
}
