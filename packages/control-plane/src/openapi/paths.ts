import { packageOf } from "@windlass/kinds/recorded";
import type { Json, JsonObject } from "../json.ts";
import type { GroupVersionKind, KindInfo } from "../kinds/index.ts";
import type { Components } from "./components.ts";

/** Where the bodies of a kind's requests stand in the document. */
interface Bodies {
  readonly kind: string;
  readonly list: string;
}

type Parameters = readonly (readonly [name: string, type: "string" | "boolean" | "integer"])[];

const listParameters: Parameters = [
  ["allowWatchBookmarks", "boolean"],
  ["continue", "string"],
  ["fieldSelector", "string"],
  ["labelSelector", "string"],
  ["limit", "integer"],
  ["resourceVersion", "string"],
  ["resourceVersionMatch", "string"],
  ["sendInitialEvents", "boolean"],
  ["timeoutSeconds", "integer"],
  ["watch", "boolean"],
];
const writeParameters: Parameters = [
  ["dryRun", "string"],
  ["fieldManager", "string"],
  ["fieldValidation", "string"],
];
const patchParameters: Parameters = [...writeParameters, ["force", "boolean"]];
const deleteParameters: Parameters = [
  ["dryRun", "string"],
  ["gracePeriodSeconds", "integer"],
  ["ignoreStoreReadErrorWithClusterBreakingPotential", "boolean"],
  ["orphanDependents", "boolean"],
  ["propagationPolicy", "string"],
];

/** Subresources that are streams rather than documents. */
const streams = new Set(["attach", "exec", "log", "portforward", "proxy"]);

/**
 * Every path of a kind, with the operations clients look up before they write: what they accept,
 * and for which kind.
 */
export function pathsOf(kind: KindInfo, components: Components): { [path: string]: JsonObject } {
  const bodies = bodiesOf(kind, components);
  if (bodies === undefined) return {};
  const root = kind.group === "" ? `/api/${kind.version}` : `/apis/${kind.group}/${kind.version}`;
  const collection = kind.namespaced
    ? `${root}/namespaces/{namespace}/${kind.plural}`
    : `${root}/${kind.plural}`;
  const writer = new Writer(kind, components);
  const paths: { [path: string]: JsonObject } = {};

  if (kind.verbs.some((verb) => ["list", "create", "deletecollection"].includes(verb))) {
    paths[collection] = writer.path(kind.namespaced ? ["namespace"] : [], {
      get: kind.verbs.includes("list") && writer.read("list", "list", bodies.list, kind, listParameters),
      post: kind.verbs.includes("create") && writer.write("create", "post", bodies.kind, kind),
      delete: kind.verbs.includes("deletecollection") && writer.remove("deletecollection", kind),
    });
  }
  if (kind.namespaced && kind.verbs.includes("list")) {
    paths[`${root}/${kind.plural}`] = writer.path([], {
      get: writer.read("list", "list", bodies.list, kind, listParameters, "ForAllNamespaces"),
    });
  }
  const item = `${collection}/{name}`;
  const itemParameters = kind.namespaced ? ["name", "namespace"] : ["name"];
  if (kind.verbs.includes("get")) {
    paths[item] = writer.path(itemParameters, writer.itemOperations(kind.verbs, bodies.kind, kind, ""));
  }
  for (const subresource of kind.subresources) {
    const body = bodyOf(subresource.kind, kind, bodies, components);
    if (streams.has(subresource.name) || body === undefined) continue;
    const suffix = subresource.name.charAt(0).toUpperCase() + subresource.name.slice(1);
    const operations = writer.itemOperations(subresource.verbs, body, subresource.kind, suffix);
    paths[`${item}/${subresource.name}`] = writer.path(itemParameters, operations);
  }
  return paths;
}

function bodiesOf(kind: KindInfo, components: Components): Bodies | undefined {
  if (kind.origin === "custom") return components.addCustom(kind);
  const id = packageOf(kind.group, kind.version);
  if (!components.knows(`${id}.${kind.kind}`)) return undefined;
  const reference = components.refer(`${id}.${kind.kind}`);
  const list = `${id}.${kind.listKind}`;
  return { kind: reference, list: components.knows(list) ? components.refer(list) : reference };
}

function bodyOf(
  of: GroupVersionKind,
  parent: KindInfo,
  bodies: Bodies,
  components: Components,
): string | undefined {
  if (of.group === parent.group && of.version === parent.version && of.kind === parent.kind)
    return bodies.kind;
  const type = `${packageOf(of.group, of.version)}.${of.kind}`;
  return components.knows(type) ? components.refer(type) : undefined;
}

class Writer {
  readonly #kind: KindInfo;
  readonly #components: Components;
  readonly #tag: string;
  readonly #title: string;

  constructor(kind: KindInfo, components: Components) {
    this.#kind = kind;
    this.#components = components;
    const words = kind.group === "" ? ["core"] : kind.group.replace(/\.k8s\.io$/, "").split(/[.-]/);
    const camel = words.map((word, index) => (index === 0 ? word : capital(word))).join("");
    this.#tag = `${camel}_${kind.version}`;
    this.#title = `${capital(camel)}${capital(kind.version)}`;
  }

