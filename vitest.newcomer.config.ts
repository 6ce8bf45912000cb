import { defineConfig } from "vitest/config";

/** A new operator from the packages as they are published, on the lab's cluster. */
export default defineConfig({
  test: {
    include: ["tests/lab/newcomer.test.ts"],
    globalSetup: ["tests/packages/setup.ts"],
    hookTimeout: 300_000,
  },
});
