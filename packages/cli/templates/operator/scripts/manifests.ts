/**
 * `npm run manifests`: writes config/crd.yaml and config/rbac.yaml from the code. With `-- --check` it writes nothing, and
 * fails if they are not what the code says.
 */
import { readFile, writeFile } from "node:fs/promises";
import { parseArgs } from "node:util";
import { rbacFor } from "@windlass/runtime";
import { dump } from "js-yaml";
import { Gadget, gadgetController } from "../src/index.ts";

const operator = { name: "gadget-operator", namespace: "gadget-system" };
const { values: flags } = parseArgs({ options: { check: { type: "boolean" } } });

await write("config/crd.yaml", [Gadget.crd()]);
await write("config/rbac.yaml", [
  { apiVersion: "v1", kind: "ServiceAccount", metadata: operator },
  ...rbacFor([gadgetController], { name: operator.name, leaderElection: operator, serviceAccount: operator }),
]);

async function write(file: string, objects: readonly object[]): Promise<void> {
  // By way of JSON, so that what is undefined is left out.
  const text = objects.map((object) => dump(JSON.parse(JSON.stringify(object)))).join("---\n");
  if (!flags.check) {
    await writeFile(file, text);
  } else if ((await readFile(file, "utf8")) !== text) {
    process.stderr.write(`${file} is not what the code says: npm run manifests\n`);
    process.exitCode = 1;
  }
}
