import type { Registry } from "./registry.ts";

/** What the migration of stored versions reports. */
export function migrationMetrics(registry: Registry) {
  const labels = ["kind"];
  const rewritten = registry.counter({
    name: "windlass_migrated_objects_total",
    help: "Objects rewritten in the version that their kind is stored in",
    labels,
  });
  const refused = registry.counter({
    name: "windlass_migration_refusals_total",
    help: "Objects that the server refused to rewrite in the version that their kind is stored in",
    labels,
  });
  return {
    rewritten: (kind: string) => rewritten.inc({ kind }),
    refused: (kind: string) => refused.inc({ kind }),
  };
}
