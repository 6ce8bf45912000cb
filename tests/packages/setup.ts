import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestProject } from "vitest/node";
import { buildPackages } from "../../scripts/packaging/build.ts";
import { sourcePackages } from "../../scripts/packaging/source-packages.ts";
import { packTarballs, type Tarball } from "../../scripts/packaging/tarballs.ts";

declare module "vitest" {
  interface ProvidedContext {
    /** All packages as they are published. */
    readonly tarballs: readonly Tarball[];
  }
}

/** Builds and packs everything once, for all tests. */
export async function setup(project: TestProject): Promise<() => Promise<void>> {
  const folder = await mkdtemp(join(tmpdir(), "windlass-packages-"));
  const packages = await sourcePackages();
  await buildPackages(packages);
  project.provide("tarballs", await packTarballs(packages, folder));
  return () => rm(folder, { recursive: true, force: true });
}
