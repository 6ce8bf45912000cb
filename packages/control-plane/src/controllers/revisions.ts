import { controllerOf } from "@windlass/kinds";
import type { ControllerRevision, DaemonSet, PodTemplateSpec, StatefulSet } from "@windlass/kinds/builtin";
import { equal, type JsonObject, sorted, textOf } from "../json.ts";
import { namespaceOf, valueAt } from "../json-fields.ts";
import type { Registry, RequestContext } from "../registry/registry.ts";
import { StatusError } from "../status.ts";
import type { Stored } from "../storage/typed.ts";
import { builtin, createObject, deleteIfPresent, edit, stored } from "./objects.ts";
import { claim, controllerReference } from "./ownership.ts";
import { templateOf } from "./pods.ts";
import { templateHash } from "./template-hash.ts";

/** How a kind of workload names its ControllerRevisions. */
export interface RevisionNaming {
  /** The label that carries the hash. */
  readonly label: string;
}

/** The workloads that keep their history in ControllerRevisions. */
type Revisioned = DaemonSet | StatefulSet;

/** What a workload's templates have been, oldest first; the last is its present one. */
export interface History {
  readonly revisions: readonly Stored<ControllerRevision>[];
  readonly update: Stored<ControllerRevision>;
  /** Grows when a name was taken by another owner's revision. */
  readonly collisions: number;
}

/**
 * Brings a workload's history up to its present template. Going back to an earlier one makes that
 * the newest again.
 */
export async function revisionHistory(
  registry: Registry,
  owner: Stored<Revisioned>,
  context: RequestContext,
  naming: RevisionNaming,
): Promise<History> {
  const resource = builtin<ControllerRevision>(registry, "apps", "v1", "controllerrevisions");
  const known = (await claim(registry, owner, resource, context)).toSorted(
    (a, b) => a.revision - b.revision || (a.metadata.name < b.metadata.name ? -1 : 1),
  );
  const data = revisionData(owner);
  const next = (known.at(-1)?.revision ?? 0) + 1;
  let collisions = owner.status?.collisionCount ?? 0;
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

  async function create(salt: number): Promise<Stored<ControllerRevision> | undefined> {
    const hash = templateHash(data, salt);
    const name = `${owner.metadata.name}-${hash}`;
    const annotations = owner.metadata.annotations ?? {};
    try {
      return await createObject(
        registry,
        resource,
        namespaceOf(owner),
        {
          metadata: {
            name,
            labels: { ...owner.spec.template.metadata?.labels, [naming.label]: hash },
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
      const taken = stored(registry, resource, `${namespaceOf(owner)}/${name}`);
      const ours = taken && controllerOf(taken)?.uid === owner.metadata.uid && equal(taken.data, data);
      return ours ? taken : undefined;
    }
  }
}

/** In the order in which the real controllers write it: some compare it byte by byte. */
function revisionData(owner: Stored<Revisioned>): JsonObject {
  return sorted({ spec: { template: { ...(templateOf(owner) as object), $patch: "replace" } } });
}

interface RevisionTemplate extends PodTemplateSpec {
  readonly $patch: string;
}

/** The template that a revision stands for. */
export function revisionTemplate(revision: Stored<ControllerRevision>): PodTemplateSpec {
  const { spec } = revision.data as { readonly spec: { readonly template: RevisionTemplate } };
  const { $patch: _directive, ...template } = spec.template;
  return template;
}

/** The short part of a revision's name. */
export function revisionHash(revision: Stored<ControllerRevision>, naming: RevisionNaming): string {
  return textOf(valueAt(revision, "metadata", "labels", naming.label));
}

/** Deletes the oldest revisions that are not in use, beyond as many as are to be kept. */
export async function truncateHistory(
  registry: Registry,
  owner: Stored<Revisioned>,
  revisions: readonly Stored<ControllerRevision>[],
  isLive: (revision: Stored<ControllerRevision>) => boolean,
  context: RequestContext,
): Promise<void> {
  const resource = builtin<ControllerRevision>(registry, "apps", "v1", "controllerrevisions");
  const spent = revisions.filter((revision) => !isLive(revision));
  const keep = owner.spec.revisionHistoryLimit ?? 10;
  for (const revision of spent.slice(0, Math.max(0, spent.length - keep))) {
    await deleteIfPresent(registry, resource, revision, context);
  }
}
