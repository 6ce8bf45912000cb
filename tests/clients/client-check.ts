/**
 * Runs a Go program that uses client-go and controller-runtime, JSON and protobuf, on the embedded control plane. About 20 s.
 *
 *     CLIENT_CHECK=PROGRAM node tests/clients/client-check.ts
 */
import { findProgram, run, skip, withControlPlane } from "./program.ts";

const program = (await findProgram("client-check", "CLIENT_CHECK")) ?? skip("there is no client-check");
await withControlPlane(async ({ kubeconfig }) => {
  const { code, output } = await run(program, ["--kubeconfig", kubeconfig]);
  process.stdout.write(
    `${output
      .split("\n")
      .filter((line) => !line.startsWith("ok "))
      .join("\n")}\n`,
  );
  process.exitCode = code ?? 1;
});
