/**
 * Shows client certificates of every shape to a real kube-apiserver and to the one of
 * `windlass-control-plane assets`, with the same flags, and prints where the two take them for
 * different users.
 *
 *     node tests/differential/certificates/compare.ts --assets FOLDER
 *
 * Needs openssl: it makes certificates that are wrong in every way.
 */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { conclude } from "../tally.ts";
import { cases } from "./cases.ts";
import { startServer } from "./server.ts";

const { values } = parseArgs({ options: { assets: { type: "string" } } });
const assets = values.assets ?? process.env.KUBEBUILDER_ASSETS;
if (!assets) throw new Error("say where etcd and kube-apiserver are: --assets FOLDER");
const folder = mkdtempSync(join(tmpdir(), "differential-certificates-"));
let differing = 0;
let compared = 0;
try {
  const { roots, shown } = cases(folder);
  const bundle = join(folder, "clients.crt");
  writeFileSync(bundle, roots.join(""));
  await using real = await startServer(assets, bundle);
  await using ours = await startServer(undefined, bundle);
  for (const one of shown) {
    const [theirs, own] = [await real.ask(one), await ours.ask(one)];
    compared++;
    if (theirs === own) continue;
    differing++;
    process.stdout.write(`${one.name}\n  real ${theirs}\n  ours ${own}\n`);
  }
} finally {
  rmSync(folder, { recursive: true, force: true });
}
conclude({ name: "certificates", compared, differing });
