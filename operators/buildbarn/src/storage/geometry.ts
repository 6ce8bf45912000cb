import { type Checked, type Configuration, camelCase, type Version } from "../configuration/index.ts";

/** What each store must keep for its content to be found again, by its place. */
type Geometry = ReadonlyMap<string, string>;

/** What a change of a shard's configuration does to its stores. */
export type Flush =
  | { readonly is: "known"; readonly stores: readonly string[] }
  /** One of the two configurations cannot be evaluated here. */
  | { readonly is: "unknown"; readonly why: string };

/** A shard's configuration, for an evaluation that shows its stores. */
export function shardConfiguration(files: Readonly<Record<string, string>>, version: Version): Configuration {
  const environment = { POD_NAME: "pod-0", NODE_NAME: "node-0", HOSTNAME: "pod-0" };
  return { program: "bb_storage", version, files, entry: "storage.jsonnet", environment };
}

/**
 * Which stores would be emptied if shards went from one configuration to another: those whose
 * blocks, index or directory of state change, and those that are no longer where they were.
 * Buildbarn empties them without a warning.
 */
export function flushOf(before: Checked, after: Checked): Flush {
  const unread = [before, after].find((checked) => checked.is !== "valid");
  if (unread) return { is: "unknown", why: unread.is === "unknown" ? unread.why : unread.faults.join("; ") };
  const [old, now] = [geometryOf(before), geometryOf(after)];
  const stores = [...old].filter(([path, kept]) => now.get(path) !== kept).map(([path]) => storeOf(path));
  return { is: "known", stores: [...new Set(stores)] };
}

/** `contentAddressableStorage` of `contentAddressableStorage.backend.local`. */
function storeOf(path: string): string {
  return path.slice(0, path.indexOf("."));
}

function geometryOf(checked: Checked): Geometry {
  return checked.is === "valid" ? new Map(localStores(checked.json, "")) : new Map();
}

/**
 * The stores on volumes of a shard, however deep in other backends. One without a directory of
 * state is emptied by every restart: no change makes that worse.
 */
function* localStores(json: unknown, path: string): Generator<readonly [path: string, kept: string]> {
  if (typeof json !== "object" || json === null) return;
  for (const [written, value] of Object.entries(json)) {
    const name = Array.isArray(json) ? written : camelCase(written);
    const inner = path === "" ? name : `${path}.${name}`;
    const { persistent, keyLocationMapOnBlockDevice, blocksOnBlockDevice, ...local } = fieldsOf(value);
    const directory = fieldsOf(persistent).stateDirectoryPath;
    if (name === "local" && directory !== undefined) {
      const { dataIntegrityValidationCache: _, ...blocks } = fieldsOf(blocksOnBlockDevice);
      const { oldBlocks, currentBlocks, newBlocks } = local;
      const counts = [oldBlocks, currentBlocks, newBlocks];
      yield [inner, canonical([directory, keyLocationMapOnBlockDevice, blocks, ...counts])];
    } else yield* localStores(value, inner);
  }
}

/** The fields of a message by the names that protobuf's JSON gives them. */
function fieldsOf(json: unknown): Readonly<Record<string, unknown>> {
  if (typeof json !== "object" || json === null || Array.isArray(json)) return {};
  return Object.fromEntries(Object.entries(json).map(([name, value]) => [camelCase(name), value]));
}

/**
 * The same text for the same values: protobuf's JSON may write a number as text, and zero not at
 * all.
 */
function canonical(json: unknown): string {
  if (Array.isArray(json)) return `[${json.map(canonical).join()}]`;
  if (typeof json === "object" && json !== null) {
    const fields = Object.entries(fieldsOf(json)).toSorted(([a], [b]) => (a < b ? -1 : 1));
    return `{${fields.map(([name, value]) => `${name}:${canonical(value)}`).join()}}`;
  }
  return typeof json === "string" ? JSON.stringify(json) : `"${JSON.stringify(json ?? 0)}"`;
}
