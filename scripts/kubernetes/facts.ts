import type { RecordedGoTypes } from "@windlass/kinds/go-types";
import type { RecordedKinds, RecordedSchemas } from "@windlass/kinds/recorded";
import { recordBootstrap } from "./bootstrap.ts";
import type { Cluster } from "./cluster.ts";
import { recordColumns } from "./columns.ts";
import { recordDescriptions } from "./descriptions.ts";
import { recordDiscovery } from "./discovery.ts";
import { recordGoTypes } from "./go-types.ts";
import { recordKinds } from "./kinds.ts";
import { recordSchemas } from "./schemas.ts";
import { jsonLines } from "./text.ts";

/** What the types of the built-in kinds are made from. */
export interface TypeFacts {
  readonly kinds: RecordedKinds;
  /** By their packages, such as `core.v1`. */
  readonly schemas: ReadonlyMap<string, RecordedSchemas>;
  readonly goTypes: RecordedGoTypes;
}

/** Everything that was recorded of a server. */
export interface Facts extends TypeFacts {
  /** The text of each file of `packages/kinds/src/recorded`, by its name without an ending. */
  readonly texts: ReadonlyMap<string, string>;
  /** The text of what discovery is compared with in a test. */
  readonly discovery: string;
}

/**
 * Asks a server for all that the packages know of its version. It should run with its default
 * feature gates and API groups; custom resources in it are ignored. The same version gives the same
 * text.
 */
export async function recordFacts(cluster: Cluster): Promise<Facts> {
  const kinds = await recordKinds(cluster);
  const { version, groups } = kinds;
  const schemas = await recordSchemas(cluster, groups);
  const goTypes = recordGoTypes(kinds, schemas);
  const facts: [name: string, fact: unknown][] = [
    ["kinds", kinds],
    ["columns", await recordColumns(cluster, groups)],
    ["descriptions", await recordDescriptions(cluster)],
    ["bootstrap", await recordBootstrap(cluster, version.gitVersion)],
    ["go-types", goTypes],
  ];
  for (const [id, recorded] of schemas) facts.push([`schemas/${id}`, recorded]);
  return {
    kinds,
    schemas,
    goTypes,
    texts: new Map(facts.map(([name, fact]) => [name, jsonLines(fact)])),
    discovery: jsonLines(await recordDiscovery(cluster, groups)),
  };
}
