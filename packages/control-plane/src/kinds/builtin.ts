import { type KubernetesVersion, type RecordedResource, recordedKinds } from "@windlass/kinds/recorded";
import { type KindInfo, KindTable } from "./kind-table.ts";
import { builtinSchema } from "./schemas.ts";

interface Builtin {
  readonly version: KubernetesVersion;
  readonly kinds: readonly KindInfo[];
  readonly standing: ConstructorParameters<typeof KindTable>[0];
}

let builtin: Builtin | undefined;

function load(): Builtin {
  if (builtin) return builtin;
  const { version, groups } = recordedKinds();
  builtin = {
    version,
    kinds: groups.flatMap((group) =>
      group.versions.flatMap((served) =>
        served.resources.map((resource) => kindInfo(group.name, served.version, resource)),
      ),
    ),
    standing: new Map(
      groups.map((group) => [
        group.name,
        {
          group: group.priority,
          versions: new Map(group.versions.map((served) => [served.version, served.priority])),
        },
      ]),
    ),
  };
  return builtin;
}

/**
 * A table of its own for each caller, holding what a real server of the recorded version serves by
 * default.
 */
export function builtinKinds(): KindTable {
  const { kinds, standing } = load();
  const table = new KindTable(standing);
  for (const kind of kinds) table.add(kind);
  return table;
}

export function kubernetesVersion(): KubernetesVersion {
  return load().version;
}

function kindInfo(group: string, version: string, resource: RecordedResource): KindInfo {
  return {
    group,
    version,
    kind: resource.kind,
    plural: resource.plural,
    singular: resource.singular,
    namespaced: resource.namespaced,
    shortNames: resource.shortNames ?? [],
    categories: resource.categories ?? [],
    verbs: resource.verbs,
    ...(resource.hash === undefined ? {} : { storageVersionHash: resource.hash }),
    subresources: (resource.subresources ?? []).map((subresource) => ({
      name: subresource.name,
      kind: { group: subresource.group, version: subresource.version, kind: subresource.kind },
      verbs: subresource.verbs,
    })),
    listKind: `${resource.kind}List`,
    origin: "builtin",
    schema: () => builtinSchema(group, version, resource.kind),
  };
}
