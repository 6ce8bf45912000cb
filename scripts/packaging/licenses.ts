import { readdir, readFile } from "node:fs/promises";
import { join, sep } from "node:path";

/**
 * The licences of the packages that modules came from, each once. Distributing a bundle distributes
 * what is in it, and has to say by whose leave.
 *
 * @throws Error when a package has no licence of its own
 */
export async function licensesOf(modules: readonly string[]): Promise<string> {
  const folders = new Set(modules.flatMap((module) => packageFolder(module) ?? []));
  const texts = await Promise.all([...folders].toSorted().map(licenseOf));
  return texts.join(`\n${"-".repeat(80)}\n\n`);
}

/** The folder under node_modules that a module is in; undefined for sources of this repository. */
function packageFolder(module: string): string | undefined {
  const inside = `${sep}node_modules${sep}`;
  const at = module.lastIndexOf(inside);
  if (at < 0) return undefined;
  const parts = module.slice(at + inside.length).split(sep);
  const name = parts.slice(0, parts[0]?.startsWith("@") ? 2 : 1).join(sep);
  return module.slice(0, at + inside.length) + name;
}

async function licenseOf(folder: string): Promise<string> {
  const { name, version } = JSON.parse(await readFile(join(folder, "package.json"), "utf8")) as {
    readonly name: string;
    readonly version: string;
  };
  const file = (await readdir(folder)).find((one) => /^licen[cs]e/i.test(one));
  if (file === undefined) throw new Error(`${name} ${version} has no licence file, and cannot be bundled`);
  return `${name} ${version}\n\n${(await readFile(join(folder, file), "utf8")).trim()}\n`;
}
