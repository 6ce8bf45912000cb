import type { AnyKind } from "@windlass/kinds";
import type { RecordedGoField, RecordedGoPackage, RecordedGoTypes } from "@windlass/kinds/go-types";

/** How a value is sent, and what JSON makes of it. */
export type ValueType =
  | { readonly is: "string" | "bytes" | "bool" | "int32" | "int64" | "float64" }
  | { readonly is: "message"; readonly message: MessageType }
  /** A list that is a message with one repeated field. */
  | { readonly is: "wrapped"; readonly item: ValueType }
  | { readonly is: Special };

/** Types that have a JSON of their own. */
export type Special =
  | "duration"
  | "int-or-string"
  | "json"
  | "micro-time"
  | "quantity"
  | "schema-or-array"
  | "schema-or-bool"
  | "schema-or-strings"
  | "time";

/** One field of a message. */
export interface MessageField {
  readonly name: string;
  readonly holds: "one" | "list" | "map" | "inlined";
  /** What it holds: one, each item, or each value. */
  readonly type: ValueType;
  /** Whether JSON leaves out the values `""`, 0 and false. */
  readonly omitsZero: boolean;
  /** Whether JSON leaves out null, which is what a time that was never set reads as. */
  readonly omitsNull: boolean;
}

/** What is known of a message. */
export interface MessageType {
  /** By their numbers. */
  readonly fields: readonly (MessageField | undefined)[];
  /**
   * What JSON has although it was not sent: the fields it never leaves out, with the value they
   * then have.
   */
  readonly always: readonly { readonly name: string; readonly value: () => unknown }[];
}

const specials: { readonly [name: string]: Special } = {
  "apiextensions.v1.JSON": "json",
  "apiextensions.v1.JSONSchemaPropsOrArray": "schema-or-array",
  "apiextensions.v1.JSONSchemaPropsOrBool": "schema-or-bool",
  "apiextensions.v1.JSONSchemaPropsOrStringArray": "schema-or-strings",
  "intstr.IntOrString": "int-or-string",
  "meta.v1.Duration": "duration",
  "meta.v1.FieldsV1": "json",
  "meta.v1.MicroTime": "micro-time",
  "meta.v1.Time": "time",
  "resource.Quantity": "quantity",
  "runtime.RawExtension": "json",
};

const scalars: { readonly [name: string]: ValueType } = {
  string: { is: "string" },
  "types.UID": { is: "string" },
  bool: { is: "bool" },
  int: { is: "int64" },
  int32: { is: "int32" },
  int64: { is: "int64" },
  uint8: { is: "int32" },
  byte: { is: "int32" },
  float64: { is: "float64" },
};

/** Objects within others, whose kind JSON shows and no message says. */
const kindsInside: { readonly [field: string]: { readonly kind: string; readonly apiVersion: string } } = {
  "apps.v1.StatefulSetSpec.volumeClaimTemplates": { kind: "PersistentVolumeClaim", apiVersion: "v1" },
};

/** A type as a field is declared with it. */
interface Declared {
  readonly holds: "one" | "list" | "map";
  readonly type: ValueType;
  readonly isPointer: boolean;
}

/** The messages of one Kubernetes version. Each is put together when it is first asked for. */
class Messages {
  readonly #recorded: RecordedGoTypes;
  readonly #known = new Map<string, MessageType>();

  constructor(recorded: RecordedGoTypes) {
    this.#recorded = recorded;
  }

  get version(): { readonly major: number; readonly minor: number } {
    return this.#recorded;
  }

  packageOf(group: string): string | undefined {
    const { groups } = this.#recorded;
    return Object.hasOwn(groups, group) ? groups[group] : undefined;
  }

  /** @param name such as `core.v1.Pod`. */
  find(name: string): MessageType | undefined {
    const { owner, local } = this.#split(name);
    const type = owner && Object.hasOwn(owner.types, local) ? owner.types[local] : undefined;
    return typeof type === "object" ? this.#message(name) : undefined;
  }

