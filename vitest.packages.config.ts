import { defineConfig } from "vitest/config";

/** What a user gets: packages as they are published, installed outside of this repository. */
export default defineConfig({
  test: {
    isolate: false,
    fileParallelism: false,
    include: ["tests/packages/**/*.test.ts"],
    globalSetup: ["tests/packages/setup.ts"],
    // Each step builds on the one before.
    bail: 1,
    testTimeout: 240_000,
    hookTimeout: 300_000,
  },
});
