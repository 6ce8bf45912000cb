import type { SourcePackage } from "./source-packages.ts";

/** A package.json as it is published. */
export interface PublishedManifest {
  readonly name: string;
  readonly version: string;
  readonly exports?: Readonly<Record<string, PublishedExport>>;
  /** What is in the package beside its manifest, README and licence. */
  readonly files: readonly string[];
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly peerDependencies?: Readonly<Record<string, string>>;
  readonly [field: string]: unknown;
}

type PublishedExport = string | { readonly types: string; readonly default: string };

const repository = "git+https://github.com/windlass-dev/windlass.git";

/**
 * The manifest that a package is published with. It differs from that of the repository in what npm
 * cannot be told there: exports lead to what was built, other packages may be newer than those
 * tried here as long as they are compatible, and nothing remains that only development needs.
 *
 * @param passingOn Files that export all of another package. esbuild leaves out what has no side
 *   effects, and with such a file the start of the modules that it leads to: what is imported
 *   through it is undefined, where the same module is also loaded later. So they count as having
 *   some.
 */
export function publishedManifest(
  { folder, manifest, entries, hasProgram }: SourcePackage,
  ours: ReadonlySet<string>,
  passingOn: readonly string[] = [],
): PublishedManifest {
  const {
    exports: _sources,
    devDependencies: _development,
    scripts: _scripts,
    private: _private,
    dependencies: _dependencies,
    ...rest
  } = manifest;
  const { peerDependencies } = manifest;
  // A package that is nothing but a bundled program needs nothing else.
  const dependencies = entries.length === 0 ? undefined : manifest.dependencies;
  const programs = hasProgram ? ["./bin/*.js", "./dist/main.js", "./dist/bundle/*.js"] : [];
  const effects = [...programs, ...passingOn];
  return {
    ...rest,
    files: hasProgram ? ["dist", "bin"] : ["dist"],
    sideEffects: effects.length === 0 ? false : effects,
    homepage: `${repository.slice("git+".length, -".git".length)}/tree/main/packages/${folder}#readme`,
    repository: { type: "git", url: repository, directory: `packages/${folder}` },
    ...(entries.length === 0 ? {} : { exports: publishedExports(entries) }),
    ...(dependencies === undefined ? {} : { dependencies: compatible(dependencies, ours) }),
    ...(peerDependencies === undefined ? {} : { peerDependencies: compatible(peerDependencies, ours) }),
    publishConfig: { access: "public" },
  };
}

/** What others may import. Programs are not for importing: npm finds them by `bin`. */
function publishedExports(entries: SourcePackage["entries"]): Record<string, PublishedExport> {
  const built = entries.map(({ subpath, name, source }): [string, PublishedExport] => {
    const types = source.replace(/^src\//, "./dist/types/").replace(/\.ts$/, ".d.ts");
    return [subpath, { types, default: `./dist/${name}.js` }];
  });
  return { ...Object.fromEntries(built), "./package.json": "./package.json" };
}

/**
 * Packages of this repository fit together in one version alone; of others, whatever is compatible
 * with what was tried.
 */
function compatible(
  dependencies: Readonly<Record<string, string>>,
  ours: ReadonlySet<string>,
): Record<string, string> {
  return Object.fromEntries(
    Object.entries(dependencies).map(([name, version]) => [
      name,
      ours.has(name) || !/^\d/.test(version) ? version : `^${version}`,
    ]),
  );
}
