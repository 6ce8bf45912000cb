import { createHash } from "node:crypto";
import { isRecord } from "../record.ts";

/**
 * Where what is on the server differs from what is wanted: the server's value by path, `undefined` where it has none. For a
 * list, `path[]` stands for its length.
 */
export type Deviations = ReadonlyMap<string, string | undefined>;

const none: Deviations = new Map();

/**
 * Compares what is wanted with what is there. Fields that are wanted must be there; what is there besides is someone else's or
 * a default, and does not count, except for the length of a list.
 *
 * The server may answer with other values than were sent: it writes `0.5` CPU as `500m`, drops empty maps, and webhooks
 * rewrite. So a deviation alone is no reason to write again. The caller remembers the deviations in the server's response
 * to its last write, and acts only on others (see {@link sameDeviations}).
 */
export function deviations(wanted: unknown, live: unknown): Deviations {
  let found: Map<string, string | undefined> | undefined;
  const note = (path: string, value: unknown) => {
    found ??= new Map();
    found.set(path, value === undefined ? undefined : canonical(value));
  };
  compare(wanted, live, "", note);
  return found ?? none;
}

/** Whether two comparisons found the same differences. */
export function sameDeviations(a: Deviations, b: Deviations): boolean {
  if (a.size !== b.size) return false;
  for (const [path, value] of a) if (!b.has(path) || b.get(path) !== value) return false;
  return true;
}

type Note = (path: string, value: unknown) => void;

function compare(wanted: unknown, live: unknown, path: string, note: Note): void {
  if (wanted === live || wanted === undefined) return;
  if (wanted === null) {
    if (live !== undefined) note(path, live);
  } else if (Array.isArray(wanted)) {
    if (Array.isArray(live)) compareLists(wanted, live, path, note);
    else if (live !== undefined || wanted.length > 0) note(path, live);
  } else if (typeof wanted === "object") {
    if (isRecord(live)) {
      for (const [key, value] of Object.entries(wanted))
        compare(value, Object.hasOwn(live, key) ? live[key] : undefined, join(path, key), note);
    } else if (live !== undefined || Object.values(wanted).some((value) => value !== undefined))
      note(path, live);
  } else if (!sameQuantity(wanted, live, path)) note(path, live);
}

function compareLists(wanted: readonly unknown[], live: readonly unknown[], path: string, note: Note): void {
  if (wanted.length !== live.length) note(`${path}[]`, live.length);
  const pair = pairing(wanted, live);
  for (const [index, item] of wanted.entries()) {
    const { label, other } = pair(item, index);
    compare(item, other, `${path}[${label}]`, note);
  }
}

type Pairing = (item: unknown, index: number) => { readonly label: string; readonly other: unknown };

/**
 * The fields by which Kubernetes' associative lists tell their items apart. Which list uses which is in the schema, and there
 * is none at hand; a field counts if it tells all items of both lists apart. Otherwise the place in the list does.
 */
const mergeKeys: readonly (readonly string[])[] = [
  ["name"],
  ["type"],
  ["key"],
  ["mountPath"],
  ["devicePath"],
  ["containerPort", "protocol"],
  ["port", "protocol"],
  ["uid"],
  ["ip"],
  ["topologyKey", "whenUnsatisfiable"],
];

function pairing(wanted: readonly unknown[], live: readonly unknown[]): Pairing {
  for (const fields of mergeKeys) {
    const byKey = indexBy(live, fields);
    const ours = byKey && indexBy(wanted, fields);
    if (byKey && ours)
      return (item) => {
        const key = keyOf(item, fields) ?? "";
        return { label: key, other: byKey.get(key) };
      };
  }
  return (_item, index) => ({ label: String(index), other: live[index] });
}

function indexBy(items: readonly unknown[], fields: readonly string[]): Map<string, unknown> | undefined {
  const byKey = new Map<string, unknown>();
  for (const item of items) {
    const key = keyOf(item, fields);
    if (key === undefined || byKey.has(key)) return undefined;
    byKey.set(key, item);
  }
  return byKey;
}

