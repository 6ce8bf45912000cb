import { mkdir, mkdtemp, readlink, rename, rm, symlink, writeFile } from "node:fs/promises";
import { basename, dirname, join, normalize } from "node:path";
import type { KeyToPath, Volume, VolumeProjection } from "@windlass/kinds/builtin";
import { type EnvironmentSources, podField, resourceField } from "./environment.ts";

/** A file of a volume that is made from objects. */
export interface ProjectedFile {
  readonly content: Uint8Array;
  readonly mode: number;
}

/** What the files of volumes are made of. */
export type VolumeSources = Pick<
  EnvironmentSources,
  "pod" | "podAddress" | "hostAddress" | "allocatable" | "find"
> & {
  /** A token for the pod's service account. */
  readonly token: (wish: {
    readonly audience: string;
    readonly expirationSeconds: number;
  }) => Promise<string>;
};

/** A kind of volume that has no local form. */
export class UnsupportedVolume extends Error {
  override readonly name = "UnsupportedVolume";
}

const usualMode = 0o644;

/** Whether a volume's files are made from objects, and follow them when they change. */
export function isProjected({ configMap, secret, downwardAPI, projected }: Volume): boolean {
  return Boolean(configMap ?? secret ?? downwardAPI ?? projected);
}

/** The files of a volume that is made from objects, by their path in it. */
export async function filesOf(volume: Volume, sources: VolumeSources): Promise<Map<string, ProjectedFile>> {
  const files = new Map<string, ProjectedFile>();
  const { projected } = volume;
  if (!projected) {
    await addFiles(files, volume, usualMode, sources);
    return files;
  }
  const { defaultMode: mode = usualMode } = projected;
  for (const source of projected.sources ?? []) await addFiles(files, source, mode, sources);
  return files;
}

/** What files are made of: a volume itself, or one of the sources of a projected one. */
type FileSource = Pick<VolumeProjection, "serviceAccountToken"> & {
  readonly configMap?: KeySource & { readonly name?: string };
  readonly secret?: KeySource & { readonly name?: string; readonly secretName?: string };
  readonly downwardAPI?: { readonly defaultMode?: number } & NonNullable<VolumeProjection["downwardAPI"]>;
};

/** Which keys of a ConfigMap or Secret become files. */
interface KeySource {
  readonly defaultMode?: number;
  /** @default all keys, each under its own name */
  readonly items?: readonly KeyToPath[];
}

async function addFiles(
  files: Map<string, ProjectedFile>,
  source: FileSource,
  mode: number,
  sources: VolumeSources,
): Promise<void> {
  const { configMap, secret, downwardAPI, serviceAccountToken: token } = source;
  if (configMap) {
    const map = sources.find("configmaps", configMap.name ?? "");
    addKeys(files, configMap, mode, [
      ...Object.entries(map?.data ?? {}).map(([key, text]) => [key, Buffer.from(text)] as const),
      ...decodedKeys(map?.binaryData),
    ]);
  }
  if (secret) {
    const found = sources.find("secrets", secret.secretName ?? secret.name ?? "");
    addKeys(files, secret, mode, decodedKeys(found?.data));
  }
  if (downwardAPI) {
    const { defaultMode = mode, items = [] } = downwardAPI;
    for (const { path, fieldRef, resourceFieldRef, mode: own = defaultMode } of items) {
      const text = fieldRef
        ? podField(sources, fieldRef.fieldPath)
        : resourceFieldRef
          ? resourceField(sources, resourceFieldRef)
          : "";
      put(files, path, { content: Buffer.from(text), mode: own });
    }
  }
  if (token) {
    const { audience = "", expirationSeconds = 3_600 } = token;
    const wish = { audience, expirationSeconds: Number(expirationSeconds) };
    put(files, token.path, { content: Buffer.from(await sources.token(wish)), mode });
  }
}

function decodedKeys(data: Readonly<Record<string, string>> = {}): (readonly [string, Buffer])[] {
  return Object.entries(data).map(([key, text]) => [key, Buffer.from(text, "base64")]);
}

function addKeys(
  files: Map<string, ProjectedFile>,
  source: KeySource,
  inherited: number,
  keys: readonly (readonly [string, Uint8Array])[],
): void {
  const { defaultMode: mode = inherited, items = [] } = source;
  for (const [key, content] of keys) {
    if (items.length === 0) put(files, key, { content, mode });
    for (const item of items) {
      if (item.key === key) put(files, item.path, { content, mode: item.mode ?? mode });
    }
  }
}

/** Paths that lead out of the volume are not followed. */
function put(files: Map<string, ProjectedFile>, path: string, file: ProjectedFile): void {
  const clean = normalize(path);
  if (clean === "." || clean.startsWith("..") || clean.startsWith("/")) return;
  files.set(clean, file);
}

/**
 * Writes the files of a volume so that a reader sees all of the old ones or all of the new: through
 * a link that is moved, as the kubelet does.
 */
export async function writeFiles(
  directory: string,
  files: ReadonlyMap<string, ProjectedFile>,
): Promise<void> {
  await mkdir(directory, { recursive: true });
  const data = join(directory, "..data");
  const before = await readlink(data).catch(() => undefined);
  const fresh = await mkdtemp(join(directory, "..files-"));
  for (const [path, { content, mode }] of files) {
    const at = join(fresh, path);
    await mkdir(dirname(at), { recursive: true });
    await writeFile(at, content, { mode });
  }
  const link = join(directory, "..data_tmp");
  await rm(link, { force: true });
  await symlink(basename(fresh), link);
  await rename(link, data);
  for (const top of new Set([...files.keys()].map((path) => path.split("/")[0] ?? ""))) {
    await symlink(join("..data", top), join(directory, top)).catch(ignoreExisting);
  }
  if (before !== undefined) await rm(join(directory, before), { recursive: true, force: true });
}

function ignoreExisting(error: NodeJS.ErrnoException): void {
  if (error.code !== "EEXIST") throw error;
}

/**
 * Where a volume's files are on this machine.
 *
 * @param own a directory that is the pod's; `shared` one that outlives it, for claims
 * @throws UnsupportedVolume
 */
export function sourceOf(
  volume: Volume,
  places: { readonly own: string; readonly claims: string },
  podName: string,
): string {
  const { name, emptyDir, hostPath, persistentVolumeClaim: claim, ephemeral } = volume;
  if (isProjected(volume) || emptyDir) return join(places.own, "volumes", name);
  if (hostPath) return hostPath.path;
  if (claim) return join(places.claims, claim.claimName);
  if (ephemeral) return join(places.claims, `${podName}-${name}`);
  const kind = Object.keys(volume).find((key) => key !== "name") ?? "empty";
  throw new UnsupportedVolume(`volume "${name}": a node of real processes has no ${kind} volumes`);
}
