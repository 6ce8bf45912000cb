import { glob, readFile } from "node:fs/promises";
import { basename, dirname, join } from "node:path";

export const root = join(import.meta.dirname, "..", "..");

/**
 * A package.json as it stands in the repository: its exports name sources, so that nothing needs a
 * build while developing.
 */
export interface SourceManifest {
  readonly name: string;
  readonly version: string;
  readonly description: string;
  readonly keywords?: readonly string[];
  readonly exports?: Readonly<Record<string, string>>;
  readonly bin?: Readonly<Record<string, string>>;
  readonly files?: readonly string[];
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly peerDependencies?: Readonly<Record<string, string>>;
  readonly devDependencies?: Readonly<Record<string, string>>;
  readonly [field: string]: unknown;
}

/** A package of this repository that is published. */
export interface SourcePackage {
  /** The name of its folder: `control-plane`. */
  readonly folder: string;
  /** The absolute path of its folder. */
  readonly path: string;
  readonly manifest: SourceManifest;
  /** What others may import. */
  readonly entries: readonly Entry[];
  /** Whether it has a program, `src/main.ts`, that its `bin` runs. */
  readonly hasProgram: boolean;
}

/** Something that a package exports. */
export interface Entry {
  /** Its key in the manifest's exports: `./kinds`. */
  readonly subpath: string;
  /** The name of its built file, without an ending: `kinds`. */
  readonly name: string;
  /** Its source within the package's folder, such as `src/kinds/index.ts`. */
  readonly source: string;
}

/** Every package under `packages/`, by the name of its folder. */
export async function sourcePackages(): Promise<readonly SourcePackage[]> {
  const packages: SourcePackage[] = [];
  for await (const file of glob("packages/*/package.json", { cwd: root })) {
    const path = join(root, dirname(file));
    const manifest = JSON.parse(await readFile(join(root, file), "utf8")) as SourceManifest;
    packages.push({
      folder: basename(path),
      path,
      manifest,
      entries: entriesOf(manifest),
      hasProgram: manifest.bin !== undefined,
    });
  }
  return packages.toSorted((a, b) => (a.folder < b.folder ? -1 : 1));
}

function entriesOf({ exports = {} }: SourceManifest): readonly Entry[] {
  return Object.entries(exports)
    .filter(([, source]) => source.endsWith(".ts"))
    .map(([subpath, source]) => ({
      subpath,
      name: subpath === "." ? "index" : subpath.slice("./".length),
      source: source.slice("./".length),
    }));
}

/**
 * Packages whose program is bundled with all that it depends on: the one must start fast, the other
 * be downloaded fast.
 */
export const programsAlone: ReadonlySet<string> = new Set(["control-plane", "create-windlass"]);
