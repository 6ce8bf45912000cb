/**
 * How the fields of Kubernetes' own types are written down, one per line, much as in TypeScript:
 *
 *     name: string
 *     env?: corev1.EnvVar[] by name
 *     limits?: map<quantity>
 *     protocol?: "SCTP" | "TCP" | "UDP" = "TCP"
 *     startedAt?: date-time | null
 *
 * A line `atomic` above them says that server-side apply replaces the type as a whole.
 */
export interface TypeNotation {
  readonly atomic: boolean;
  readonly fields: readonly FieldNotation[];
}

/** A field of a built-in kind, as the compact notation has it. */
export interface FieldNotation {
  readonly name: string;
  readonly required: boolean;
  readonly type: FieldType;
  /** Whether a server may return null for the field, which can then be written back. */
  readonly nullable: boolean;
  /** How server-side apply merges the field, where that does not follow from the field's type. */
  readonly merge?: Merge;
  readonly default?: string;
}

/** `by`: a list whose items these keys tell apart. */
export type Merge =
  | { readonly as: "atomic" | "granular" | "set" }
  | { readonly as: "by"; readonly keys: readonly [string, ...string[]] };

/** The type of a field in the compact notation. */
export type FieldType =
  | { readonly at: "scalar"; readonly scalar: Scalar }
  | { readonly at: "enum"; readonly values: readonly string[] }
  /** A type by its name, e.g. `corev1.EnvVar`. */
  | { readonly at: "type"; readonly name: string }
  | { readonly at: "list"; readonly items: FieldType }
  | { readonly at: "map"; readonly values: FieldType };

/** The names of the scalar types. */
export const scalars = [
  "string",
  "boolean",
  "int32",
  "int64",
  "double",
  "byte",
  "date-time",
  "quantity",
  "int-or-string",
  /** An object whose fields are not described. */
  "object",
  /** Any JSON value. */
  "any",
] as const;

/** A scalar type, by its name. */
export type Scalar = (typeof scalars)[number];

/** Prints a type; {@link parseType} reads it. */
export function printType({ atomic, fields }: TypeNotation): string {
  return [...(atomic ? ["atomic"] : []), ...fields.map(printField)].join("\n");
}

function printField({ name, required, type, nullable, merge, default: value }: FieldNotation): string {
  const how = merge === undefined ? "" : ` ${merge.as}${merge.as === "by" ? ` ${merge.keys.join(",")}` : ""}`;
  const otherwise = value === undefined ? "" : ` = ${JSON.stringify(value)}`;
  return `${name}${required ? "" : "?"}: ${printFieldType(type)}${nullable ? " | null" : ""}${how}${otherwise}`;
}

function printFieldType(type: FieldType): string {
  switch (type.at) {
    case "scalar":
      return type.scalar;
    case "enum":
      return type.values.map((value) => JSON.stringify(value)).join(" | ");
    case "type":
      return type.name;
    case "list":
      return `${type.items.at === "enum" ? `(${printFieldType(type.items)})` : printFieldType(type.items)}[]`;
    case "map":
      return `map<${printFieldType(type.values)}>`;
  }
}

/** Reads what {@link printType} printed, whatever the indentation. */
export function parseType(text: string): TypeNotation {
  const lines = text
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line !== "");
  const atomic = lines[0] === "atomic";
  return { atomic, fields: lines.slice(atomic ? 1 : 0).map(parseField) };
}

const fieldLine =
  /^(?<name>\S+?)(?<optional>\?)?: (?<type>.+?)(?<nullable> \| null)?(?: (?<merge>atomic|granular|set|by \S+))?(?: = (?<value>".*"))?$/;

function parseField(line: string): FieldNotation {
  const { name, optional, type, nullable, merge, value } = fieldLine.exec(line)?.groups ?? {};
  if (name === undefined || type === undefined) throw new TypeError(`not a field: ${line}`);
  return {
    name,
    required: optional === undefined,
    type: parseFieldType(type),
    nullable: nullable !== undefined,
    ...(merge === undefined ? {} : { merge: parseMerge(merge) }),
    ...(value === undefined ? {} : { default: JSON.parse(value) as string }),
  };
}

function parseMerge(text: string): Merge {
  const [as, keys = ""] = text.split(" ");
  if (as === "atomic" || as === "granular" || as === "set") return { as };
  const [first = "", ...more] = keys.split(",");
  return { as: "by", keys: [first, ...more] };
}

function parseFieldType(text: string): FieldType {
  if (text.endsWith("[]")) {
    return { at: "list", items: parseFieldType(text.slice(0, -2).replace(/^\((.*)\)$/, "$1")) };
  }
  if (text.startsWith("map<")) return { at: "map", values: parseFieldType(text.slice(4, -1)) };
  if (text.startsWith('"')) {
    return { at: "enum", values: JSON.parse(`[${text.replaceAll('" | "', '","')}]`) as string[] };
  }
  const scalar = scalars.find((one) => one === text);
  return scalar === undefined ? { at: "type", name: text } : { at: "scalar", scalar };
}
