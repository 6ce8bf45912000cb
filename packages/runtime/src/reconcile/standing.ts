import type { AnyKind, KubernetesObject, OwnerReference, Writer } from "@windlass/client";
import { controllerOf } from "@windlass/client";
import type { ChildOptions } from "./child.ts";
import { describe, keyOf } from "./client.ts";
import { ChildError, NamesakeChildError } from "./errors.ts";
import { refersTo } from "./owner.ts";

/**
 * Kept on every child that a controller applied: the field manager, the uid of the owner that it
 * was applied for, and the fingerprint of what was asked for. With it a restarted controller knows,
 * without a write, that nothing was dropped from the wanted configuration since.
 *
 * It does not say that the controller applied this very object: a copy of a child has it as well.
 * The server says that, by an entry for the field manager among the owners of the object's fields.
 */
export const appliedAnnotation = "windlass.dev/applied";

/**
 * Hands an object over to an owner that wants it as a child: set on the object, by somebody who may
 * change it, to `<plural>.<group>/<name>` of the owner.
 */
export const adoptableByAnnotation = "windlass.dev/adoptable-by";

/**
 * Says on a child that it is kept when it is no longer wanted: then the program that wanted it does
 * not list it any more.
 */
export const onRemovalAnnotation = "windlass.dev/on-removal";

/** How an object that exists stands to the owner that wants it as a child. */
export type Standing =
  /** The owner controls it. */
  | { readonly is: "ours" }
  /**
   * Nobody controls it, and it may be taken: it was applied for this owner before, and the server
   * knows that, or it was handed over.
   */
  | { readonly is: "free" }
  /** Nobody controls it, and somebody else made it. */
  | { readonly is: "foreign" }
  | { readonly is: "controlled"; readonly by: OwnerReference };

/** The standings of an object that is not the owner's to change. */
export type Refused = Extract<Standing, { is: "foreign" | "controlled" }>;

/** For whom a child is applied, and by whom. */
export interface Applicant {
  readonly ownerKind: AnyKind;
  readonly owner: KubernetesObject;
  readonly fieldManager: string;
}

/**
 * How a live object stands to an owner. What this controller did not make is not touched unless
 * somebody says so.
 *
 * @param hasFields whether the server says that the field manager has applied fields of the object
 */
export function standingOf(
  live: KubernetesObject,
  hasFields: () => boolean,
  by: Applicant,
  { adopt = false }: ChildOptions,
): Standing {
  const controller = controllerOf(live);
  if (controller)
    return controller.uid === by.owner.metadata.uid ? { is: "ours" } : { is: "controlled", by: controller };
  const { annotations } = live.metadata;
  const isApplied = annotations?.[appliedAnnotation]?.startsWith(appliedFor(by)) === true && hasFields();
  const isHandedOver = annotations?.[adoptableByAnnotation] === referenceTo(by);
  return { is: isApplied || isHandedOver || adopt ? "free" : "foreign" };
}

/** What the annotation of a child is, given the fingerprint of what was asked for. */
export function appliedMark(by: Applicant, fingerprint: string): string {
  return `${appliedFor(by)}${fingerprint}`;
}

/** Who applied an object, for which owner and what, by its mark. */
export interface Mark {
  readonly fieldManager: string;
  readonly ownerUid: string;
  readonly fingerprint: string;
}

/** Undefined if an object has no mark, or one that no controller has made. */
export function markOf(object: KubernetesObject): Mark | undefined {
  const parts = object.metadata.annotations?.[appliedAnnotation]?.split(":") ?? [];
  const [fingerprint, ownerUid] = [parts.pop(), parts.pop()];
  // The name of a manager may have colons itself.
  const fieldManager = parts.join(":");
  return fingerprint && ownerUid && fieldManager ? { fieldManager, ownerUid, fingerprint } : undefined;
}

/** Whether an object has the mark of this field manager, for whatever owner. */
export function isMarkedBy(object: KubernetesObject, fieldManager: string): boolean {
  return object.metadata.annotations?.[appliedAnnotation]?.startsWith(`${fieldManager}:`) ?? false;
}

/** Whether a child stays when it is no longer wanted. */
export function isKept(object: KubernetesObject): boolean {
  return object.metadata.annotations?.[onRemovalAnnotation] === "keep";
}

/**
 * Takes the owner off a child that stays when it is no longer wanted, and with it all that says
 * that it was one.
 */
export async function letGo(
  client: Writer,
  kind: AnyKind,
  { metadata }: KubernetesObject,
  ownerUid: string,
): Promise<void> {
  const { uid, resourceVersion, ownerReferences = [] } = metadata;
  const patch = {
    metadata: {
      uid,
      resourceVersion,
      ownerReferences: ownerReferences.filter((reference) => reference.uid !== ownerUid),
      annotations: { [appliedAnnotation]: null, [onRemovalAnnotation]: null },
    },
  };
  await client.patch(kind, metadata, { type: "merge", patch });
}

/** Says that an object that looks like a child which is no longer wanted is left alone. */
export function notPruned(kind: AnyKind, object: KubernetesObject, by: Applicant): string {
  const owner = describe(by.ownerKind, keyOf(by.owner));
  const why = isMarkedBy(object, by.fieldManager)
    ? `the server has no record that ${by.fieldManager} applied it: it is a copy of a child, or its managedFields were cleared`
    : `its annotation ${appliedAnnotation} was removed`;
  return `${describe(kind, keyOf(object))} has ${owner} as its controller and is not wanted, but ${why}. It is left alone, and goes with its owner. Delete it, or remove its owner reference to keep it`;
}

/** Why an object cannot be a child, and how to change that. */
export function refusal(kind: AnyKind, live: KubernetesObject, by: Applicant, standing: Refused): ChildError {
  const subject = describe(kind, keyOf(live));
  const owner = describe(by.ownerKind, keyOf(by.owner));
  if (
    standing.is === "controlled" &&
    standing.by.name === by.owner.metadata.name &&
    refersTo(standing.by, by.ownerKind)
  )
    return new NamesakeChildError(
      "ChildOwnedByOther",
      `${subject} belongs to an earlier ${owner}, of another uid, which no longer exists. Kubernetes deletes it with its owner, and it is created again then; if it stays, delete it`,
    );
  if (standing.is === "controlled")
    return new ChildError(
      "ChildOwnedByOther",
      `${subject} is controlled by ${standing.by.kind} ${standing.by.name}, so ${owner} cannot have it as a child; choose another name, or remove the other owner`,
    );
  const { name, namespace } = live.metadata;
  const place = namespace === undefined ? "" : ` --namespace ${namespace}`;
  const resource = kind.group === "" ? kind.plural : `${kind.plural}.${kind.group}`;
  return new ChildError(
    "ChildAlreadyExists",
    `${subject} exists and was not made for ${owner}, so it is left alone. Delete or rename it, or hand it over: kubectl annotate ${resource} ${name}${place} ${adoptableByAnnotation}=${referenceTo(by)}`,
  );
}

function appliedFor({ fieldManager, owner }: Applicant): string {
  return `${fieldManager}:${owner.metadata.uid}:`;
}

function referenceTo({ ownerKind: { plural, group }, owner }: Applicant): string {
  return `${group === "" ? plural : `${plural}.${group}`}/${owner.metadata.name}`;
}
