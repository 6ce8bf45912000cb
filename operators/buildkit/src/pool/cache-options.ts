import { hash } from "node:crypto";
import type { Pool } from "./pool.ts";

type Backend = Pool["spec"]["cache"]["backends"][number];
type Registry = NonNullable<Backend["registry"]>;
type S3 = NonNullable<Backend["s3"]>;

/** One backend as both clients name it: attributes of what is read, and of what is written. */
interface Attributes {
  readonly import: readonly string[];
  readonly export: readonly string[];
}

/** The repository for cache where a backend names a registry alone. */
const repository = "buildkit-cache";

/**
 * What clients give buildctl as --import-cache and --export-cache, or buildx as --cache-from and
 * --cache-to.
 *
 * @param project Whose cache it is: two that write by the same name would overwrite each other's.
 *   @default everybody's
 */
export function cacheOptions({ cache }: Pool["spec"], project?: string) {
  const name = project === undefined ? undefined : cacheName(project);
  const backends = cache.backends.flatMap(({ registry, s3 }) => {
    if (registry) return [ofRegistry(registry, name)];
    return s3 ? [ofS3(s3, name)] : [];
  });
  return {
    import: backends.map((one) => csv(one.import)),
    // A build is no worse for cache that could not be written.
    export: backends.map((one) => csv([...one.export, "ignore-error=true"])),
  };
}

function ofRegistry(
  { endpoint, mode, compression, insecure }: Registry,
  name: string | undefined,
): Attributes {
  // Both clients mistake a host alone for a repository of Docker Hub.
  const path = endpoint.includes("/") ? endpoint : `${endpoint}/${repository}`;
  const hasTag = /:[^/]+$/.test(path);
  const ref = name === undefined || hasTag ? path : `${path}:${name}`;
  const where = ["type=registry", `ref=${ref}`];
  const plain = insecure ? ["registry.insecure=true"] : [];
  return {
    import: [...where, ...plain],
    export: [...where, `mode=${mode}`, `compression=${compression}`, ...plain],
  };
}

function ofS3({ bucket, region, endpoint, prefix }: S3, name: string | undefined): Attributes {
  const where = [
    "type=s3",
    `bucket=${bucket}`,
    `region=${region}`,
    ...(endpoint === undefined ? [] : [`endpoint_url=${endpoint}`, "use_path_style=true"]),
    ...(prefix === undefined ? [] : [`prefix=${prefix}`]),
    ...(name === undefined ? [] : [`name=${name}`]),
  ];
  return { import: where, export: [...where, "mode=max"] };
}

/** A project's key where only a tag fits: readable, and unlike any other's. */
function cacheName(project: string): string {
  const readable = project.replaceAll(/[^A-Za-z0-9_.-]+/g, "-").replace(/^[^A-Za-z0-9_]+/, "");
  const parts = [readable.slice(0, 80), hash("sha256", project, "hex").slice(0, 12)];
  return parts.filter((part) => part !== "").join("-");
}

/** Both clients read attributes as a line of CSV. */
function csv(attributes: readonly string[]): string {
  return attributes.map((one) => (/[",\r\n]/.test(one) ? `"${one.replaceAll('"', '""')}"` : one)).join(",");
}