  #split(name: string): {
    readonly id: string;
    readonly local: string;
    readonly owner: RecordedGoPackage | undefined;
  } {
    const dot = name.lastIndexOf(".");
    const id = name.slice(0, dot);
    const { packages } = this.#recorded;
    return { id, local: name.slice(dot + 1), owner: Object.hasOwn(packages, id) ? packages[id] : undefined };
  }

  #message(name: string): MessageType {
    const known = this.#known.get(name);
    if (known) return known;
    const fields: (MessageField | undefined)[] = [];
    const always: { name: string; value: () => unknown }[] = [];
    const message = { fields, always };
    // Known before its fields are: a schema holds schemas.
    this.#known.set(name, message);
    const { id, local, owner } = this.#split(name);
    for (const field of (owner?.types[local] ?? []) as readonly RecordedGoField[])
      this.#addField(message, field, id, `${name}.${field[0]}`);
    return message;
  }

  #addField(
    message: {
      readonly fields: (MessageField | undefined)[];
      readonly always: { name: string; value: () => unknown }[];
    },
    [name, expression, flags, number]: RecordedGoField,
    id: string,
    fullName: string,
  ): void {
    if (flags.includes("i")) {
      // What has no number is the kind and version of the object itself, which is not in its
      // message.
      if (number === 0) return;
      const { type } = this.#declared(expression.replace(/^\*/, ""), id);
      if (type.is !== "message") throw new Error(`${id}: ${expression} is inlined and no message`);
      message.fields[number] = { name, holds: "inlined", type, omitsZero: false, omitsNull: false };
      if (!expression.startsWith("*")) message.always.push(...type.message.always);
      return;
    }
    const { holds, type: declared, isPointer } = this.#declared(expression, id);
    const type = withKind(declared, kindsInside[fullName]);
    const isOmitted = flags.includes("o");
    const omitsNull = flags.includes("z");
    if (number > 0)
      message.fields[number] = { name, holds, type, omitsZero: isOmitted && !isPointer, omitsNull };
    // A message is there even if it is empty; of what was left out it is the one thing that JSON
    // shows.
    const isShown = !omitsNull && (!isOmitted || (holds === "one" && !isPointer && isStruct(type)));
    if (isShown)
      message.always.push({ name, value: holds === "one" && !isPointer ? () => zeroOf(type) : nothing });
  }

  #declared(expression: string, id: string): Declared {
    if (expression.startsWith("*")) return { ...this.#declared(expression.slice(1), id), isPointer: true };
    if (expression === "[]byte") return { holds: "one", type: { is: "bytes" }, isPointer: false };
    if (expression.startsWith("[]"))
      return { holds: "list", type: this.#value(expression.slice(2), id), isPointer: false };
    const [, mapped] = /^map\[[^\]]+\](.+)$/.exec(expression) ?? [];
    if (mapped !== undefined) return { holds: "map", type: this.#value(mapped, id), isPointer: false };
    const scalar = scalars[expression];
    if (scalar) return { holds: "one", type: scalar, isPointer: false };
    return this.#named(expression.includes(".") ? expression : `${id}.${expression}`);
  }

  /** What is in a list or a map, where a list can only be a message of its own. */
  #value(expression: string, id: string): ValueType {
    const { holds, type } = this.#declared(expression.replace(/^\*/, ""), id);
    return holds === "list" ? { is: "wrapped", item: type } : type;
  }

  #named(name: string): Declared {
    const special = specials[name];
    if (special) return { holds: "one", type: { is: special }, isPointer: false };
    const { id, local, owner } = this.#split(name);
    const type = owner?.types[local];
    if (type === undefined) throw new Error(`no type was recorded for ${name}`);
    if (typeof type !== "string")
      return { holds: "one", type: { is: "message", message: this.#message(name) }, isPointer: false };
    const declared = this.#declared(type, id);
    if (declared.holds !== "list" || !owner?.wrapped.includes(local)) return declared;
    return { ...declared, holds: "one", type: { is: "wrapped", item: declared.type }, isPointer: true };
  }
}

const nothing = (): null => null;

/** A message whose JSON also shows the given fields. */
function withKind(type: ValueType, shown: Readonly<Record<string, string>> | undefined): ValueType {
  if (!shown || type.is !== "message") return type;
  const more = Object.entries(shown).map(([name, value]) => ({ name, value: () => value }));
  return { is: "message", message: { ...type.message, always: [...type.message.always, ...more] } };
}

function isStruct(type: ValueType): boolean {
  return type.is !== "string" && type.is !== "bytes" && !numbers.has(type.is) && type.is !== "wrapped";
}

const numbers: ReadonlySet<string> = new Set(["bool", "int32", "int64", "float64"]);

/** What JSON shows of a value that was not sent. */
export function zeroOf(type: ValueType): unknown {
  switch (type.is) {
    case "string":
      return "";
    case "bool":
      return false;
    case "int32":
    case "int64":
    case "float64":
    case "int-or-string":
      return 0;
    case "duration":
      return "0s";
    case "quantity":
      return "0";
    case "message":
      return Object.fromEntries(type.message.always.map(({ name, value }) => [name, value()]));
    default:
      return null;
  }
}

let messages: Messages | undefined;
let loading: Promise<void> | undefined;

/**
 * Loads what is known of messages, which most programs never need. To be awaited first
 * that is exported here is called.
 */
export function loadMessages(): Promise<void> {
  loading ??= import("@windlass/kinds/go-types").then(({ goTypes }) => {
    messages = new Messages(goTypes);
  });
  return loading;
}

function allMessages(): Messages {
  if (!messages) throw new Error("loadMessages must be awaited first");
  return messages;
}

/** The newest Kubernetes version whose messages are known in full. */
export function knownVersion(): { readonly major: number; readonly minor: number } {
  return allMessages().version;
}

/** The message of a type by its name, such as `meta.v1.Status`. */
export function messageNamed(name: string): MessageType {
  const message = allMessages().find(name);
  if (!message) throw new Error(`no type was recorded for ${name}`);
  return message;
}

/** The message of a kind; undefined for a custom kind. */
export function messageOf(kind: AnyKind): MessageType | undefined {
  if (kind.representation !== undefined) return messageNamed(`meta.v1.${kind.representation}`);
  const id = allMessages().packageOf(kind.group);
  return id === undefined ? undefined : allMessages().find(`${id}.${kind.version}.${kind.kind}`);
}
