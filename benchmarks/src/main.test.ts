import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { expect, test } from "vitest";

const program = join(import.meta.dirname, "main.ts");

function bench(names: readonly string[], environment: NodeJS.ProcessEnv) {
  const { KUBEBUILDER_ASSETS: _assets, CR_BENCH: _peer, WINDLASS_LAB: _lab, ...rest } = process.env;
  const env = { ...rest, ...environment };
  const { status, stderr, stdout } = spawnSync(process.execPath, [program, ...names], {
    env,
    encoding: "utf8",
  });
  return { status, stderr, stdout };
}

test("all programs that are missing are named at once, before anything is measured", () => {
  const environment = { KUBEBUILDER_ASSETS: "/none/bin", CR_BENCH: "/none/cr-bench" };
  expect(bench(["reconcile", "sync", "sync-100000", "queue"], environment)).toEqual({
    status: 2,
    stderr:
      "KUBEBUILDER_ASSETS is /none/bin, where there is no kube-apiserver\nCR_BENCH is /none/cr-bench, which is not there\n",
    stdout: "",
  });
});

test("where there is no lab, the message says what to set", () => {
  const { status, stderr } = bench(["sync"], { WINDLASS_LAB: "/none/lab", CR_BENCH: process.execPath });
  expect(status).toBe(2);
  expect(stderr).toBe(
    "a real kube-apiserver is missing: set KUBEBUILDER_ASSETS to the folder that has it and etcd, or WINDLASS_LAB to the lab's program (not at /none/lab)\n",
  );
});

test("a benchmark that does not exist is refused with those that do", () => {
  const { status, stderr } = bench(["sink"], {});
  expect(status).toBe(2);
  expect(stderr).toMatch(/^there is no benchmark sink; there are: .*\bsync\b/);
});
