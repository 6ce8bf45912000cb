import { defineConfig } from "vitest/config";

/** Kills, cuts and stalls, on a real etcd and kube-apiserver of its own. One file at a time: each shares out its own servers. */
export default defineConfig({
  test: {
    isolate: false,
    fileParallelism: false,
    include: ["tests/chaos/**/*.test.ts"],
    testTimeout: 120_000,
    hookTimeout: 120_000,
  },
});
