import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ControlPlane, type ControlPlaneOptions } from "@windlass/control-plane";
import type { Backend } from "./backend.ts";

/** A control plane in this process, for this test alone. */
export async function startEmbedded(options: ControlPlaneOptions = {}): Promise<Backend> {
  const controlPlane = await ControlPlane.start(options);
  let folder: string | undefined;
  return {
    controlPlane,
    hasControllers: options.controllers !== "none",
    shared: false,
    transport: () => controlPlane.connect(),
    kubeconfig: async () => {
      folder ??= await mkdtemp(join(tmpdir(), "windlass-"));
      const file = join(folder, "kubeconfig");
      await writeFile(file, await controlPlane.kubeconfig(), { mode: 0o600 });
      return file;
    },
    close: async () => {
      await controlPlane.close();
      if (folder) await rm(folder, { recursive: true, force: true });
    },
  };
}
