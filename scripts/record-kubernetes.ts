/**
 * Records everything that the packages know of one version of Kubernetes, from its own binaries:
 *
 *   npm run record-kubernetes -- [--assets DIR]
 *
 * DIR holds etcd, kube-apiserver and kubectl, as `KUBEBUILDER_ASSETS` does, and is that by default.
 * A server of that version is started, asked, and ended. `go` must be on the path: protobuf numbers
 * come from the modules that the server was built of.
 */
import { execFileSync, spawnSync } from "node:child_process";
import { delimiter, join } from "node:path";
import { parseArgs } from "node:util";
import { startBinaries } from "@windlass/testing";

const root = join(import.meta.dirname, "..");

/** What is recorded, in the order in which one reads what another has written. */
const generators = [
  "packages/control-plane/scripts/generate.ts",
  "packages/control-plane/scripts/generate-bootstrap.ts",
  "packages/runtime/scripts/generate-kinds.ts",
];

const { values } = parseArgs({ options: { assets: { type: "string" } } });
const assets = values.assets ?? process.env.KUBEBUILDER_ASSETS;
if (assets === undefined || assets === "") {
  process.stderr.write("record-kubernetes: name the folder of the binaries: --assets DIR\n");
  process.exit(2);
}

const server = await startBinaries(assets);
try {
  const kubeconfig = await server.kubeconfig();
  const env = { ...process.env, PATH: `${assets}${delimiter}${process.env.PATH ?? ""}` };
  for (const script of generators) {
    process.stdout.write(`${script}\n`);
    const args = [join(root, script), "--kubeconfig", kubeconfig];
    const { status, error } = spawnSync(process.execPath, args, { stdio: "inherit", env });
    if (error) throw error;
    if (status !== 0) throw new Error(`${script} ended with ${status}`);
  }
} finally {
  await server.close();
}
const git = (...args: string[]) => execFileSync("git", args, { cwd: root, encoding: "utf8" });
const changed = git("diff", "--stat", "--", "packages");
// A group that is new has files that git does not know yet.
const added = git("ls-files", "--others", "--exclude-standard", "--", "packages");
process.stdout.write(changed + added === "" ? "nothing has changed\n" : changed + added);
