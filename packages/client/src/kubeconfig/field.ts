import { KubeconfigError } from "../errors.ts";

/**
 * A value of a kubeconfig together with where it stands, so that every fault can be named by its
 * path. `secret` values are never repeated.
 */
export class Field {
  readonly value: unknown;
  readonly path: string;
  readonly source: string;

  constructor(value: unknown, path: string, source: string) {
    this.value = value;
    this.path = path;
    this.source = source;
  }

  get isAbsent(): boolean {
    return this.value === undefined || this.value === null;
  }

  /** @throws KubeconfigError, always. */
  fail(fault: string): never {
    const where = this.path === "" ? "" : ` ${this.path}`;
    throw new KubeconfigError("KUBECONFIG_INVALID", `kubeconfig ${this.source}:${where} ${fault}`);
  }

  /** A field of this record, present or not. */
  at(key: string): Field {
    const record = this.value as Record<string, unknown>;
    const value = Object.hasOwn(record, key) ? record[key] : undefined;
    return new Field(value, this.path === "" ? key : `${this.path}.${key}`, this.source);
  }

  optional(key: string): Field | undefined {
    const field = this.at(key);
    return field.isAbsent ? undefined : field;
  }

  record(what: string): Field {
    if (typeof this.value === "object" && this.value !== null && !Array.isArray(this.value)) return this;
    return this.fail(`must be ${what}, not ${typeName(this.value)}`);
  }

  entries(): [string, Field][] {
    const record = this.record("an object").value as Record<string, unknown>;
    return Object.keys(record).map((key) => [key, this.at(key)]);
  }

  array(): Field[] {
    if (!Array.isArray(this.value)) return this.fail(`must be a list, not ${typeName(this.value)}`);
    return this.value.map((item, index) => new Field(item, `${this.path}[${index}]`, this.source));
  }

  string(): string {
    if (this.isAbsent) return this.fail("is missing");
    if (typeof this.value !== "string")
      return this.fail(`must be a string, not ${typeName(this.value)}; put it in quotes`);
    return this.value;
  }

  /** A string that no message may repeat. */
  secret(): string {
    return this.string();
  }

  strings(): string[] {
    return this.array().map((item) => item.string());
  }

  boolean(): boolean {
    if (typeof this.value !== "boolean")
      return this.fail(`must be true or false, not ${typeName(this.value)}`);
    return this.value;
  }

  oneOf<T extends string>(choices: readonly T[]): T {
    const value = this.string();
    const choice = choices.find((it) => it === value);
    return choice ?? this.fail(`must be one of ${choices.join(", ")}, not ${JSON.stringify(value)}`);
  }

  /**
   * The text of base64, decoded nowhere but checked: a cut-off paste shows itself here and not in a
   * TLS error.
   */
  base64(): string {
    const value = this.string().replaceAll(/\s/g, "");
    if (value.length % 4 !== 0 || !/^[A-Za-z0-9+/]*={0,2}$/.test(value))
      return this.fail("is not valid base64; copy it whole, without line breaks");
    return value;
  }

  url(protocols: readonly string[], example: string): string {
    const value = this.string();
    if (value === "") return value;
    const url = URL.canParse(value) ? new URL(value) : undefined;
    if (!url || !protocols.includes(url.protocol) || url.hostname === "")
      return this.fail(`must be a URL such as ${example}, not ${JSON.stringify(redactUrl(value))}`);
    return value;
  }
}

/**
 * Whatever may be a user or a password stays out of messages: all before the last `@`, but the
 * scheme. What does not parse may lack the `//`, and a password may hold a slash or another `@`.
 */
function redactUrl(value: string): string {
  const [, scheme = "", rest = ""] = /^(https?:\/{0,2}|[a-z][a-z0-9+.-]*:\/\/)?(.*)$/is.exec(value) ?? [];
  const at = rest.lastIndexOf("@");
  return (scheme + (at < 0 ? rest : `…${rest.slice(at)}`)).slice(0, 200);
}

function typeName(value: unknown): string {
  if (value === null || value === undefined) return "nothing";
  if (Array.isArray(value)) return "a list";
  if (typeof value === "object") return "an object";
  return typeof value === "string" ? "text" : `a ${typeof value}`;
}
