/**
 * Uses an API server with Kubernetes' own JavaScript client: about 20 s, half of which is its
 * installation.
 *
 *     node tests/clients/javascript.ts
 *
 * Installs the client with npm into a folder that goes afterwards. With KUBECONFIG, that cluster
 * must show the client the same.
 */
import { copyFile, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { findProgram, mustRun, run, skip } from "./program.ts";
import { onServers } from "./servers.ts";

const client = "@kubernetes/client-node@2.0.1";
const npm = (await findProgram("npm", "NPM")) ?? skip("there is no npm");
const place = await mkdtemp(join(tmpdir(), "javascript-client-"));
try {
  await writeFile(join(place, "package.json"), JSON.stringify({ private: true, type: "module" }));
  const flags = ["--no-audit", "--no-fund", "--ignore-scripts"];
  const { code, output } = await run(npm, ["install", "--prefix", place, ...flags, client]);
  if (code !== 0) skip(`the client cannot be installed: ${output.trim().split("\n").at(-1)}`);
  const check = join(place, "check.js");
  await copyFile(join(import.meta.dirname, "javascript", "check.js"), check);
  await onServers("JavaScript client", ({ kubeconfig }) =>
    mustRun(process.execPath, [check], { KUBECONFIG: kubeconfig }),
  );
} finally {
  await rm(place, { recursive: true, force: true });
}
