import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { defineConfig } from "vitest/config";

const patient = join(import.meta.dirname, "tests/properties/fast-check.ts");

/** Gives tests the fast-check that goes on for PROPERTY_SECONDS. */
const patience = {
  name: "patient-properties",
  enforce: "pre" as const,
  resolveId: (source: string, importer: string | undefined) =>
    source === "fast-check" && importer !== patient ? patient : undefined,
};

/** Those that only draw samples have nothing to repeat. */
const hasProperty = /\bfc\.assert\(|\bassert as \w+[^;]*from "fast-check"/;

/** Every file with a property test: what `npm test` tries for a moment is tried here for as long as one likes. */
export default defineConfig({
  plugins: [patience],
  test: {
    isolate: false,
    setupFiles: ["scripts/fail-on-panics.ts"],
    include: globSync([
      "packages/*/src/**/*.test.ts",
      "operators/*/src/**/*.test.ts",
      "tests/api/**/*.test.ts",
    ])
      .filter((file) => hasProperty.test(readFileSync(file, "utf8")))
      .toSorted(),
    testTimeout: 15_000 + 20_000 * Number(process.env.PROPERTY_SECONDS ?? 4),
  },
});
