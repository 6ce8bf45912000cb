import { apiVersionOf } from "@windlass/kinds";
import type { Json, JsonObject } from "../json.ts";
import type { GroupInfo, KindInfo, KindTable } from "../kinds/index.ts";

/**
 * `/api`: the versions of the core group. `serverAddress` is what clients of any address get
 * to use.
 */
export function apiVersions(serverAddress: string): JsonObject {
  return {
    kind: "APIVersions",
    versions: ["v1"],
    serverAddressByClientCIDRs: [{ clientCIDR: "0.0.0.0/0", serverAddress }],
  };
}

/** `/apis`: every named group with its versions, without what they serve. */
export function apiGroupList(table: KindTable): JsonObject {
  const groups = table.groups().filter((group) => group.name !== "");
  return { kind: "APIGroupList", apiVersion: "v1", groups: groups.map(describeGroup) };
}

/** `/apis/GROUP`, or undefined where there is no such group. */
export function apiGroup(table: KindTable, name: string): JsonObject | undefined {
  const group = name === "" ? undefined : table.group(name);
  return group && { kind: "APIGroup", apiVersion: "v1", ...describeGroup(group) };
}

/** `/api/v1` and `/apis/GROUP/VERSION`, or undefined where nothing is served there. */
export function apiResourceList(table: KindTable, group: string, version: string): JsonObject | undefined {
  if (!table.hasGroupVersion(group, version)) return undefined;
  return {
    kind: "APIResourceList",
    // The core group's list goes without, for clients older than the field.
    ...(group === "" ? {} : { apiVersion: "v1" }),
    groupVersion: apiVersionOf({ group, version }),
    resources: table.kinds(group, version).flatMap(describeResources),
  };
}

function describeGroup({ name, versions }: GroupInfo): JsonObject {
  const [preferred] = versions;
  const describe = (version: string) => ({ groupVersion: `${name}/${version}`, version });
  return { name, versions: versions.map(describe), preferredVersion: describe(preferred ?? "") };
}

function describeResources(kind: KindInfo): JsonObject[] {
  const resource: JsonObject = {
    name: kind.plural,
    singularName: kind.singular,
    namespaced: kind.namespaced,
    kind: kind.kind,
    verbs: [...(kind.listedVerbs ?? kind.verbs)],
    ...nonEmpty("shortNames", kind.shortNames),
    ...nonEmpty("categories", kind.categories),
  };
  if (kind.storageVersionHash !== undefined) resource.storageVersionHash = kind.storageVersionHash;
  const subresources = kind.subresources.map((subresource): JsonObject => {
    const foreign = subresource.kind.group !== kind.group || subresource.kind.version !== kind.version;
    return {
      name: `${kind.plural}/${subresource.name}`,
      singularName: "",
      namespaced: kind.namespaced,
      ...(foreign ? { group: subresource.kind.group, version: subresource.kind.version } : {}),
      kind: subresource.kind.kind,
      verbs: [...subresource.verbs],
    };
  });
  return [resource, ...subresources];
}

export function nonEmpty(name: string, values: readonly string[]): { [name: string]: Json } {
  return values.length === 0 ? {} : { [name]: [...values] };
}
