import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";

const lab = process.env.WINDLASS_LAB ?? join(import.meta.dirname, "..", "..", "..", "shared", "lab", "lab");

/**
 * The folder with a real kube-apiserver and etcd: what `KUBEBUILDER_ASSETS` names, else the lab's.
 *
 * @throws Error that says which of these to provide.
 */
export function findAssets(): string {
  const given = process.env.KUBEBUILDER_ASSETS;
  if (given) {
    for (const program of ["kube-apiserver", "etcd"])
      if (!existsSync(join(given, program)))
        throw new Error(`KUBEBUILDER_ASSETS is ${given}, where there is no ${program}`);
    return given;
  }
  if (!existsSync(lab))
    throw new Error(
      `a real kube-apiserver is missing: set KUBEBUILDER_ASSETS to the folder that has it and etcd, or WINDLASS_LAB to the lab's program (not at ${lab})`,
    );
  return execFileSync(lab, ["assets"], { encoding: "utf8", stdio: ["ignore", "pipe", "inherit"] }).trim();
}
