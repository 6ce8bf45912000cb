/**
 * Records everything that the packages know of one version of Kubernetes, from its own binaries:
 *
 *   npm run record-kubernetes -- [--assets DIR]
 *
 * DIR holds etcd and kube-apiserver, as `KUBEBUILDER_ASSETS` does, and is that by default. A server
 * of that version is started, asked, and ended. `go` must be on the path: protobuf numbers come
 * from the modules that the server was built of.
 *
 * What was recorded is text, in packages/kinds/src/recorded; the types of the built-in kinds, in
 * packages/kinds/src/generated, follow from it.
 */
import { execFileSync } from "node:child_process";
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { parseArgs } from "node:util";
import { startBinaries } from "@windlass/testing";
import { openCluster } from "./kubernetes/cluster.ts";
import { type Facts, recordFacts } from "./kubernetes/facts.ts";
import { typeModules } from "./kubernetes/types.ts";

const root = join(import.meta.dirname, "..");
const recorded = join(root, "packages/kinds/src/recorded");
const generated = join(root, "packages/kinds/src/generated");
const discovery = join(root, "packages/control-plane/src/discovery/discovery-golden.json");

const { values } = parseArgs({ options: { assets: { type: "string" } } });
const assets = values.assets ?? process.env.KUBEBUILDER_ASSETS;
if (assets === undefined || assets === "") {
  process.stderr.write("record-kubernetes: name the folder of the binaries: --assets DIR\n");
  process.exit(2);
}

const facts = await factsOf(assets);
rmSync(recorded, { recursive: true });
for (const [name, text] of facts.texts) write(join(recorded, `${name}.json`), text);
write(discovery, facts.discovery);
rmSync(generated, { recursive: true });
for (const { name, text } of typeModules(facts)) write(join(generated, `${name}.ts`), text);

const git = (...args: string[]) => execFileSync("git", args, { cwd: root, encoding: "utf8" });
const changed = git("diff", "--stat", "--", "packages");
// A group that is new has files that git does not know yet.
const added = git("ls-files", "--others", "--exclude-standard", "--", "packages");
process.stdout.write(changed + added === "" ? "nothing has changed\n" : changed + added);

async function factsOf(folder: string): Promise<Facts> {
  const server = await startBinaries(folder);
  try {
    using cluster = openCluster(await server.kubeconfig());
    return await recordFacts(cluster);
  } finally {
    await server.close();
  }
}

function write(path: string, text: string): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
}
