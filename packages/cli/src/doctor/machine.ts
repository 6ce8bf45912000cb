import { existsSync } from "node:fs";
import { readdir, readFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { version } from "../version.ts";
import { type Finding, fault, fine } from "./finding.ts";

const oldestNode = 24;

/** Node, and the packages that the operator is developed with. */
export async function examineMachine(folder: string, node: string): Promise<readonly Finding[]> {
  return [examineNode(node), ...(await examinePackages(folder))];
}

function examineNode(node: string): Finding {
  const about = "Node.js";
  if (Number(node.split(".")[0]) >= oldestNode) return fine(about, node);
  return fault(about, `${node} is too old`, `install ${oldestNode} or newer: https://nodejs.org`);
}

/** Packages of one release fit together, and those of two do not. */
async function examinePackages(folder: string): Promise<readonly Finding[]> {
  const about = "Packages";
  const place = nearestPackages(folder);
  if (place === undefined) return [];
  const installed: { readonly name: string; readonly version: string }[] = [];
  for (const name of (await readdir(place)).toSorted()) {
    const manifest = join(place, name, "package.json");
    if (existsSync(manifest)) installed.push(JSON.parse(await readFile(manifest, "utf8")));
  }
  const others = installed.filter((one) => one.version !== version);
  if (others.length === 0) return [fine(about, `${installed.length} of @windlass, all ${version}`)];
  const names = others.map((one) => `${one.name} ${one.version}`).join(", ");
  const wanted = others.map((one) => `${one.name}@${version}`).join(" ");
  return [fault(about, `do not fit @windlass/cli ${version}: ${names}`, `npm install ${wanted}`)];
}

function nearestPackages(folder: string): string | undefined {
  for (let at = folder; ; at = dirname(at)) {
    const candidate = join(at, "node_modules", "@windlass");
    if (existsSync(candidate)) return candidate;
    if (dirname(at) === at) return undefined;
  }
}
