import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    // One process for many files: the suites are pure or start servers of their own, and isolation costs five seconds.
    isolate: false,
    include: [
      "packages/*/src/**/*.test.ts",
      "operators/*/src/**/*.test.ts",
      "tests/api/**/*.test.ts",
      "tests/face/*.test.ts",
      "tests/properties/*.test.ts",
      "scripts/**/*.test.ts",
      "benchmarks/src/**/*.test.ts",
      "docs/examples/*.test.ts",
    ],
    setupFiles: ["scripts/fail-on-panics.ts"],
    testTimeout: 15_000,
  },
});
