import { createHash } from "node:crypto";
import { type Json, type JsonObject, stringify } from "../json.ts";
import { type KindTable, kubernetesVersion } from "../kinds/index.ts";
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
  readonly protobuf: () => Uint8Array;
  /** With its quotes. */
  readonly etag: string;
  /** The address that names this very content, which clients may keep for ever. */
  readonly url: string;
}

interface Made {
  readonly revision: number;
  readonly hashes: Map<string, string>;
  readonly documents: Map<string, OpenApiDocument>;
  index?: string;
  swagger?: OpenApiDocument;
}

const made = new WeakMap<KindTable, Made>();

/**
 * Raised when what is written for the same kinds changes, so that no client keeps what an earlier
 * release wrote.
 */
const edition = 2;

/**
 * `/openapi/v3`: where each group version's document is. Its address carries a hash of what it is
 * made from rather than of its text, so that the index costs no document.
 */
export function openApiIndex(table: KindTable): string {
  const known = madeOf(table);
  known.index ??= JSON.stringify({
    paths: Object.fromEntries(
      groupVersions(table)
        .map(({ path }) => [path, { serverRelativeURL: urlOf(table, path) }] as const)
        .sort(([a], [b]) => (a < b ? -1 : 1)),
    ),
  });
  return known.index;
}

/**
 * `/openapi/v3/PATH`, where the path is `api/v1` or `apis/GROUP/VERSION`; undefined where nothing
 * is served there. Made on first use and kept until the table changes.
 */
export function openApiDocument(table: KindTable, path: string): OpenApiDocument | undefined {
  const known = madeOf(table);
  const ready = known.documents.get(path);
  if (ready) return ready;
  const at = groupVersions(table).find((each) => each.path === path);
  if (!at) return undefined;
  const described = describe(table, at.group, at.version);
  const document: OpenApiDocument = {
    body: stringify(described),
    protobuf: once(() => encodeDocument(documentV3, described)),
    etag: `"${hashOf(table, path)}"`,
    url: urlOf(table, path),
  };
  known.documents.set(path, document);
  return document;
}

/**
 * `/openapi/v2`: everything in one document, for clients that know no other. Made on first use and
 * kept until the table changes.
 */
export function swaggerDocument(table: KindTable): OpenApiDocument {
  const known = madeOf(table);
  if (known.swagger) return known.swagger;
  const all = groupVersions(table);
  const swagger = swaggerOf(
    documentInfo(),
    all.map(({ group, version }) => describe(table, group, version)),
  );
  const hash = createHash("sha512");
  for (const { path } of all) hash.update(hashOf(table, path));
  known.swagger = {
    body: stringify(swagger),
    protobuf: once(() => encodeDocument(documentV2, swagger)),
    etag: `"${hash.digest("hex").toUpperCase()}"`,
    url: "/openapi/v2",
  };
  return known.swagger;
}

function once<T>(make: () => T): () => T {
  let made: T | undefined;
  return () => (made ??= make());
}

function documentInfo(): JsonObject {
  const { major, minor } = kubernetesVersion();
  return { title: "Kubernetes", version: `${major}.${minor}` };
}

function describe(table: KindTable, group: string, version: string): JsonObject {
  const components = new Components();
  const paths: [string, JsonObject][] = [];
  for (const kind of table.kinds(group, version)) paths.push(...Object.entries(pathsOf(kind, components)));
  return {
    openapi: "3.0.0",
    info: documentInfo(),
    paths: Object.fromEntries(paths.sort(([a], [b]) => (a < b ? -1 : 1))),
    components: components.toJSON(),
  };
}

function groupVersions(table: KindTable): { path: string; group: string; version: string }[] {
  return table.groups().flatMap(({ name, versions }) =>
    versions.map((version) => ({
      path: name === "" ? `api/${version}` : `apis/${name}/${version}`,
      group: name,
      version,
    })),
  );
}

function urlOf(table: KindTable, path: string): string {
  return `/openapi/v3/${path}?hash=${hashOf(table, path)}`;
}

function hashOf(table: KindTable, path: string): string {
  const known = madeOf(table);
  const ready = known.hashes.get(path);
  if (ready) return ready;
  const hash = createHash("sha512").update(`${edition}/${kubernetesVersion().gitVersion}/${path}`);
  const [, group = "", version = ""] = /^(?:api|apis\/([^/]+))\/([^/]+)$/.exec(path) ?? [];
  for (const kind of table.kinds(group, version)) {
    if (kind.origin === "custom")
      hash.update(stringify([kind as unknown as Json, kind.schema() as unknown as Json]));
  }
  const digest = hash.digest("hex").toUpperCase();
  known.hashes.set(path, digest);
  return digest;
}

function madeOf(table: KindTable): Made {
  const known = made.get(table);
  if (known?.revision === table.revision) return known;
  const fresh: Made = { revision: table.revision, hashes: new Map(), documents: new Map() };
  made.set(table, fresh);
  return fresh;
}
