import { equal, type JsonObject, sorted, textOf } from "../json.ts";
import type { Registry, RequestContext } from "../registry/registry.ts";
import { StatusError } from "../status.ts";
import { field, type StoredObject } from "../storage/store.ts";
import { builtin, createObject, deleteIfPresent, edit, mapAt, namespaceOf, numberAt } from "./objects.ts";
import { claim, controllerOf, controllerReference } from "./ownership.ts";
import { templateOf } from "./pods.ts";
import { templateHash } from "./template-hash.ts";

/** How a kind of workload names its ControllerRevisions. */
export interface RevisionNaming {
  /** The label that carries the hash. */
  readonly label: string;
}

/** What a workload's templates have been, oldest first; the last is its present one. */
export interface History {
  readonly revisions: readonly StoredObject[];
  readonly update: StoredObject;
  /** Grows when a name was taken by somebody else's revision. */
  readonly collisions: number;
}

/**
 * Brings a workload's history up to its present template. Going back to an earlier one makes that
 * the newest again.
 */
export async function revisionHistory(
  registry: Registry,
  owner: StoredObject,
  context: RequestContext,
  naming: RevisionNaming,
): Promise<History> {
  const resource = builtin(registry, "apps", "v1", "controllerrevisions");
  const known = (await claim(registry, owner, resource, context)).toSorted(
    (a, b) => Number(a.revision) - Number(b.revision) || (a.metadata.name < b.metadata.name ? -1 : 1),
  );
  const data = revisionData(owner);
  const next = Number(known.at(-1)?.revision ?? 0) + 1;
  let collisions = numberAt(owner, ["status", "collisionCount"], 0);
  const same = known.filter((revision) => equal(revision.data, data)).at(-1);
  if (same && same === known.at(-1)) return { revisions: known, update: same, collisions };
  if (same) {
    const update = await edit(registry, resource, same, context, (revision) => {
      revision.revision = next;
    });
    return { revisions: [...known.filter((one) => one !== same), update], update, collisions };
  }
  for (;;) {
    const update = await create(collisions);
    if (update) return { revisions: [...known, update], update, collisions };
    collisions++;
  }

  async function create(salt: number): Promise<StoredObject | undefined> {
    const hash = templateHash(data, salt);
    const name = `${owner.metadata.name}-${hash}`;
    const annotations = mapAt(owner, "metadata", "annotations");
    try {
      return await createObject(
        registry,
        resource,
        namespaceOf(owner),
        {
          metadata: {
            name,
            labels: { ...mapAt(templateOf(owner), "metadata", "labels"), [naming.label]: hash },
            ...(Object.keys(annotations).length > 0 ? { annotations: { ...annotations } } : {}),
            ownerReferences: [controllerReference(owner)],
          },
          data,
          revision: next,
        },
        context,
      );
    } catch (error) {
      if (!(error instanceof StatusError && error.reason === "AlreadyExists")) throw error;
      const taken = registry.store.get(resource.bucket, `${namespaceOf(owner)}/${name}`)?.object;
      const ours = taken && controllerOf(taken)?.uid === owner.metadata.uid && equal(taken.data, data);
      return ours ? taken : undefined;
    }
  }
}

/** In the order in which the real controllers write it: some compare it byte by byte. */
function revisionData(owner: StoredObject): JsonObject {
  return sorted({ spec: { template: { ...templateOf(owner), $patch: "replace" } } });
}

/** The template that a revision stands for. */
export function revisionTemplate(revision: StoredObject): JsonObject {
  const { $patch: _directive, ...template } = (field(revision, "data", "spec", "template") ??
    {}) as JsonObject;
  return template;
}

/** The short part of a revision's name. */
export function revisionHash(revision: StoredObject, naming: RevisionNaming): string {
  return textOf(field(revision, "metadata", "labels", naming.label));
}

/** Deletes the oldest revisions that nobody uses, beyond as many as are to be kept. */
export async function truncateHistory(
  registry: Registry,
  owner: StoredObject,
  revisions: readonly StoredObject[],
  isLive: (revision: StoredObject) => boolean,
  context: RequestContext,
): Promise<void> {
  const resource = builtin(registry, "apps", "v1", "controllerrevisions");
  const spent = revisions.filter((revision) => !isLive(revision));
  const keep = numberAt(owner, ["spec", "revisionHistoryLimit"], 10);
  for (const revision of spent.slice(0, Math.max(0, spent.length - keep))) {
    await deleteIfPresent(registry, resource, revision, context);
  }
}
