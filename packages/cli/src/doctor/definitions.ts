import { type Client, ignoreNotFound, isForbidden } from "@windlass/client";
import type { CrdManifest } from "@windlass/runtime";
import { CustomResourceDefinition } from "@windlass/runtime/kinds";
import { type Finding, fault, fine, skipped, warning } from "./finding.ts";

/** Whether a CRD is installed, accepted, and as the code has it. */
export async function examineDefinition(client: Client, wanted: CrdManifest): Promise<Finding> {
  const { name } = wanted.metadata;
  const about = `CRD ${name}`;
  const install = "npx windlass generate, then: kubectl apply --server-side -k config/default";
  const present = await ignoreNotFound(client.get(CustomResourceDefinition, { name }));
  if (present === undefined) return fault(about, "is not installed", install);
  const conditions = present.status?.conditions ?? [];
  const refused = conditions.find(({ type, status }) => type !== "Terminating" && status === "False");
  if (refused !== undefined) return fault(about, `${refused.type} is False: ${refused.message}`, install);
  const versions = present.spec.versions.map((one) => one.name);
  const gone = (present.status?.storedVersions ?? []).filter((one) => !versions.includes(one));
  if (gone.length > 0)
    return fault(
      about,
      `objects are stored as ${gone.join(", ")}, which it no longer has`,
      "migrateStoredVersions",
    );
  try {
    const applied = await client.apply(CustomResourceDefinition, wanted, { dryRun: true, force: true });
    if (applied.metadata.generation === present.metadata.generation) return fine(about, versions.join(", "));
    return warning(about, "is not what the code says", install);
  } catch (error) {
    if (isForbidden(error))
      return skipped(about, "installed; whether it is the newest, only those may ask who may patch it");
    throw error;
  }
}
