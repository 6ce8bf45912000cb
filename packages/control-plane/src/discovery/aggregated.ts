import { createHash } from "node:crypto";
import type { JsonObject } from "../json.ts";
import type { GroupVersionKind, KindInfo, KindTable } from "../kinds/index.ts";
import { nonEmpty } from "./legacy.ts";

/**
 * What an aggregated document is sent as. Clients that see another type take the answer for a plain
 * one.
 */
export const aggregatedMediaType = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList";

/** The two paths that have an aggregated document. */
export type DiscoveryRoot = "/api" | "/apis";

/**
 * A document ready to send. `etag` includes its quotes; answer 304 to a request that already has
 * it.
 */
export interface AggregatedDiscovery {
  readonly body: string;
  readonly etag: string;
}

/**
 * Everything that one server serves under a root, in one document. Made again only when its kinds
 * have changed.
 */
export class AggregatedDiscoveryDocuments {
  readonly #table: KindTable;
  readonly #documents = new Map<DiscoveryRoot, AggregatedDiscovery & { readonly revision: number }>();

  constructor(table: KindTable) {
    this.#table = table;
  }

  document(root: DiscoveryRoot): AggregatedDiscovery {
    const { revision } = this.#table;
    const ready = this.#documents.get(root);
    if (ready?.revision === revision) return ready;
    const body = JSON.stringify(groupDiscoveryList(this.#table, root));
    const etag = `"${createHash("sha512").update(body).digest("hex").toUpperCase()}"`;
    const document = { body, etag, revision };
    this.#documents.set(root, document);
    return document;
  }
}

function groupDiscoveryList(table: KindTable, root: DiscoveryRoot): JsonObject {
  const groups = table.groups().filter((group) => (group.name === "") === (root === "/api"));
  return {
    kind: "APIGroupDiscoveryList",
    apiVersion: "apidiscovery.k8s.io/v2",
    metadata: {},
    items: groups.map((group) => ({
      metadata: group.name === "" ? {} : { name: group.name },
      versions: group.versions.map((version) => ({
        version,
        resources: table.kinds(group.name, version).map(describe),
        freshness: "Current",
      })),
    })),
  };
}

function describe(kind: KindInfo): JsonObject {
  const described: JsonObject = {
    resource: kind.plural,
    responseKind: responseKind(kind, kind),
    scope: kind.namespaced ? "Namespaced" : "Cluster",
    singularResource: kind.singular,
    verbs: [...(kind.listedVerbs ?? kind.verbs)],
    ...nonEmpty("shortNames", kind.shortNames),
    ...nonEmpty("categories", kind.categories),
  };
  if (kind.subresources.length > 0) {
    described.subresources = kind.subresources.map((subresource) => ({
      subresource: subresource.name,
      responseKind: responseKind(kind, subresource.kind),
      verbs: [...subresource.verbs],
    }));
  }
  return described;
}

/** The real server leaves group and version empty where a built-in kind's are those of the list. */
function responseKind(kind: KindInfo, of: GroupVersionKind): JsonObject {
  const implied = kind.origin === "builtin" && of.group === kind.group && of.version === kind.version;
  return { group: implied ? "" : of.group, version: implied ? "" : of.version, kind: of.kind };
}

/**
 * Which of the two forms of discovery an `Accept` header asks for first; undefined where it wants
 * neither, which is answered 406.
 */
export function discoveryForm(accept: string | undefined): "aggregated" | "plain" | undefined {
  for (const clause of (accept || "*/*").split(",")) {
    const [type = "", ...parameters] = clause.split(";").map((part) => part.trim());
    const options = new Map(parameters.map((part) => part.split("=", 2) as [string, string]));
    const isJson = ["application/json", "application/*", "*/*"].includes(type);
    if (!isJson) continue;
    if (!options.has("as")) return "plain";
    const matches =
      options.get("g") === "apidiscovery.k8s.io" &&
      options.get("v") === "v2" &&
      options.get("as") === "APIGroupDiscoveryList";
    if (matches && type === "application/json") return "aggregated";
  }
  return undefined;
}
