import { execFile } from "node:child_process";
import { promisify } from "node:util";

const run = promisify(execFile);

/** A tarball, and what it says of itself. */
export interface Publishable {
  /** Its absolute path. What looks like `dist/x.tgz`, npm takes for a repository of GitHub. */
  readonly file: string;
  readonly name: string;
  readonly version: string;
  readonly dependencies: readonly string[];
}

/** How to publish. */
export interface Publishing {
  /** Options of `npm publish`: `--provenance`, `--dry-run`. @default none */
  readonly args?: readonly string[];
  /** @default this process's */
  readonly env?: NodeJS.ProcessEnv;
  readonly say: (line: string) => void;
}

/** What npm's registry could not be asked, with npm's own words. */
export class RegistryError extends Error {
  override readonly name = "RegistryError";
}

/** Reads the manifest in a tarball. */
export async function publishable(file: string): Promise<Publishable> {
  const { stdout } = await run("tar", ["-xzOf", file, "package/package.json"]);
  const { name, version, dependencies, peerDependencies } = JSON.parse(stdout) as {
    readonly name: string;
    readonly version: string;
    readonly dependencies?: object;
    readonly peerDependencies?: object;
  };
  return {
    file,
    name,
    version,
    dependencies: Object.keys({ ...dependencies, ...peerDependencies }),
  };
}

/**
 * Publishes tarballs, each after those that it depends on: whatever can be installed at any moment
 * is whole. Versions that are there already are passed over, so that a run that failed in the
 * middle can be repeated.
 */
export async function publishTarballs(all: readonly Publishable[], how: Publishing): Promise<void> {
  const { args = [], env = process.env, say } = how;
  for (const { file, name, version } of inOrder(all)) {
    if (await isPublished(name, version, env)) {
      say(`${name}@${version} is published already`);
      continue;
    }
    // npm needs a tag so that a prerelease is not the default.
    const tag = version.includes("-") ? ["--tag", "next"] : [];
    await run("npm", ["publish", ...args, ...tag, file], { env });
    say(`${name}@${version} ${args.includes("--dry-run") ? "could be published" : "published"}`);
  }
}

/** @throws RegistryError where that is unknown */
async function isPublished(name: string, version: string, env: NodeJS.ProcessEnv): Promise<boolean> {
  try {
    const { stdout } = await run("npm", ["view", `${name}@${version}`, "version", "--json"], { env });
    return stdout.trim() !== "";
  } catch (error) {
    const { stdout = "", stderr = "" } = error as { readonly stdout?: string; readonly stderr?: string };
    if (codeIn(stdout) === "E404") return false;
    throw new RegistryError(`whether ${name}@${version} is published could not be asked:\n${stderr}`);
  }
}

function codeIn(answer: string): string | undefined {
  try {
    return (JSON.parse(answer) as { readonly error?: { readonly code?: string } }).error?.code;
  } catch {
    return undefined;
  }
}

/** Dependencies first. */
function inOrder(all: readonly Publishable[]): readonly Publishable[] {
  const byName = new Map(all.map((one) => [one.name, one]));
  const ordered = new Set<Publishable>();
  const visit = (one: Publishable, path: readonly string[]) => {
    if (ordered.has(one)) return;
    if (path.includes(one.name)) throw new TypeError(`${[...path, one.name].join(" → ")} is a circle`);
    for (const name of one.dependencies) {
      const dependency = byName.get(name);
      if (dependency !== undefined) visit(dependency, [...path, one.name]);
    }
    ordered.add(one);
  };
  for (const one of all) visit(one, []);
  return [...ordered];
}
