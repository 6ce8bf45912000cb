import { StatusError } from "../status.ts";

/** The encoding of an answer. */
export type Encoding = "json" | "yaml" | "protobuf";

/** The representation that the client asked for. */
export type Representation =
  | { readonly as: "object"; readonly encoding: Encoding }
  | { readonly as: "table"; readonly version: string; readonly encoding: "json" | "yaml" }
  | { readonly as: "metadata"; readonly of: "object" | "list"; readonly encoding: Encoding };

/** The properties of a request that limit the representations of its answer. */
export interface Negotiable {
  /** Custom kinds have no protobuf; only their metadata does. */
  readonly origin: "builtin" | "custom";
  readonly watch: boolean;
  /**
   * Whether the path is a collection, which can also be watched: error messages list the stream
   * types too.
   *
   * @default false
   */
  readonly collection?: boolean;
}

interface MediaType {
  readonly type: string;
  readonly parameters: ReadonlyMap<string, string>;
}

const encodings: ReadonlyMap<string, Encoding> = new Map([
  ["application/json", "json"],
  ["application/yaml", "yaml"],
  ["application/vnd.kubernetes.protobuf", "protobuf"],
  ["*/*", "json"],
  ["application/*", "json"],
]);
const mediaTypes = ["application/json", "application/yaml", "application/vnd.kubernetes.protobuf"];
const streamTypes = ["application/json;stream=watch", "application/vnd.kubernetes.protobuf;stream=watch"];

/** Splits an `Accept` header: what the client prefers first, then in the order it was written. */
export function parseAccept(accept: string | undefined): MediaType[] {
  const clauses = (accept === undefined || accept.trim() === "" ? "*/*" : accept).split(",");
  const parsed = clauses.flatMap((clause) => {
    const [type, ...rest] = clause.split(";");
    if (!type?.trim()) return [];
    const media = {
      type: type.trim().toLowerCase(),
      parameters: rest.length > 0 ? parametersIn(rest) : none,
    };
    return [{ media, rank: rankOf(media) }];
  });
  return parsed.sort((a, b) => a.rank - b.rank).map(({ media }) => media);
}

const none: MediaType["parameters"] = new Map();

function parametersIn(pairs: readonly string[]): MediaType["parameters"] {
  return new Map(
    pairs.flatMap((pair) => {
      const equals = pair.indexOf("=");
      return equals < 0 ? [] : [[pair.slice(0, equals).trim(), pair.slice(equals + 1).trim()] as const];
    }),
  );
}

/** Lower comes first: by how much it is wanted, then by how exactly it is named. */
function rankOf({ type, parameters }: MediaType): number {
  const quality = Number(parameters.get("q") ?? 1);
  const wildness = type === "*/*" ? 2 : type.endsWith("/*") ? 1 : 0;
  return (quality >= 0 && quality <= 1 ? 1 - quality : 0) * 10_000 + wildness;
}

/**
 * Chooses the first form the client accepts that there is.
 *
 * @throws StatusError 406
 */
export function negotiate(accept: string | undefined, of: Negotiable): Representation {
  const clauses = parseAccept(accept);
  for (const { type, parameters } of clauses) {
    const encoding = encodings.get(type);
    if (encoding === undefined || (encoding === "yaml" && of.watch)) continue;
    const chosen = representation(encoding, parameters, of);
    if (chosen) return chosen;
  }
  const offered = of.watch ? streamTypes : mediaTypes;
  // For built-in kinds the router checks first, with another message.
  if (of.origin === "builtin" && !clauses.some(({ type }) => encodings.has(type))) {
    throw new StatusError({
      code: 406,
      reason: "NotAcceptable",
      message: `406: Not Acceptable\n\nAvailable representations: ${[...mediaTypes, ...(of.watch || of.collection ? streamTypes : [])].join(", ")}`,
      details: {},
    });
  }
  throw notAcceptable(offered);
}

function notAcceptable(offered: readonly string[]): StatusError {
  return new StatusError({
    code: 406,
    reason: "NotAcceptable",
    message: `only the following media types are accepted: ${offered.join(", ")}`,
  });
}

function representation(
  encoding: Encoding,
  parameters: ReadonlyMap<string, string>,
  of: Negotiable,
): Representation | undefined {
  const as = parameters.get("as");
  if (as === undefined) {
    return encoding === "protobuf" && of.origin === "custom" ? undefined : { as: "object", encoding };
  }
  if (parameters.get("g") !== "meta.k8s.io") return undefined;
  const version = parameters.get("v");
  if (version !== "v1" && version !== "v1beta1") return undefined;
  if (as === "Table") return encoding === "protobuf" ? undefined : { as: "table", version, encoding };
  if (as === "PartialObjectMetadata") return { as: "metadata", of: "object", encoding };
  return as === "PartialObjectMetadataList" ? { as: "metadata", of: "list", encoding } : undefined;
}

/** How a document that has no other form is written. @throws StatusError 406 */
export function plainEncoding(accept: string | undefined): Encoding {
  const clauses = parseAccept(accept).filter(({ parameters }) => !parameters.has("as"));
  for (const { type } of clauses) {
    const encoding = encodings.get(type);
    if (encoding !== undefined) return encoding;
  }
  throw notAcceptable(mediaTypes);
}

/**
 * How a failure is written: as the client accepts plain objects, and as JSON if it accepts none.
 */
export function failureEncoding(accept: string | undefined): Encoding {
  for (const { type, parameters } of parseAccept(accept)) {
    const encoding = encodings.get(type);
    if (encoding !== undefined && !parameters.has("as")) return encoding;
  }
  return "json";
}
