import type { Checked, Configuration, Version } from "../configuration/index.ts";

/** What a shard's stores must keep for their content to be found again, by store. */
type Geometry = Readonly<Record<string, string>>;

/** A shard's configuration, for an evaluation that shows its stores. */
export function shardConfiguration(files: Readonly<Record<string, string>>, version: Version): Configuration {
  const environment = { POD_NAME: "pod-0", NODE_NAME: "node-0", HOSTNAME: "pod-0" };
  return { program: "bb_storage", version, files, entry: "storage.jsonnet", environment };
}

/**
 * Which stores would be emptied if shards went from one configuration to another: those whose
 * blocks or index change their number or size. Buildbarn empties them without a word.
 */
export function flushedStores(before: Checked, after: Checked): readonly string[] {
  const [old, now] = [geometryOf(before), geometryOf(after)];
  if (!old || !now) return [];
  return Object.keys(old).filter((store) => now[store] !== undefined && now[store] !== old[store]);
}

/** Undefined for a configuration that cannot be evaluated here. */
function geometryOf(checked: Checked): Geometry | undefined {
  if (checked.is !== "valid") return undefined;
  const { json } = checked;
  return Object.fromEntries(
    ["contentAddressableStorage", "actionCache"].flatMap((store) => {
      const local = fieldOf(json, store, "backend", "local");
      if (!isRecord(local)) return [];
      const { keyLocationMapOnBlockDevice, oldBlocks, currentBlocks, newBlocks, blocksOnBlockDevice } = local;
      return [
        [
          store,
          JSON.stringify([
            keyLocationMapOnBlockDevice,
            oldBlocks,
            currentBlocks,
            newBlocks,
            blocksOnBlockDevice,
          ]),
        ],
      ];
    }),
  );
}

function fieldOf(value: unknown, ...path: readonly string[]): unknown {
  return path.reduce((found, name) => (isRecord(found) ? found[name] : undefined), value);
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null;
}
