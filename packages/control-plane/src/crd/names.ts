import { equal, type JsonObject } from "../json.ts";
import { presentObjectAt, specOf, textAt, textsAt } from "../json-fields.ts";
import { conditionOf, isConditionTrue } from "./definition.ts";

/** The outcome of looking at a CRD's names beside those of the others. */
export interface NamesDecision {
  readonly acceptedNames: JsonObject;
  /** NamesAccepted, then Established. `lastTransitionTime` moves only when the status does. */
  readonly conditions: JsonObject[];
}

/**
 * Decides which of a CRD's names it may have. A name another CRD of the group has taken stays with
 * that one, and the condition NamesAccepted names it. Once established, a CRD stays so.
 *
 * The real server goes through Established=False (Installing) for a moment; here names and serving
 * come together.
 */
export function decideNames(crd: JsonObject, others: Iterable<JsonObject>, now: string): NamesDecision {
  const group = textAt(specOf(crd), "group");
  const resources = new Set<string>();
  const kinds = new Set<string>();
  const ownName = textAt(presentObjectAt(crd, "metadata"), "name");
  for (const other of others) {
    if (textAt(presentObjectAt(other, "metadata"), "name") === ownName) continue;
    if (textAt(specOf(other), "group") !== group) continue;
    const taken = presentObjectAt(presentObjectAt(other, "status"), "acceptedNames");
    for (const name of [
      textAt(taken, "plural"),
      textAt(taken, "singular"),
      ...textsAt(taken, "shortNames"),
    ]) {
      resources.add(name);
    }
    for (const name of [textAt(taken, "kind"), textAt(taken, "listKind")]) kinds.add(name);
  }

  const requested = presentObjectAt(specOf(crd), "names") ?? {};
  const accepted = presentObjectAt(presentObjectAt(crd, "status"), "acceptedNames") ?? {};
  const outcome: JsonObject = { plural: textAt(accepted, "plural"), kind: textAt(accepted, "kind") };
  let conflict: { reason: string; message: string } | undefined;
  const inUse = (name: string): string => `${JSON.stringify(name)} is already in use`;

  const claim = (name: string, taken: ReadonlySet<string>, reason: string): void => {
    const wanted = textAt(requested, name);
    const had = textAt(accepted, name);
    if (wanted !== had && taken.has(wanted)) {
      conflict = { reason, message: inUse(wanted) };
      if (had !== "") outcome[name] = had;
    } else if (wanted !== "") {
      outcome[name] = wanted;
    }
  };

  claim("plural", resources, "PluralConflict");
  claim("singular", resources, "SingularConflict");
  const shortNames = textsAt(requested, "shortNames");
  const hadShort = textsAt(accepted, "shortNames");
  const clashes = shortNames.filter((name) => !hadShort.includes(name) && resources.has(name));
  if (clashes.length > 0) {
    const messages = clashes.map(inUse);
    const message = messages.length === 1 ? (messages[0] as string) : `[${messages.join(", ")}]`;
    conflict = { reason: "ShortNamesConflict", message };
    if (hadShort.length > 0) outcome.shortNames = hadShort;
  } else if (shortNames.length > 0) {
    outcome.shortNames = shortNames;
  }
  claim("kind", kinds, "KindConflict");
  claim("listKind", kinds, "ListKindConflict");
  const categories = textsAt(requested, "categories");
  if (categories.length > 0) outcome.categories = categories;

  const namesAccepted = conflict ?? { reason: "NoConflicts", message: "no conflicts found" };
  const established =
    conflict === undefined || isConditionTrue(crd, "Established")
      ? { status: "True", reason: "InitialNamesAccepted", message: "the initial names have been accepted" }
      : { status: "False", reason: "NotAccepted", message: "not all names are accepted" };
  return {
    acceptedNames: outcome,
    conditions: [
      settled(
        crd,
        "NamesAccepted",
        { status: conflict === undefined ? "True" : "False", ...namesAccepted },
        now,
      ),
      settled(crd, "Established", established, now),
    ],
  };
}

/** A condition as it is to be stored: the time moves only when the status does. */
function settled(
  crd: JsonObject,
  type: string,
  state: { status: string; reason: string; message: string },
  now: string,
): JsonObject {
  const before = conditionOf(crd, type);
  const same = before !== undefined && equal(before.status, state.status);
  return {
    type,
    status: state.status,
    lastTransitionTime: same ? (before.lastTransitionTime ?? now) : now,
    reason: state.reason,
    message: state.message,
  };
}
