import { defineConfig } from "vitest/config";

/** What needs the lab's cluster: real pods take their time, and share one node. */
export default defineConfig({
  test: {
    isolate: false,
    fileParallelism: false,
    include: ["tests/lab/**/*.test.ts"],
    testTimeout: 120_000,
    hookTimeout: 120_000,
  },
});
