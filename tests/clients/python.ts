/**
 * Uses the embedded control plane with the Python client: about 5 s, and a minute more where the client is to be installed first.
 *
 *     node tests/clients/python.ts
 *
 * Installs the client with pip into a folder that goes afterwards, unless PYTHON_WITH_KUBERNETES names a Python that has it.
 */
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { findProgram, mustRun, run, skip, withControlPlane } from "./program.ts";

const python = (await findProgram("python3", "PYTHON")) ?? skip("there is no python3");
const check = fileURLToPath(new URL("./python/check.py", import.meta.url));

await withControlPlane(async ({ folder, kubeconfig }) => {
  const program = process.env.PYTHON_WITH_KUBERNETES ?? (await install(folder));
  const { code, output } = await run(program, [check, kubeconfig]);
  process.stdout.write(output);
  process.exitCode = code ?? 1;
});

async function install(folder: string): Promise<string> {
  const place = join(folder, "venv");
  await mustRun(python, ["-m", "venv", place]);
  const { code, output } = await run(join(place, "bin", "pip"), ["install", "--quiet", "kubernetes"]);
  if (code !== 0) skip(`the client cannot be installed: ${output.trim().split("\n").at(-1)}`);
  return join(place, "bin", "python");
}
