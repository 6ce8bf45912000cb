import type { CustomResourceDefinition } from "@windlass/kinds/builtin";

/**
 * Where a migration stands, so that the next leader goes on from there: the last object that was
 * rewritten, in the order of lists.
 */
export interface Checkpoint {
  readonly version: string;
  /** The generation of the definition that the objects were rewritten under. */
  readonly generation: number;
  readonly after: string;
}

/** What is to be done about the stored versions of a kind. */
export type Plan =
  /** Every object is stored in the version that it should be. */
  | { readonly do: "nothing" }
  /**
   * The definition on the server is that of another release of the operator, which may still write
   * the old version.
   */
  | { readonly do: "wait"; readonly storage: string | undefined }
  /**
   * Rewrite every object behind `after`, then drop the other versions from `status.storedVersions`.
   */
  | {
      readonly do: "rewrite";
      readonly generation: number;
      readonly after: string | undefined;
      readonly drop: readonly string[];
    };

/** Kept on the definition while its objects are being rewritten. */
export const checkpointAnnotation = "windlass.dev/migration";

/**
 * Decides what to do from the definition as the server has it.
 *
 * @param version The version that the operator stores.
 */
export function planFor(crd: CustomResourceDefinition, version: string): Plan {
  const storage = crd.spec.versions.find((one) => one.storage)?.name;
  if (storage !== version) return { do: "wait", storage };
  const drop = (crd.status?.storedVersions ?? []).filter((one) => one !== version);
  if (drop.length === 0) return { do: "nothing" };
  const generation = crd.metadata.generation ?? 0;
  const found = readCheckpoint(crd.metadata.annotations?.[checkpointAnnotation]);
  const isSame = found?.version === version && found.generation === generation;
  return { do: "rewrite", generation, after: isSame ? found.after : undefined, drop };
}

/** A checkpoint as an annotation holds it. */
export function writeCheckpoint({ version, generation, after }: Checkpoint): string {
  return `${version} ${generation} ${after}`;
}

/**
 * Undefined for text that is no checkpoint: then all objects are rewritten again, which does no
 * harm.
 */
export function readCheckpoint(text: string | undefined): Checkpoint | undefined {
  const match = /^(\S+) (\d+) (\S+)$/.exec(text ?? "");
  if (!match) return undefined;
  const [, version = "", generation = "", after = ""] = match;
  return { version, generation: Number(generation), after };
}
