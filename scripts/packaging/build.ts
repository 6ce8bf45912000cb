import { bundlePackage } from "./bundle.ts";
import { declarePackage } from "./declarations.ts";
import type { SourcePackage } from "./source-packages.ts";

/** Builds packages into their `dist/`: JavaScript with source maps, and declarations. */
export async function buildPackages(packages: readonly SourcePackage[]): Promise<void> {
  await Promise.all(
    packages.map(async (source) => {
      await bundlePackage(source);
      await declarePackage(source);
    }),
  );
}
