import { equal, type Json, type JsonObject } from "../json.ts";
import { objectAt } from "../json-fields.ts";
import type { Strategy } from "../registry/strategy.ts";
import type { Cause } from "../status.ts";
import { age, name } from "../table/metadata-cells.ts";
import { Faults } from "../validation/faults.ts";
import { dataKey } from "../validation/names.ts";
import type { KindDeclaration } from "./declaration.ts";

const most = 1024 * 1024;

const soundKey = /^[-_a-zA-Z0-9][-._a-zA-Z0-9]{0,252}$/;

const locked = "field is immutable when `immutable` is set";

const configMap: Strategy = {
  validate: dataFaults,
  validateUpdate: (next, live) => {
    const faults = new Faults();
    if (live.immutable === true) checkLocked(faults, next, live, ["data", "binaryData"]);
    return [...faults.causes, ...dataFaults(next)];
  },
};

/** Refuses changes of an immutable object. */
export function checkLocked(
  faults: Faults,
  next: JsonObject,
  live: JsonObject,
  parts: readonly string[],
): void {
  if (next.immutable !== true) faults.forbidden("immutable", locked);
  for (const part of parts) if (!equal(next[part] ?? {}, live[part] ?? {})) faults.forbidden(part, locked);
}

function dataFaults(object: JsonObject): Cause[] {
  const [plain, binary] = [objectAt(object, "data"), objectAt(object, "binaryData")];
  let size = 0;
  let sound = true;
  for (const key of Object.keys(plain)) {
    size += Buffer.byteLength(plain[key] as string);
    sound &&= soundKey.test(key) && !Object.hasOwn(binary, key);
  }
  for (const key of Object.keys(binary)) {
    size += bytesOf(binary[key] as string);
    sound &&= soundKey.test(key);
  }
  // The fast path for nearly every object.
  if (sound && size <= most) return [];
  const faults = new Faults();
  for (const key of Object.keys(plain)) {
    faults.each(`data[${key}]`, key, dataKey(key));
    if (Object.hasOwn(binary, key))
      faults.invalid(`data[${key}]`, key, "duplicate of key present in binaryData");
  }
  for (const key of Object.keys(binary)) faults.each(`binaryData[${key}]`, key, dataKey(key));
  // The real server has no name for the whole.
  if (size > most) faults.tooLong("[]", most);
  return faults.causes;
}

/** How many bytes base64 stands for. */
export function bytesOf(base64: string): number {
  const padding = base64.endsWith("==") ? 2 : base64.endsWith("=") ? 1 : 0;
  return (base64.length / 4) * 3 - padding;
}

function configMapCells(of: JsonObject, now: number): Json[] {
  return [
    name(of),
    Object.keys(objectAt(of, "data")).length + Object.keys(objectAt(of, "binaryData")).length,
    age(of, now),
  ];
}

export const configMapKind = {
  group: "",
  kind: "ConfigMap",
  strategy: configMap,
  cells: configMapCells,
} satisfies KindDeclaration;