  path(names: readonly string[], operations: { [method: string]: JsonObject | false }): JsonObject {
    const path: JsonObject = {};
    for (const [method, operation] of Object.entries(operations)) if (operation) path[method] = operation;
    path.parameters = [
      ...names.map((name) => ({
        name,
        in: "path",
        required: true,
        schema: { type: "string", uniqueItems: true },
      })),
      { name: "pretty", in: "query", schema: { type: "string", uniqueItems: true } },
    ];
    return path;
  }

  itemOperations(
    verbs: readonly string[],
    body: string,
    of: GroupVersionKind,
    suffix: string,
  ): { [method: string]: JsonObject | false } {
    return {
      get: verbs.includes("get") && this.read("read", "get", body, of, [], suffix),
      put: verbs.includes("update") && this.write("replace", "put", body, of, suffix),
      post: verbs.includes("create") && suffix !== "" && this.write("create", "post", body, of, suffix),
      delete: verbs.includes("delete") && this.remove("delete", of),
      patch: verbs.includes("patch") && this.#patch(body, of, suffix),
    };
  }

  read(
    verb: string,
    action: string,
    body: string,
    of: GroupVersionKind,
    parameters: Parameters,
    suffix = "",
  ): JsonObject {
    return {
      ...this.#operation(verb, action, of, suffix),
      ...queryParameters(parameters),
      responses: this.#responses(body, "200"),
    };
  }

  write(verb: string, action: string, body: string, of: GroupVersionKind, suffix = ""): JsonObject {
    const requestBody: JsonObject = { content: this.#requestContent(body), required: true };
    const codes = action === "post" ? ["200", "201", "202"] : ["200", "201"];
    return {
      ...this.#operation(verb, action, of, suffix),
      ...queryParameters(writeParameters),
      requestBody,
      responses: this.#responses(body, ...codes),
    };
  }

  remove(action: "delete" | "deletecollection", of: GroupVersionKind): JsonObject {
    const isCollection = action === "deletecollection";
    const options = this.#components.refer("meta.v1.DeleteOptions");
    const status = this.#components.refer("meta.v1.Status");
    return {
      ...this.#operation("delete", action, of, ""),
      ...queryParameters(isCollection ? [...deleteParameters, ...listParameters.slice(1)] : deleteParameters),
      requestBody: { content: this.#requestContent(options) },
      responses: this.#responses(status, "200", ...(isCollection ? [] : ["202"])),
    };
  }

  /**
   * By the patches that are listed clients know whether a kind supports strategic merges: custom
   * ones do not.
   */
  #patch(body: string, of: GroupVersionKind, suffix: string): JsonObject {
    const patch = { schema: { $ref: this.#components.refer("meta.v1.Patch") } };
    const content: JsonObject = {
      "application/apply-patch+yaml": patch,
      "application/json-patch+json": patch,
      "application/merge-patch+json": patch,
    };
    if (this.#kind.origin === "builtin") content["application/strategic-merge-patch+json"] = patch;
    return {
      ...this.#operation("patch", "patch", of, suffix),
      ...queryParameters(patchParameters),
      requestBody: { content, required: true },
      responses: this.#responses(body, "200", "201"),
    };
  }

  #operation(
    verb: string,
    action: string,
    { group, version, kind }: GroupVersionKind,
    suffix: string,
  ): JsonObject {
    const collection = action === "deletecollection" ? "Collection" : "";
    const scope = this.#kind.namespaced && suffix !== "ForAllNamespaces" ? "Namespaced" : "";
    return {
      tags: [this.#tag],
      operationId: `${verb}${this.#title}${collection}${scope}${this.#kind.kind}${suffix}`,
      "x-kubernetes-action": action,
      "x-kubernetes-group-version-kind": { group, version, kind },
    };
  }

  #requestContent(body: string): JsonObject {
    const schema = { schema: { $ref: body } };
    if (this.#kind.origin === "builtin") return { "*/*": schema };
    return { "application/json": schema, "application/yaml": schema };
  }

  #responses(body: string, ...codes: readonly string[]): JsonObject {
    const schema = { schema: { $ref: body } };
    const content: JsonObject = { "application/json": schema, "application/yaml": schema };
    const words: { [code: string]: string } = { "200": "OK", "201": "Created", "202": "Accepted" };
    const responses: JsonObject = {};
    for (const code of codes) responses[code] = { description: words[code] ?? "", content };
    responses["401"] = { description: "Unauthorized" };
    return responses;
  }
}

function queryParameters(parameters: Parameters): { [key: string]: Json } {
  if (parameters.length === 0) return {};
  return {
    parameters: parameters.map(([name, type]) => ({
      name,
      in: "query",
      schema: { type, uniqueItems: true },
    })),
  };
}

function capital(word: string): string {
  return word.charAt(0).toUpperCase() + word.slice(1);
}
