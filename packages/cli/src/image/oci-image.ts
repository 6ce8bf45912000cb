import { createHash } from "node:crypto";
import { promisify } from "node:util";
import { gzip } from "node:zlib";
import { foldersOf, type TarEntry, tarArchive } from "./tar.ts";

const compress = promisify(gzip);

/** How the container of an image is run. */
export interface ImageConfig {
  readonly Env: readonly string[];
  readonly User: string;
  readonly WorkingDir: string;
  readonly Entrypoint: readonly string[];
  readonly Cmd: readonly string[];
  readonly Labels: Readonly<Record<string, string>>;
}

/** An image as files: an OCI layout, which `docker load` understands as well. */
export interface OciImage {
  /** The digest of its manifest. */
  readonly digest: string;
  /** The bytes of its layers as they are unpacked. */
  readonly unpackedBytes: number;
  /** The bytes of its layers as they are pulled. */
  readonly packedBytes: number;
  /** By path. */
  readonly files: ReadonlyMap<string, Buffer>;
}

interface Descriptor {
  readonly mediaType: string;
  readonly digest: string;
  readonly size: number;
}

/**
 * An image of layers. The same layers and configuration give the same digest, with the same version
 * of Node: its zlib compresses them.
 *
 * @param name with its tag: `registry.acme.io/shop-operator:0.1.0`
 */
export async function ociImage(
  name: string,
  architecture: string,
  layers: readonly (readonly TarEntry[])[],
  config: ImageConfig,
): Promise<OciImage> {
  const blobs = new Map<string, Buffer>();
  const add = (mediaType: string, content: Buffer): Descriptor => {
    const digest = sha256(content);
    blobs.set(`blobs/sha256/${digest}`, content);
    return { mediaType, digest: `sha256:${digest}`, size: content.length };
  };
  const archives = layers.map(tarArchive);
  const packed = await Promise.all(archives.map((archive) => compress(archive, { level: 6 })));
  const layerBlobs = packed.map((one) => add("application/vnd.oci.image.layer.v1.tar+gzip", one));
  const configBlob = add(
    "application/vnd.oci.image.config.v1+json",
    json({
      created: "1970-01-01T00:00:00Z",
      architecture,
      os: "linux",
      config,
      rootfs: { type: "layers", diff_ids: archives.map((archive) => `sha256:${sha256(archive)}`) },
    }),
  );
  const mediaType = "application/vnd.oci.image.manifest.v1+json";
  const manifest = add(
    mediaType,
    json({ schemaVersion: 2, mediaType, config: configBlob, layers: layerBlobs }),
  );
  const index = {
    schemaVersion: 2,
    mediaType: "application/vnd.oci.image.index.v1+json",
    manifests: [
      {
        ...manifest,
        platform: { architecture, os: "linux" },
        annotations: {
          "io.containerd.image.name": fullName(name),
          "org.opencontainers.image.ref.name": name.slice(name.lastIndexOf(":") + 1),
        },
      },
    ],
  };
  const forDocker = [{ Config: pathOf(configBlob), RepoTags: [name], Layers: layerBlobs.map(pathOf) }];
  return {
    digest: manifest.digest,
    unpackedBytes: sum(archives),
    packedBytes: sum(packed),
    files: new Map([
      ["oci-layout", json({ imageLayoutVersion: "1.0.0" })],
      ["index.json", json(index)],
      ["manifest.json", json(forDocker)],
      ...[...blobs].toSorted(([a], [b]) => (a < b ? -1 : 1)),
    ]),
  };
}

/**
 * The files of an image in one: for `docker load`, `podman load`, `ctr images import` and
 * `skopeo copy oci-archive:`.
 */
export function imageArchive({ files }: OciImage): Buffer {
  const entries = [...files].map(([path, content]): TarEntry => ({ type: "file", path, content }));
  return tarArchive([...foldersOf([...files.keys()]), ...entries]);
}

/** The name as a registry's clients complete it: `shop:1` is `docker.io/library/shop:1`. */
export function fullName(name: string): string {
  const slash = name.indexOf("/");
  if (slash < 0) return `docker.io/library/${name}`;
  const host = name.slice(0, slash);
  return host.includes(".") || host.includes(":") || host === "localhost" ? name : `docker.io/${name}`;
}

function pathOf({ digest }: Descriptor): string {
  return `blobs/${digest.replace(":", "/")}`;
}

function json(value: unknown): Buffer {
  return Buffer.from(JSON.stringify(value));
}

function sha256(content: Buffer): string {
  return createHash("sha256").update(content).digest("hex");
}

function sum(parts: readonly Buffer[]): number {
  return parts.reduce((total, { length }) => total + length, 0);
}