function keyOf(item: unknown, [first, second]: readonly string[]): string | undefined {
  if (!isRecord(item) || first === undefined) return undefined;
  const value = item[first];
  if (typeof value !== "string" && typeof value !== "number") return undefined;
  if (second === undefined) return String(value);
  const more = item[second] ?? (second === "protocol" ? "TCP" : "");
  return typeof more === "string" ? `${value}/${more}` : undefined;
}

/** Maps from resource name to quantity: the one place where two spellings of a number are known to mean the same. */
const quantityMaps = new Set(["requests", "limits", "capacity", "hard", "allocatable", "overhead"]);

function sameQuantity(wanted: unknown, live: unknown, path: string): boolean {
  const parent = path.split(".").at(-2);
  if (parent === undefined || !quantityMaps.has(parent)) return false;
  const value = quantity(wanted);
  return value !== undefined && value === quantity(live);
}

const binary = new Map(
  ["K", "M", "G", "T", "P", "E"].map((letter, index) => [`${letter}i`, 2 ** (10 * (index + 1))]),
);
const decimal = new Map([
  ["n", 1e-9],
  ["u", 1e-6],
  ["m", 1e-3],
  ["", 1],
  ["k", 1e3],
  ["M", 1e6],
  ["G", 1e9],
  ["T", 1e12],
  ["P", 1e15],
  ["E", 1e18],
]);

/** The number that a quantity stands for, to twelve digits, or undefined if it is none. */
function quantity(value: unknown): number | undefined {
  if (typeof value !== "string" && typeof value !== "number") return undefined;
  const match = /^([+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)([A-Za-z]*)$/.exec(String(value));
  if (!match) return undefined;
  const factor = binary.get(match[2] ?? "") ?? decimal.get(match[2] ?? "");
  return factor === undefined ? undefined : Number((Number(match[1]) * factor).toPrecision(12));
}

/** A short name for a configuration: equal for equal content, whatever the order of keys. */
export function fingerprint(value: unknown): string {
  return createHash("sha256").update(canonical(value)).digest("base64url").slice(0, 22);
}

/** A short name for the fields that a configuration sets, whatever their values. */
export function shapeFingerprint(value: unknown): string {
  return createHash("sha256")
    .update(canonical(shapeOf(value)))
    .digest("base64url")
    .slice(0, 22);
}

function shapeOf(value: unknown): unknown {
  if (Array.isArray(value)) {
    const byKey = indexBy(value, ["type"]) ?? indexBy(value, ["name"]);
    return byKey ? [...byKey].map(([key, item]) => [key, shapeOf(item)]) : value.length;
  }
  if (!isRecord(value)) return null;
  return Object.fromEntries(
    Object.entries(value)
      .filter(([, field]) => field !== undefined)
      .map(([key, field]) => [key, shapeOf(field)]),
  );
}

/**
 * The fields that are there but not wanted, as paths: candidates for having been applied once and dropped since. Items of
 * `conditions` that are not wanted belong to other writers and do not count.
 */
export function extras(wanted: unknown, live: unknown, path = ""): readonly string[] {
  if (!isRecord(wanted) || !isRecord(live)) return [];
  return Object.entries(live).flatMap(([key, value]) => {
    const here = join(path, key);
    const mine = Object.hasOwn(wanted, key) ? wanted[key] : undefined;
    if (mine === undefined) return key === "conditions" ? [] : [here];
    return extras(mine, value, here);
  });
}

/** JSON with sorted keys and without undefined fields. */
export function canonical(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map((item) => canonical(item ?? null)).join(",")}]`;
  if (isRecord(value)) {
    const fields = Object.keys(value)
      .filter((key) => value[key] !== undefined)
      .sort()
      .map((key) => `${JSON.stringify(key)}:${canonical(value[key])}`);
    return `{${fields.join(",")}}`;
  }
  return JSON.stringify(value) ?? "null";
}

function join(path: string, key: string): string {
  return path === "" ? key : `${path}.${key}`;
}
