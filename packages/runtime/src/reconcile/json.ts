import { hash } from "node:crypto";
import { isRecord } from "@windlass/kinds/json";

/** A value that JSON has no form for, or one that loses what it holds. */
export class NotJsonError extends TypeError {
  override readonly name = "NotJsonError";
  /** Where it is. */
  readonly path: string;
  /** What it is, with its article. */
  readonly what: string;
  /** What to write instead. */
  readonly instead: string;

  constructor(path: string, what: string, instead: string) {
    super(`${path} is ${what}, which JSON cannot hold; ${instead}`);
    this.path = path;
    this.what = what;
    this.instead = instead;
  }
}

/** No object of Kubernetes comes near it. What contains itself has no end. */
const DEEPEST = 500;

/** The beginning of a path tells where something goes around in circles. */
const LONGEST_PATH = 60;

/**
 * The value as it is sent: fields that are undefined left out, and what has a form of its own for
 * JSON, such as a `Date`, in that form. What would be sent as something else than it holds is
 * refused.
 *
 * @param path Where the value is, for the error.
 * @throws NotJsonError naming the field.
 */
export function plainJson(value: unknown, path: string, depth = 0): unknown {
  switch (typeof value) {
    case "string":
      // A surrogate without its other half has no form in UTF-8: the server stores U+FFFD for it.
      return value.toWellFormed();
    case "boolean":
      return value;
    case "number":
      if (Number.isFinite(value)) return value;
      throw new NotJsonError(path, `the number ${value}`, "leave the field out, or set a finite number");
    case "object":
      return value === null ? null : plainObject(value, path, depth + 1);
    case "undefined":
      return null;
    case "bigint":
      throw new NotJsonError(path, "a bigint", "convert it with Number or String");
    default:
      throw new NotJsonError(path, `a ${typeof value}`, "set a plain value");
  }
}

function plainObject(value: object, path: string, depth: number): unknown {
  if (depth > DEEPEST)
    throw new NotJsonError(
      path.slice(0, LONGEST_PATH),
      `nested more than ${DEEPEST} levels deep`,
      "does it contain itself?",
    );
  if (Array.isArray(value)) return value.map((item, index) => plainJson(item, `${path}[${index}]`, depth));
  if (ArrayBuffer.isView(value) || value instanceof ArrayBuffer)
    throw new NotJsonError(
      path,
      "binary data",
      "encode it, as Secrets do: Buffer.from(data).toString('base64')",
    );
  if ("toJSON" in value && typeof value.toJSON === "function") {
    const json: unknown = value.toJSON();
    if (json === null && value instanceof Date)
      throw new NotJsonError(path, "an invalid Date", "check what it was made from");
    return plainJson(json, path, depth);
  }
  const tag = Object.prototype.toString.call(value).slice("[object ".length, -1);
  if (tag !== "Object")
    throw new NotJsonError(
      path,
      `a ${tag}`,
      tag === "Map" ? "convert it with Object.fromEntries" : "convert it to plain objects and lists",
    );
  const plain: Record<string, unknown> = {};
  for (const key of Object.keys(value)) {
    const field = (value as Record<string, unknown>)[key];
    if (field === undefined) continue;
    const json = plainJson(field, path === "" ? key : `${path}.${key}`, depth);
    // A field of this name, not the object's prototype.
    if (key === "__proto__")
      Object.defineProperty(plain, key, {
        value: json,
        enumerable: true,
        configurable: true,
        writable: true,
      });
    else plain[key] = json;
  }
  return plain;
}

/** A short name for a configuration: equal for equal content, whatever the order of keys. */
export function fingerprint(value: unknown): string {
  return hash("sha256", canonical(value), "base64url").slice(0, 22);
}

/** JSON with sorted keys and without undefined fields. */
export function canonical(value: unknown): string {
  // Plain loops: every child and status passes through here with each reconcile.
  let text = "";
  if (Array.isArray(value)) {
    for (const item of value) text += `${text === "" ? "" : ","}${canonical(item ?? null)}`;
    return `[${text}]`;
  }
  if (!isRecord(value)) return JSON.stringify(value) ?? "null";
  for (const key of Object.keys(value).sort()) {
    const field = value[key];
    if (field !== undefined) text += `${text === "" ? "" : ","}${JSON.stringify(key)}:${canonical(field)}`;
  }
  return `{${text}}`;
}
