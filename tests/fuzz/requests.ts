import { dump } from "js-yaml";
import { seededRandom } from "../../packages/clock/src/index.ts";
import { golden } from "../../packages/control-plane/src/protobuf/golden.fixture.ts";
import {
  accepts,
  collections,
  contentTypes,
  fields,
  fitting,
  methods,
  names,
  parameters,
  patchTypes,
  plainPaths,
  plausible,
  scalars,
  subresources,
  words,
  yamlOddities,
} from "./vocabulary.ts";

/** A malformed request, or one that is almost valid. */
export interface FuzzRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array | undefined;
}

/** What clients send, in the proportions that get furthest. */
const usualMethods = ["GET", "POST", "POST", "PUT", "PATCH", "PATCH", "PATCH", "DELETE"];

type Form = "json" | "yaml" | "protobuf";

/** Draws requests from a seed: the same seed gives the same requests. */
export class RequestFuzzer {
  readonly #random: { next(): number };

  constructor(seed: number) {
    this.#random = seededRandom(seed);
  }

  /** A number below `limit`, for the sender of the requests. */
  below(limit: number): number {
    return this.#below(limit);
  }

  next(): FuzzRequest {
    const method = this.#pick(this.#chance(0.8) ? usualMethods : methods);
    const hasBody = method !== "GET" && method !== "HEAD" && this.#chance(0.95);
    const form = this.#form(method);
    const collection = this.#pick(collections);
    return {
      method,
      url: `${this.#path(method, collection)}${this.#query()}`,
      headers: {
        "content-type": this.#contentType(method, form),
        ...(this.#chance(0.3) ? { accept: this.#pick(accepts) } : {}),
        ...(this.#chance(0.05) ? { "impersonate-user": this.#pick(words) } : {}),
        ...(this.#chance(0.05) ? { "impersonate-group": this.#pick(words) } : {}),
        ...(this.#chance(0.02) ? { "impersonate-extra-%2f": this.#pick(words) } : {}),
        ...(this.#chance(0.05)
          ? { authorization: this.#pick(["Bearer x", "Bearer", "Basic Zm9vOmJhcg==", "x"]) }
          : {}),
        ...(this.#chance(0.3) ? { "user-agent": this.#pick(["curl/8", "\u0001/x", "", "kubectl/v1"]) } : {}),
        ...(this.#chance(0.05)
          ? { "accept-encoding": this.#pick(["gzip", "br", "gzip;q=0", ",,", "*"]) }
          : {}),
        ...(this.#chance(0.03) ? { "content-encoding": this.#pick(["gzip", "identity", "x"]) } : {}),
        ...(this.#chance(0.03) ? { "if-none-match": this.#pick(['"x"', "*", "W/x", ""]) } : {}),
        ...(this.#chance(0.02) ? { upgrade: this.#pick(["websocket", "SPDY/3.1", "h2c"]) } : {}),
        ...(this.#chance(0.02) ? { "x-http-method-override": this.#pick(methods) } : {}),
      },
      body: hasBody ? this.#body(form, collection) : undefined,
    };
  }

  #path(method: string, collection: string): string {
    if (this.#chance(0.05)) return this.#pick(plainPaths);
    let path = collection;
    // Most requests go where their method is allowed, or none would get far.
    if (this.#chance(0.8)) {
      if (method === "POST") return path;
      if (method !== "GET") return `${path}/${this.#pick(["a", "b", "c"])}`;
    }
    if (this.#chance(0.65)) path += `/${this.#pick(names)}`;
    if (this.#chance(0.2)) path += `/${this.#pick(subresources)}`;
    if (this.#chance(0.02)) path += `/${this.#pick(names)}/${this.#pick(names)}`;
    return this.#chance(0.02) ? path.slice(0, this.#below(path.length) + 1) : path;
  }

  #query(): string {
    const count = this.#pick([0, 0, 0, 1, 1, 2, 3]);
    const pairs = Array.from({ length: count }, () => {
      const value = this.#chance(0.3) ? this.#selector() : this.#pick(words);
      return `${this.#pick(parameters)}=${this.#chance(0.9) ? encodeURIComponent(value) : value.replaceAll("\u0000", "")}`;
    });
    // A watch that never ends would outlive the run.
    if (this.#chance(0.05)) pairs.push("watch=1&timeoutSeconds=1");
    return pairs.length === 0 ? "" : `?${pairs.join("&")}`;
  }

  /** A selector in bits and pieces, some of which fit. */
  #selector(): string {
    const pieces = [
      "a",
      "b.c/d",
      "=",
      "==",
      "!=",
      "!",
      " in ",
      " notin ",
      "(",
      ")",
      ",",
      "metadata.name",
      " ",
      "\\",
      ">",
    ];
    return Array.from({ length: this.#below(8) }, () => this.#pick(pieces)).join("");
  }

  #form(method: string): Form {
    if (this.#chance(0.15)) return "yaml";
    return method !== "PATCH" && this.#chance(0.2) ? "protobuf" : "json";
  }

  #contentType(method: string, form: Form): string {
    if (this.#chance(0.1)) return this.#pick(contentTypes);
    if (method === "PATCH") return this.#pick(patchTypes);
    return form === "protobuf" ? "application/vnd.kubernetes.protobuf" : `application/${form}`;
  }

  #body(form: Form, collection: string): Uint8Array {
    if (this.#chance(0.03)) return Uint8Array.from({ length: this.#below(60) }, () => this.#below(256));
    if (form === "protobuf") return this.#message();
    const value = this.#chance(0.1)
      ? this.#value(0)
      : this.#chance(0.6)
        ? this.#almost(collection)
        : this.#object();
    const text = form === "yaml" ? this.#yaml(value) : (JSON.stringify(value) ?? "");
    return Buffer.from(this.#chance(0.06) ? this.#damaged(text) : text);
  }

  #yaml(value: unknown): string {
    return this.#chance(0.1) ? this.#pick(yamlOddities) : dump(value);
  }

  /**
   * A message that a Go program made, more often than not with some of its bits turned, bytes gone
   * or bytes too many.
   */
  #message(): Uint8Array {
    const bytes = Buffer.from(this.#pick(golden)[0], "base64");
    const flips = this.#pick([0, 1, 1, 2, 8]);
    for (let flip = 0; flip < flips; flip++) {
      const at = this.#below(bytes.length);
      bytes[at] = (bytes[at] ?? 0) ^ (1 << this.#below(8));
    }
    if (this.#chance(0.1)) return bytes.subarray(0, this.#below(bytes.length));
    return this.#chance(0.05) ? Buffer.concat([bytes, bytes.subarray(0, this.#below(bytes.length))]) : bytes;
  }

  /**
   * What the collection takes, more often than not with something wrong or unusual in one place.
   */
  #almost(collection: string): unknown {
    const content = structuredClone(fitting[collection.slice(collection.lastIndexOf("/") + 1)] ?? {});
    const object: Record<string, unknown> = {
      ...content,
      metadata: {
        name: this.#pick(["a", "b", "c"]),
        ...this.#metadata(),
        ...Reflect.get(content, "metadata"),
      },
    };
    if (this.#chance(0.4)) return object;
    let place: object = object;
    for (let depth = this.#below(6); depth > 0; depth--) {
      const inner = this.#pick(Object.values(place));
      if (typeof inner !== "object" || inner === null) break;
      place = inner;
    }
    const key = this.#chance(0.7) ? this.#pick(Object.keys(place)) : this.#pick(fields);
    // As an own property, whatever its name.
    Object.defineProperty(place, key ?? "0", { value: this.#value(2), enumerable: true, configurable: true });
    return object;
  }

  /** Something that starts out as an object should, and goes wrong somewhere. */
  #object(): unknown {
    if (this.#chance(0.15)) {
      return Array.from({ length: this.#below(4) }, () => this.#record(["op", "path", "value", "from"], 0));
    }
    const named = { name: this.#pick(["a", "b", "c"]) };
    const isWild = this.#chance(0.4);
    return {
      ...(this.#chance(0.2) ? { apiVersion: this.#pick(scalars), kind: this.#pick(scalars) } : {}),
      metadata: isWild ? { ...named, ...this.#record(fields, 2) } : { ...named, ...this.#metadata() },
      ...this.#pick(plausible),
      ...(isWild ? this.#record(fields, 0) : {}),
    };
  }

  #metadata(): object {
    return this.#pick([
      {},
      { labels: { a: "b" } },
      { finalizers: ["x.io/f"] },
      { finalizers: [] },
      { annotations: { __proto__: "x", a: "b" } },
      { resourceVersion: "1" },
      { ownerReferences: [{ apiVersion: "v1", kind: "ConfigMap", name: "a", uid: "u" }] },
      { managedFields: [{}] },
    ]);
  }

  #record(keys: readonly string[], depth: number): Record<string, unknown> {
    const entries = Array.from(
      { length: this.#below(4) },
      () => [this.#pick(keys), this.#value(depth + 1)] as const,
    );
    return Object.fromEntries(entries);
  }

  #value(depth: number): unknown {
    const kind = this.#below(depth > 4 ? 5 : 9);
    if (kind === 0) return null;
    if (kind === 1) return this.#chance(0.5);
    if (kind === 2) return this.#pick([0, 1, -1, 3.5, 80, 65_536, 2 ** 31, 2 ** 53, 1e300]);
    if (kind < 5) return this.#pick(scalars);
    if (kind === 5) return Array.from({ length: this.#below(4) }, () => this.#value(depth + 1));
    return this.#record(fields, depth);
  }

  #damaged(text: string): string {
    const at = this.#below(text.length + 1);
    return this.#pick([
      text.slice(0, at),
      `${text.slice(0, at)}${this.#pick(scalars)}${text.slice(at)}`,
      `${"[".repeat(20_000)}`,
      text.replaceAll("{", "[").slice(0, at),
    ]);
  }

  #pick<T>(choices: readonly T[]): T {
    return choices[this.#below(choices.length)] as T;
  }

  #below(limit: number): number {
    return Math.floor(this.#random.next() * limit);
  }

  #chance(probability: number): boolean {
    return this.#random.next() < probability;
  }
}
