import { createHash } from "node:crypto";
import { type Json, type JsonObject, stringify } from "../json.ts";
import { stringifyInSteps } from "../json-text.ts";
import { type KindInfo, type KindTable, kubernetesVersion } from "../kinds/index.ts";
import { finish, nextTurn, type Steps, TurnBudget } from "../steps.ts";
import { Components } from "./components.ts";
import { encodeDocument } from "./gnostic.ts";
import { documentV2 } from "./gnostic-v2.ts";
import { documentV3 } from "./gnostic-v3.ts";
import { pathsOf } from "./paths.ts";
import { swaggerOf } from "./swagger.ts";

/** A document ready to send. */
export interface OpenApiDocument {
  readonly body: string;
  /** The same document as protobuf, made when it is first asked for. */
  readonly protobuf: () => Promise<Uint8Array>;
  /** With its quotes. */
  readonly etag: string;
  /** The address that names this very content, which clients may keep indefinitely. */
  readonly url: string;
}

/**
 * Raised when what is written for the same kinds changes, so that no client keeps what an earlier
 * release wrote.
 */
const edition = 2;

/**
 * The documents of one server's kinds. Each is made on first use and kept until the kinds change.
 */
export class OpenApiDocuments {
  readonly #table: KindTable;
  #revision: number;
  readonly #hashes = new Map<string, string>();
  readonly #documents = new Map<string, Promise<OpenApiDocument>>();
  #index: string | undefined;
  #swagger: Promise<OpenApiDocument> | undefined;

  constructor(table: KindTable) {
    this.#table = table;
    this.#revision = table.revision;
  }

  /**
   * `/openapi/v3`: where each group version's document is. Its address carries a hash of what it is
   * made from rather than of its text, so that the index costs no document.
   */
  index(): string {
    this.#refresh();
    this.#index ??= JSON.stringify({
      paths: Object.fromEntries(
        groupVersions(this.#table)
          .map(({ path }) => [path, { serverRelativeURL: this.#urlOf(path) }] as const)
          .sort(([a], [b]) => (a < b ? -1 : 1)),
      ),
    });
    return this.#index;
  }

  /**
   * `/openapi/v3/PATH`, where the path is `api/v1` or `apis/GROUP/VERSION`; undefined where nothing
   * is served there.
   */
  document(path: string): Promise<OpenApiDocument> | undefined {
    this.#refresh();
    const ready = this.#documents.get(path);
    if (ready) return ready;
    const at = groupVersions(this.#table).find((each) => each.path === path);
    if (!at) return undefined;
    const document = this.#documentOf(path, at);
    this.#documents.set(path, document);
    return document;
  }

  async #documentOf(path: string, { group, version }: GroupVersion): Promise<OpenApiDocument> {
    // Before anything is waited for: the kinds may change meanwhile.
    const [etag, url] = [`"${this.#hashOf(path)}"`, this.#urlOf(path)];
    const described = await finish(describe(this.#table.kinds(group, version)));
    const body = await finish(stringifyInSteps(described));
    return { body, protobuf: once(async () => finish(encodeDocument(documentV3, described))), etag, url };
  }

  /** `/openapi/v2`: everything in one document, for clients that know no other. */
  swagger(): Promise<OpenApiDocument> {
    this.#refresh();
    this.#swagger ??= this.#makeSwagger();
    return this.#swagger;
  }

  async #makeSwagger(): Promise<OpenApiDocument> {
    const all = groupVersions(this.#table);
    const hash = createHash("sha512");
    for (const { path } of all) hash.update(this.#hashOf(path));
    const etag = `"${hash.digest("hex").toUpperCase()}"`;
    const kinds = all.map(({ group, version }) => this.#table.kinds(group, version));
    const documents: JsonObject[] = [];
    for (const each of kinds) documents.push(await finish(describe(each)));
    const swagger = await finish(swaggerOf(documentInfo(), documents));
    const body = await finish(stringifyInSteps(swagger));
    const protobuf = once(async () => finish(encodeDocument(documentV2, swagger)));
    return { body, protobuf, etag, url: "/openapi/v2" };
  }

  /** Drops what was made for an earlier revision of the kinds. */
  #refresh(): void {
    const { revision } = this.#table;
    if (this.#revision === revision) return;
    this.#revision = revision;
    this.#hashes.clear();
    this.#documents.clear();
    this.#index = undefined;
    this.#swagger = undefined;
  }

  #urlOf(path: string): string {
    return `/openapi/v3/${path}?hash=${this.#hashOf(path)}`;
  }

  #hashOf(path: string): string {
    let hash = this.#hashes.get(path);
    if (hash === undefined) {
      hash = contentHash(this.#table, path);
      this.#hashes.set(path, hash);
    }
    return hash;
  }
}

function once<T>(make: () => T): () => T {
  let made: T | undefined;
  return () => (made ??= make());
}

function documentInfo(): JsonObject {
  const { major, minor } = kubernetesVersion();
  return { title: "Kubernetes", version: `${major}.${minor}` };
}

/** How many kinds are described between two turns of the event loop. */
const kindsPerTurn = 50;

function* describe(kinds: readonly KindInfo[]): Steps<JsonObject> {
  const components = new Components();
  const paths: [string, JsonObject][] = [];
  const budget = new TurnBudget(kindsPerTurn);
  for (const kind of kinds) {
    if (budget.spend(1)) yield nextTurn;
    paths.push(...Object.entries(pathsOf(kind, components)));
  }
  return {
    openapi: "3.0.0",
    info: documentInfo(),
    paths: Object.fromEntries(paths.sort(([a], [b]) => (a < b ? -1 : 1))),
    components: components.toJSON(),
  };
}

/** A group version, and where its document is. */
interface GroupVersion {
  readonly path: string;
  readonly group: string;
  readonly version: string;
}

function groupVersions(table: KindTable): GroupVersion[] {
  return table.groups().flatMap(({ name, versions }) =>
    versions.map((version) => ({
      path: name === "" ? `api/${version}` : `apis/${name}/${version}`,
      group: name,
      version,
    })),
  );
}

function contentHash(table: KindTable, path: string): string {
  const hash = createHash("sha512").update(`${edition}/${kubernetesVersion().gitVersion}/${path}`);
  const [, group = "", version = ""] = /^(?:api|apis\/([^/]+))\/([^/]+)$/.exec(path) ?? [];
  for (const kind of table.kinds(group, version)) {
    if (kind.origin === "custom")
      hash.update(stringify([kind as unknown as Json, kind.schema() as unknown as Json]));
  }
  return hash.digest("hex").toUpperCase();
}
