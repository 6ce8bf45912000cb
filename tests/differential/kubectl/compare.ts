/**
 * Runs the same kubectl sessions on a real cluster and on an embedded control plane, and prints
 * where their output differs.
 *
 *     node tests/differential/kubectl/compare.ts --kubeconfig FILE [--only SESSION]
 *         [--image IMAGE] [--tools IMAGE]
 *
 * The real one must have controllers and a node. It must be able to run the one image indefinitely,
 * and the other must have a shell. kubectl is taken from PATH, or from KUBECTL. Works in a
 * namespace of its own, and deletes it. Exits with 1 when anything differs.
 */
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { isDeepStrictEqual, parseArgs } from "node:util";
import { ControlPlane } from "../../../packages/control-plane/src/control-plane.ts";
import { conclude, count } from "../tally.ts";
import { knownDifferences } from "./known-differences.ts";
import { plain } from "./plain.ts";
import { type Invocation, invoke, type Output } from "./session.ts";
import { sessions } from "./sessions.ts";
import { workloadSessions } from "./workload-sessions.ts";

const { values } = parseArgs({
  options: {
    kubeconfig: { type: "string" },
    image: { type: "string", default: "registry.k8s.io/pause:3.10.1" },
    tools: { type: "string", default: "registry.k8s.io/e2e-test-images/agnhost:2.59" },
    only: { type: "string" },
  },
});
const kubeconfig = values.kubeconfig ?? process.env.KUBECONFIG;
if (!kubeconfig) throw new Error("say which cluster to compare with: --kubeconfig FILE");
const folder = await mkdtemp(join(tmpdir(), "kubectl-"));
await using plane = await ControlPlane.start();
const own = join(folder, "kubeconfig");
await writeFile(own, await plane.kubeconfig());
const namespace = `kubectl-${process.pid}`;
const real = { kubeconfig, cache: join(folder, "real"), namespace };
const ours = { kubeconfig: own, cache: join(folder, "ours"), namespace };

let compared = 0;
let differing = 0;
const reasons = new Map<string, number>();
try {
  for (const at of [real, ours]) await invoke({ args: ["create", "namespace", "{ns}"] }, at);
  for (const session of [...sessions, ...workloadSessions]) {
    if (values.only !== undefined && !session.name.includes(values.only)) continue;
    for (const [step, invocation] of session.invocations.entries()) {
      const call = withImage(invocation);
      const [theirs, mine] = await Promise.all([invoke(call, real), invoke(call, ours)]);
      if (call.quiet) continue;
      compared++;
      const [left, right] = [plain(theirs), plain(mine)];
      if (isDeepStrictEqual(left, right)) continue;
      const known = knownDifferences.find(({ covers }) => covers(call, left, right));
      if (known) {
        count(reasons, known.reason);
        continue;
      }
      differing++;
      process.stdout.write(`\n${session.name} #${step}: kubectl ${call.args.join(" ")}\n`);
      report(left, right);
    }
  }
} finally {
  for (const at of [real, ours]) {
    await invoke({ args: ["delete", "namespace", "{ns}", "--wait=false"] }, at);
    await invoke(
      { args: ["delete", "crd", "gadgets.{ns}.example.com", "--ignore-not-found", "--wait=false"] },
      at,
    );
  }
  await rm(folder, { recursive: true, force: true });
}
conclude({ name: "kubectl", compared, differing, known: reasons });

function withImage(invocation: Invocation): Invocation {
  const fill = (text: string) => text.replaceAll("IMAGE", values.image).replaceAll("TOOLS", values.tools);
  return {
    ...invocation,
    args: invocation.args.map(fill),
    ...(invocation.input === undefined ? {} : { input: fill(invocation.input) }),
  };
}

function report(left: Output, right: Output): void {
  for (const part of ["code", "stdout", "stderr"] as const) {
    if (left[part] === right[part]) continue;
    const [theirs, mine] = [String(left[part]).split("\n"), String(right[part]).split("\n")];
    for (const line of theirs.filter((each) => !mine.includes(each)).slice(0, 12)) {
      process.stdout.write(`  ${part} real ${line}\n`);
    }
    for (const line of mine.filter((each) => !theirs.includes(each)).slice(0, 12)) {
      process.stdout.write(`  ${part} ours ${line}\n`);
    }
  }
}
