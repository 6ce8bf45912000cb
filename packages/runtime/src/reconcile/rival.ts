import { type AnyKind, compareResourceVersions, type KubernetesObject } from "@windlass/client";
import type { AppliedChild } from "./child-memory.ts";
import { describe, keyOf } from "./client.ts";
import { ChildError } from "./errors.ts";
import type { LiveChild } from "./live-child.ts";
import { type Applicant, appliedAnnotation, markOf } from "./standing.ts";

const mostPaths = 3;

const oneInstallation = "Run one installation of the operator, or let them elect a leader by the same lease";

/**
 * The field manager that has applied a child for the same owner since this controller did: that of
 * another controller, or this controller's own name, used by another process. Undefined if nobody
 * has. What a person edits, the mark included, does not count.
 *
 * @param applied what this process applied last; undefined if it did not, or does not know
 */
export function rivalOf(
  { object, owned }: LiveChild,
  applied: AppliedChild | undefined,
  { fieldManager, owner }: Applicant,
): string | undefined {
  const mark = markOf(object);
  if (applied === undefined || mark === undefined || mark.ownerUid !== owner.metadata.uid) return undefined;
  const { resourceVersion: now = "" } = object.metadata;
  if ((compareResourceVersions(now, applied.seen.resourceVersion ?? "") ?? 1) <= 0) return undefined;
  if (mark.fieldManager !== fieldManager) return mark.fieldManager;
  if (mark.fingerprint === applied.fingerprint) return undefined;
  const annotations = owned()?.fields["f:metadata"]?.["f:annotations"];
  return annotations?.[`f:${appliedAnnotation}`] === undefined ? undefined : fieldManager;
}

/** Says that two programs apply one child, and how to end that. */
export function contested(
  kind: AnyKind,
  live: KubernetesObject,
  by: Applicant,
  rival: string,
  paths: readonly string[],
): ChildError {
  const subject = describe(kind, keyOf(live));
  const owner = describe(by.ownerKind, keyOf(by.owner));
  const [who, remedy] =
    rival === by.fieldManager
      ? [`by two processes, both as ${rival}`, oneInstallation]
      : [
          `by ${by.fieldManager} and by ${rival}`,
          "Have only one controller ask for it, or give each child a name of its own",
        ];
  // The other's mark is among the annotations, and says nothing.
  const content = paths.filter((path) => !path.startsWith("metadata.annotations"));
  const fields = [...(content.length > 0 ? content : paths)].sort().slice(0, mostPaths).join(", ");
  return new ChildError(
    "ChildContested",
    `${subject} is applied for ${owner} ${who}, and each undoes what the other has set (${fields}). It is left to the other now, and taken back after longer and longer pauses. ${remedy}`,
  );
}

/** Says that another process applies a child that this one deletes, and how to end that. */
export function appliedAgain(kind: AnyKind, live: KubernetesObject, by: Applicant): ChildError {
  const subject = describe(kind, keyOf(live));
  const owner = describe(by.ownerKind, keyOf(by.owner));
  return new ChildError(
    "ChildContested",
    `${subject} is no longer wanted for ${owner} and was deleted, and another process applies it again and again, as ${by.fieldManager} too. It is left to the other now, and deleted after longer and longer pauses. ${oneInstallation}`,
  );
}
