/**
 * Uses an API server with client-go and controller-runtime, JSON and protobuf, by a Go program.
 * About 20 s.
 *
 *     CLIENT_CHECK=PROGRAM node tests/clients/client-check.ts
 *
 * With KUBECONFIG, that cluster must do as well, and how many checks passed is kept in
 * last-result.json.
 */
import { findProgram, run, skip } from "./program.ts";
import { onServers } from "./servers.ts";

const program = (await findProgram("client-check", "CLIENT_CHECK")) ?? skip("there is no client-check");
let passed = 0;
await onServers(
  "client-go",
  async ({ kubeconfig }) => {
    const { output } = await run(program, ["--kubeconfig", kubeconfig]);
    // How long each took is different every time.
    const lines = output.split("\n").map((line) => line.replace(/^(ok \S+) \d+$/, "$1"));
    const [, count = "0"] = /^\D*(\d+) .*\b0 failed, 0 skipped$/m.exec(output) ?? [];
    passed = Number(count);
    if (passed === 0) process.exitCode = 1;
    return lines.join("\n");
  },
  () => passed,
);
