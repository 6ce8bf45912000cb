import type { RecordedColumn, RecordedColumns, RecordedGroup } from "@windlass/kinds/recorded";
import type { Cluster } from "./cluster.ts";

interface Table {
  readonly columnDefinitions?: readonly {
    readonly name: string;
    readonly type: string;
    readonly format: string;
    readonly priority: number;
  }[];
}

/** The columns of every kind that can be listed, under `plural.group/version`. */
export async function recordColumns(
  cluster: Cluster,
  groups: readonly RecordedGroup[],
): Promise<RecordedColumns> {
  const columns: { [resource: string]: readonly RecordedColumn[] } = {};
  for (const group of groups) {
    for (const { version, resources } of group.versions) {
      const path = group.name === "" ? `/api/${version}` : `/apis/${group.name}/${version}`;
      for (const { plural, verbs } of resources) {
        if (!verbs.includes("list")) continue;
        const table = (await cluster.get(
          `${path}/${plural}?limit=1`,
          "application/json;as=Table;v=v1;g=meta.k8s.io",
        )) as Table;
        columns[`${plural}.${group.name}/${version}`] = (table.columnDefinitions ?? []).map((column) => [
          column.name,
          column.type,
          column.format,
          column.priority,
        ]);
      }
    }
  }
  return columns;
}
