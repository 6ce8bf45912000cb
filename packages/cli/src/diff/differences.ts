import { isRecord } from "@windlass/kinds/json";
/** A field that would change. */
export interface Difference {
  /** `spec.template.spec.containers[web].image` */
  readonly path: string;
  /** Undefined where it is absent. */
  readonly before: unknown;
  readonly after: unknown;
}

/** What the server writes into every object by itself. */
const ofTheServer = [
  "managedFields",
  "resourceVersion",
  "generation",
  "uid",
  "creationTimestamp",
  "selfLink",
];
/** How the framework remembers what it applied. */
const bookkeeping = "windlass.dev/applied";

/** An object without what the server and the framework keep for themselves. */
export function essential(object: unknown): unknown {
  if (!isRecord(object) || !isRecord(object.metadata)) return object;
  const metadata = Object.fromEntries(
    Object.entries(object.metadata).filter(([name]) => !ofTheServer.includes(name)),
  );
  if (isRecord(metadata.annotations)) {
    const { [bookkeeping]: _applied, ...annotations } = metadata.annotations;
    if (Object.keys(annotations).length > 0) metadata.annotations = annotations;
    else delete metadata.annotations;
  }
  return { ...object, metadata };
}

/** The fields in which two values differ, each with its path. */
export function differences(before: unknown, after: unknown, path = ""): readonly Difference[] {
  if (isRecord(before) && isRecord(after)) {
    const names = [...new Set([...Object.keys(before), ...Object.keys(after)])];
    return names.flatMap((name) => differences(before[name], after[name], join(path, name)));
  }
  if (Array.isArray(before) && Array.isArray(after)) {
    const [from, to] = [byName(before), byName(after)];
    if (from !== undefined && to !== undefined) {
      const names = [...new Set([...from.keys(), ...to.keys()])];
      return names.flatMap((name) => differences(from.get(name), to.get(name), `${path}[${name}]`));
    }
  }
  return JSON.stringify(before) === JSON.stringify(after) ? [] : [{ path, before, after }];
}

/**
 * The entries of a list whose entries have names, or types as conditions do, by them; undefined for
 * any other list.
 */
function byName(list: readonly unknown[]): ReadonlyMap<string, unknown> | undefined {
  const named = new Map<string, unknown>();
  for (const entry of list) {
    if (!isRecord(entry)) return undefined;
    const name = entry.name ?? entry.type;
    if (typeof name !== "string" || named.has(name)) return undefined;
    named.set(name, entry);
  }
  return named;
}

function join(path: string, name: string): string {
  const part = /^[\w-]+$/.test(name) ? name : `[${name}]`;
  return path === "" || part.startsWith("[") ? path + part : `${path}.${part}`;
}
