/**
 * `npm run sbom`: writes what the packages consist of when they run to `dist/sbom.cdx.json`
 * (CycloneDX), from the lock file.
 */
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { billOfMaterials, type Lock } from "./packaging/bill-of-materials.ts";
import { root } from "./packaging/source-packages.ts";

const read = async (file: string) => JSON.parse(await readFile(join(root, file), "utf8")) as unknown;
const { version } = (await read("package.json")) as { readonly version: string };
const bill = billOfMaterials((await read("package-lock.json")) as Lock, version);
await mkdir(join(root, "dist"), { recursive: true });
await writeFile(join(root, "dist", "sbom.cdx.json"), `${JSON.stringify(bill, null, 2)}\n`);
process.stdout.write(`dist/sbom.cdx.json: ${bill.components.length} components\n`);
