import type { AnyKind } from "@windlass/kinds";
import type * as GoTypes from "@windlass/kinds/go-types";
import type { GoField, Special as GoSpecial, GoType } from "@windlass/kinds/go-types";

/** How a value is sent, and what JSON makes of it. */
export type ValueType =
  | { readonly is: "string" | "bytes" | "bool" | "int32" | "int64" | "float64" }
  | { readonly is: "message"; readonly message: MessageType }
  /** A list that is a message with one repeated field. */
  | { readonly is: "wrapped"; readonly item: ValueType }
  | { readonly is: Special };

/** Types that have a JSON of their own. */
export type Special = Exclude<GoSpecial, "fields" | "raw"> | "json";

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

/** Objects within others, whose kind JSON shows and no message says. */
const kindsInside: { readonly [field: string]: { readonly kind: string; readonly apiVersion: string } } = {
  "v1.StatefulSetSpec.volumeClaimTemplates": { kind: "PersistentVolumeClaim", apiVersion: "v1" },
};

type GoStruct = GoType & { readonly at: "struct" };

/** The messages of one Kubernetes version. Each is put together when it is first asked for. */
class Messages {
  readonly #kinds: typeof GoTypes;
  readonly #known = new Map<GoStruct, MessageType>();

  constructor(kinds: typeof GoTypes) {
    this.#kinds = kinds;
  }

  get version(): { readonly major: number; readonly minor: number } {
    return this.#kinds.goTypes;
  }

  packageOf(group: string): string | undefined {
    const { groups } = this.#kinds.goTypes;
    return Object.hasOwn(groups, group) ? groups[group] : undefined;
  }

  /** @param name such as `core.v1.Pod`. */
  find(name: string): MessageType | undefined {
    const type = this.#kinds.goType(name);
    return type?.at === "struct" ? this.#message(type) : undefined;
  }

  #message(struct: GoStruct): MessageType {
    const known = this.#known.get(struct);
    if (known) return known;
    const fields: (MessageField | undefined)[] = [];
    const always: { name: string; value: () => unknown }[] = [];
    const message = { fields, always };
    // Known before its fields are: a schema holds schemas.
    this.#known.set(struct, message);
    for (const [number, field] of struct.fields.byNumber) fields[number] = this.#field(struct, field);
    for (const field of struct.fields.json) {
      const { name, holds, type, omitsNull } = this.#field(struct, field);
      const isPointer = field.type.at === "pointer";
      // A message is there even if it is empty; of what was left out it is the one thing that JSON
      // shows.
      const isShown = !omitsNull && (!field.omitEmpty || (holds === "one" && !isPointer && isStruct(type)));
      const isNull = holds !== "one" || isPointer || type.is === "wrapped";
      if (isShown) always.push({ name, value: isNull ? nothing : () => zeroOf(type) });
    }
    return message;
  }

  #field(owner: GoStruct, { json: name, type: declared, omitEmpty, omitZero }: GoField): MessageField {
    const isPointer = declared.at === "pointer";
    const type = isPointer ? declared.to : declared;
    const omits = { omitsZero: omitEmpty && !isPointer, omitsNull: omitZero };
    if (name === "")
      return { name, holds: "inlined", type: this.#value(type), omitsZero: false, omitsNull: false };
    if (type.at === "map") return { name, holds: "map", type: this.#value(type.value), ...omits };
    if (type.at !== "list" || type.wrapped) return { name, holds: "one", type: this.#value(type), ...omits };
    const shown = kindsInside[`${owner.name}.${name}`];
    return { name, holds: "list", type: withKind(this.#value(type.item), shown), ...omits };
  }

  #value(type: GoType): ValueType {
    switch (type.at) {
      case "pointer":
        return this.#value(type.to);
      case "scalar":
        return { is: type.scalar === "uint8" ? "int32" : type.scalar };
      case "special":
        return { is: type.special === "raw" || type.special === "fields" ? "json" : type.special };
      case "struct":
        return { is: "message", message: this.#message(type) };
      case "list":
        return { is: "wrapped", item: this.#value(type.item) };
      case "map":
        throw new Error(`${type.name}: a map can only be a field`);
    }
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
  loading ??= import("@windlass/kinds/go-types").then((kinds) => {
    messages = new Messages(kinds);
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
