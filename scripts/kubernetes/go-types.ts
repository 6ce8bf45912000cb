import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { RecordedGoPackage, RecordedGoTypes } from "@windlass/kinds/go-types";
import { packageNameOf, type RecordedKinds, type RecordedSchemas } from "@windlass/kinds/recorded";
import { checkAgainstProto, packageId, readGoPackage } from "./go-source.ts";

/**
 * The Go types behind what a server serves, from the modules that it was built of. `go` must be on
 * the path: sources come through `go mod download`, so GOPROXY and GOFLAGS apply.
 */
export function recordGoTypes(
  { version, groups }: RecordedKinds,
  schemas: ReadonlyMap<string, RecordedSchemas>,
): RecordedGoTypes {
  const packages: { [id: string]: RecordedGoPackage } = {};
  for (const { directory, path } of goPackages(version.gitVersion, schemas)) {
    const { types, wrapped } = readGoPackage(directory, path);
    checkAgainstProto(directory, path, types);
    packages[packageId(path)] = { types: sorted(types), wrapped };
  }
  return {
    major: Number(version.major),
    minor: Number(version.minor),
    groups: Object.fromEntries(groups.map(({ name }) => [name, packageNameOf(name)])),
    packages: sorted(packages),
  };
}

/** The Go packages whose types appear in what the server serves, with where their sources lie. */
function goPackages(
  gitVersion: string,
  schemas: ReadonlyMap<string, RecordedSchemas>,
): { readonly directory: string; readonly path: string }[] {
  const moduleVersion = gitVersion.replace(/^v1\./, "v0.").replace(/[-+].*$/, "");
  const modules = ["api", "apimachinery", "apiextensions-apiserver", "kube-aggregator"].map(
    (name) => `k8s.io/${name}`,
  );
  const downloaded = execFileSync(
    "go",
    ["mod", "download", "-json", ...modules.map((name) => `${name}@${moduleVersion}`)],
    { cwd: tmpdir(), encoding: "utf8" },
  );
  const roots = new Map(
    [...downloaded.matchAll(/"Path": "([^"]+)"[\s\S]*?"Dir": "([^"]+)"/g)].map((match) => [
      match[1],
      match[2] ?? "",
    ]),
  );
  // Quantity, IntOrString and RawExtension marshal themselves: their packages hold nothing else of
  // use.
  const paths = [...schemas]
    .filter(([id]) => !["resource", "intstr", "runtime"].includes(id))
    .map(([, { prefix }]) => goPath(prefix, modules));
  return [...new Set(paths)].sort().flatMap((path) => {
    const module = modules.find((name) => path.startsWith(`${name}/`));
    const directory = join(roots.get(module) ?? "", path.slice(module?.length ?? 0));
    return module && existsSync(directory) ? [{ directory, path }] : [];
  });
}

/**
 * `io.k8s.kube-aggregator.pkg.apis.apiregistration.v1` is published by
 * `k8s.io/kube-aggregator/pkg/apis/apiregistration/v1`.
 */
function goPath(prefix: string, modules: readonly string[]): string {
  const path = prefix
    .replace(/^io\.k8s\./, "k8s.io/")
    .replaceAll(".", "/")
    .replace("k8s/io", "k8s.io");
  return modules.some((name) => path.startsWith(name)) ? path : prefix;
}

function sorted<T>(record: { readonly [name: string]: T }): { [name: string]: T } {
  return Object.fromEntries(Object.entries(record).sort(([a], [b]) => (a < b ? -1 : 1)));
}
