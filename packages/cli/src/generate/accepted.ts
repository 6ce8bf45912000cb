import { applyManifest, asManifest, Client, type Manifest, statusOf } from "@windlass/client";
import { ControlPlane } from "@windlass/control-plane";
import { loadAll } from "js-yaml";
import { CommandError } from "../errors.ts";
import type { GeneratedFiles } from "./kustomize.ts";

/**
 * Applies what the kustomization installs to an API server of its own, which is thrown away: what a
 * server would refuse is found now.
 *
 * @throws CommandError naming each object that was refused, with the fields at fault
 */
export async function checkAccepted(files: GeneratedFiles): Promise<void> {
  await using plane = await ControlPlane.start({ controllers: "none" });
  await using client = new Client({
    transport: plane.connect(),
    fieldManager: "windlass",
    onWarning: () => undefined,
  });
  const faults: string[] = [];
  for (const [path, manifest] of manifestsOf(files)) {
    try {
      await applyManifest(client, manifest, { force: true });
    } catch (error) {
      if (statusOf(error) === undefined) throw error;
      faults.push(`${path}: ${manifest.kind} ${manifest.metadata.name}: ${(error as Error).message}`);
    }
  }
  if (faults.length > 0) throw new CommandError(`an API server would refuse this:\n${faults.join("\n")}`);
}

/** The objects of the kustomization `default` in the order in which they can be applied. */
export function manifestsOf(files: GeneratedFiles): readonly (readonly [path: string, manifest: Manifest])[] {
  const all = [...files].filter(
    ([path]) => /^config\/(?:base|default)\//.test(path) && !path.endsWith("kustomization.yaml"),
  );
  const manifests = all.flatMap(([path, text]) =>
    loadAll(text).map((document) => [path, asManifest(document, path)] as const),
  );
  return manifests.toSorted(([, a], [, b]) => orderOf(a) - orderOf(b));
}

/** Namespaces first; webhooks last, for nobody answers them. */
function orderOf({ kind }: Manifest): number {
  if (kind === "Namespace") return 0;
  return kind.endsWith("WebhookConfiguration") ? 2 : 1;
}
