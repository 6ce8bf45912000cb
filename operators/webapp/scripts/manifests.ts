/**
 * `node operators/webapp/scripts/manifests.ts`: writes the kustomization and the chart from the code. With `--check` it writes
 * nothing, names the files that differ from what would be written, and fails if there are any.
 */
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { parseArgs } from "node:util";
import { checkDefinitions } from "@windlass/testing";
import { Policy, WebApp, webhooks } from "../src/index.ts";
import { chartFiles } from "./chart.ts";
import { kustomizeFiles } from "./kustomize.ts";

const root = join(import.meta.dirname, "..");

/** All generated files by their path in the operator's folder. */
export function generated(): ReadonlyMap<string, string> {
  return new Map([...kustomizeFiles(), ...chartFiles()]);
}

/** The generated files that are not there, or differ. */
export async function stale(): Promise<readonly string[]> {
  const looks = [...generated()].map(async ([path, text]) => {
    const present = await readFile(join(root, path), "utf8").catch(() => undefined);
    return present === text ? [] : [path];
  });
  return (await Promise.all(looks)).flat();
}

if (import.meta.main) {
  const { values } = parseArgs({ options: { check: { type: "boolean" } } });
  if (values.check) {
    const paths = await stale();
    for (const path of paths) process.stderr.write(`${path} is not what the code says: write it anew\n`);
    process.exitCode = paths.length > 0 ? 1 : 0;
  } else {
    const conversion = webhooks(Policy.parse({})).conversion({ namespace: "webapp-system" });
    await checkDefinitions(WebApp.crd({ conversion }));
    for (const [path, text] of generated()) {
      await mkdir(dirname(join(root, path)), { recursive: true });
      await writeFile(join(root, path), text);
    }
  }
}
