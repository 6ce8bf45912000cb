import { execFile } from "node:child_process";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { parseArgs, promisify } from "node:util";
import { ControlPlane } from "../../../packages/control-plane/src/index.ts";
import type { JsonObject } from "../../../packages/control-plane/src/json.ts";
import { conclude, count } from "../tally.ts";
import { differences, type ObservedState, seenIn } from "./compare.ts";
import { known } from "./known.ts";

/**
 * Applies the same manifests to a real cluster (KUBECONFIG) and to a control plane in this process,
 * waits, and prints how what the controllers made of them differs. Needs kubectl and a cluster with
 * one node:
 *
 *   node tests/differential/controllers/main.ts [--wait 40] [--only jobs.yaml]
 */
const { values } = parseArgs({ options: { wait: { type: "string" }, only: { type: "string" } } });
const waitMs = Number(values.wait ?? "40") * 1_000;
const folder = fileURLToPath(new URL("manifests", import.meta.url));
const files = readdirSync(folder)
  .filter((file) => file.endsWith(".yaml"))
  .filter((file) => values.only === undefined || file === values.only);
/** What is done to the objects of a manifest once they are up: one kubectl command a line. */
const steps = files.flatMap((file) => {
  const path = join(folder, file.replace(".yaml", ".steps"));
  return existsSync(path) ? readFileSync(path, "utf8").trim().split("\n") : [];
});
const betweenStepsMs = 4_000;

const kinds =
  "pods,deployments,replicasets,statefulsets,daemonsets,replicationcontrollers,jobs,cronjobs,services,endpoints,endpointslices,poddisruptionbudgets,horizontalpodautoscalers,persistentvolumeclaims,controllerrevisions,configmaps,serviceaccounts,resourcequotas,events";

const run = promisify(execFile);

async function kubectl(kubeconfig: string, ...args: string[]): Promise<string> {
  const { stdout } = await run("kubectl", ["--kubeconfig", kubeconfig, ...args], { maxBuffer: 1 << 28 });
  return stdout;
}

async function play(kubeconfig: string): Promise<ObservedState> {
  const namespace = `controllers-${process.pid}`;
  await kubectl(kubeconfig, "create", "namespace", namespace);
  try {
    await sleep(1_000);
    for (const file of files) await kubectl(kubeconfig, "-n", namespace, "apply", "-f", join(folder, file));
    for (const step of steps) {
      await sleep(betweenStepsMs);
      await kubectl(kubeconfig, "-n", namespace, ...step.split(" "));
    }
    await sleep(waitMs);
    const list = JSON.parse(await kubectl(kubeconfig, "-n", namespace, "get", kinds, "-o", "json")) as {
      items: JsonObject[];
    };
    return seenIn(list.items, namespace);
  } finally {
    await kubectl(kubeconfig, "delete", "namespace", namespace, "--wait=false");
  }
}

const scratch = mkdtempSync(join(tmpdir(), "controllers-"));
try {
  await using plane = await ControlPlane.start();
  const ours = join(scratch, "ours.kubeconfig");
  writeFileSync(ours, await plane.kubeconfig());
  const real = process.env.KUBECONFIG;
  if (real === undefined) throw new Error("KUBECONFIG must name a real cluster");
  const [theirsSeen, oursSeen] = await Promise.all([play(real), play(ours)]);
  const reasons = new Map<string, number>();
  const found = differences(theirsSeen, oursSeen).filter((line) => {
    const excuse = known.find(({ matches }) => matches.test(line));
    if (excuse) count(reasons, excuse.why);
    return !excuse;
  });
  for (const line of found) process.stdout.write(`${line}\n`);
  const compared = theirsSeen.objects.size + theirsSeen.events.size;
  conclude({ name: "controllers", compared, differing: found.length, known: reasons });
} finally {
  rmSync(scratch, { recursive: true });
}
