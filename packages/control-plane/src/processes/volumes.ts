import { mkdir, mkdtemp, readlink, rename, rm, symlink, writeFile } from "node:fs/promises";
import { basename, dirname, join, normalize } from "node:path";
import { listAt, mapAt, numberAt } from "../controllers/objects.ts";
import { isObject, type JsonObject, textOf } from "../json.ts";
import { field } from "../storage/store.ts";
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
export function isProjected(volume: JsonObject): boolean {
  return ["configMap", "secret", "downwardAPI", "projected"].some((kind) => isObject(volume[kind]));
}

/** The files of a volume that is made from objects, by their path in it. */
export async function filesOf(
  volume: JsonObject,
  sources: VolumeSources,
): Promise<Map<string, ProjectedFile>> {
  const files = new Map<string, ProjectedFile>();
  const { projected } = volume;
  if (!isObject(projected)) {
    await addFiles(files, volume, usualMode, sources);
    return files;
  }
  const mode = numberAt(projected, ["defaultMode"], usualMode);
  for (const source of listAt(projected, "sources")) await addFiles(files, source, mode, sources);
  return files;
}

async function addFiles(
  files: Map<string, ProjectedFile>,
  source: JsonObject,
  mode: number,
  sources: VolumeSources,
): Promise<void> {
  const { configMap, secret, downwardAPI, serviceAccountToken: token } = source;
  if (isObject(configMap)) {
    const map = sources.find("configmaps", textOf(configMap.name));
    addKeys(files, configMap, mode, [
      ...Object.entries(mapAt(map, "data")).map(([key, text]) => [key, Buffer.from(textOf(text))] as const),
      ...decodedKeys(map, "binaryData"),
    ]);
  }
  if (isObject(secret)) {
    const found = sources.find("secrets", textOf(secret.secretName ?? secret.name));
    addKeys(files, secret, mode, decodedKeys(found, "data"));
  }
  if (isObject(downwardAPI)) {
    for (const item of listAt(downwardAPI, "items")) {
      const { fieldRef, resourceFieldRef } = item;
      const text = isObject(fieldRef)
        ? podField(sources, textOf(fieldRef.fieldPath))
        : isObject(resourceFieldRef)
          ? resourceField({ ...sources, container: {} }, resourceFieldRef)
          : "";
      const own = numberAt(downwardAPI, ["defaultMode"], mode);
      put(files, textOf(item.path), { content: Buffer.from(text), mode: numberAt(item, ["mode"], own) });
    }
  }
  if (isObject(token)) {
    const wish = {
      audience: textOf(token.audience),
      expirationSeconds: numberAt(token, ["expirationSeconds"], 3_600),
    };
    put(files, textOf(token.path), { content: Buffer.from(await sources.token(wish)), mode });
  }
}

function decodedKeys(object: JsonObject | undefined, part: string): (readonly [string, Buffer])[] {
  return Object.entries(mapAt(object, part)).map(([key, text]) => [key, Buffer.from(textOf(text), "base64")]);
}

function addKeys(
  files: Map<string, ProjectedFile>,
  source: JsonObject,
  inherited: number,
  keys: readonly (readonly [string, Uint8Array])[],
): void {
  const mode = numberAt(source, ["defaultMode"], inherited);
  const items = listAt(source, "items");
  for (const [key, content] of keys) {
    if (items.length === 0) put(files, key, { content, mode });
    for (const item of items) {
      if (item.key === key) put(files, textOf(item.path), { content, mode: numberAt(item, ["mode"], mode) });
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
  volume: JsonObject,
  places: { readonly own: string; readonly claims: string },
  podName: string,
): string {
  const name = textOf(volume.name);
  if (isProjected(volume) || isObject(volume.emptyDir)) return join(places.own, "volumes", name);
  if (isObject(volume.hostPath)) return textOf(field(volume, "hostPath", "path"));
  if (isObject(volume.persistentVolumeClaim)) {
    return join(places.claims, textOf(field(volume, "persistentVolumeClaim", "claimName")));
  }
  if (isObject(volume.ephemeral)) return join(places.claims, `${podName}-${name}`);
  const kind = Object.keys(volume).find((key) => key !== "name") ?? "empty";
  throw new UnsupportedVolume(`volume "${name}": a node of real processes has no ${kind} volumes`);
}
