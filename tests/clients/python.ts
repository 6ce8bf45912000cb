/**
 * Uses an API server with the Python client: about 5 s, and a minute more where the client is to be
 * installed first.
 *
 *     node tests/clients/python.ts
 *
 * Installs the client with pip into a folder that goes afterwards, unless PYTHON_WITH_KUBERNETES
 * names a Python that has it. With KUBECONFIG, that cluster must show the client the same.
 */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { findProgram, mustRun, run, skip } from "./program.ts";
import { onServers } from "./servers.ts";

const version = "37.0.2";
const python = (await findProgram("python3", "PYTHON")) ?? skip("there is no python3");
const check = join(import.meta.dirname, "python", "check.py");
const place = await mkdtemp(join(tmpdir(), "python-client-"));
try {
  const program = process.env.PYTHON_WITH_KUBERNETES ?? (await install());
  await onServers("Python client", ({ kubeconfig }) => mustRun(program, [check, kubeconfig]));
} finally {
  await rm(place, { recursive: true, force: true });
}

async function install(): Promise<string> {
  await mustRun(python, ["-m", "venv", place]);
  const pip = join(place, "bin", "pip");
  const { code, output } = await run(pip, ["install", "--quiet", `kubernetes==${version}`]);
  if (code !== 0) skip(`the client cannot be installed: ${output.trim().split("\n").at(-1)}`);
  return join(place, "bin", "python");
}
