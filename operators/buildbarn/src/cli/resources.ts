import { readFile } from "node:fs/promises";
import { resolve } from "node:path";
import { text } from "node:stream/consumers";
import { CommandError, type Terminal, UsageError } from "@windlass/cli";
import {
  type AnyKind,
  type AnyObject,
  applyManifest,
  asManifest,
  Client,
  type Manifest,
  statusOf,
  UnknownKindError,
} from "@windlass/client";
import { isObjectOf, type ObjectOf } from "@windlass/runtime";
import { ConfigMap, CustomResourceDefinition, Namespace } from "@windlass/runtime/kinds";
import { BuildbarnCluster } from "../cluster/cluster.ts";
import { componentsOf } from "../cluster/controller.ts";
import { group } from "../fields.ts";
import { kinds } from "../kinds.ts";
import { type BuildbarnSet, type ComponentObject, isComponent, setFrom } from "../set/index.ts";
import type { Storage } from "../storage/storage.ts";

/** Resources as an API server would have them, with their defaults. */
export interface Resources {
  readonly sets: readonly BuildbarnSet[];
  readonly configMaps: readonly ObjectOf<typeof ConfigMap>[];
  /** What a server would refuse: file, object, and the field at fault. */
  readonly faults: readonly string[];
  /** As they were read. */
  readonly manifests: readonly Manifest[];
}

interface Read {
  readonly path: string;
  readonly manifest: Manifest;
}

/** How the help writes the files that every command takes. */
export const files = { usage: "FILE …", completion: "files" } as const;

/**
 * Reads manifests and has an API server look at them that is thrown away: so schemas, rules and
 * defaults are those of a cluster.
 *
 * @param paths Files of YAML or JSON; `-` is standard input. Objects of other groups are passed
 *   over, except for ConfigMaps.
 * @param present The objects that exist already: rules on changes compare with them.
 */
export async function readResources(
  paths: readonly string[],
  terminal: Terminal,
  present: readonly Manifest[] = [],
): Promise<Resources> {
  if (paths.length === 0) throw new UsageError("name a file with resources, or - for standard input");
  const read = (await Promise.all(paths.map((path) => manifestsIn(path, terminal)))).flat();
  return await accepted(read, present);
}

async function manifestsIn(path: string, { folder, stdin }: Terminal): Promise<readonly Read[]> {
  const { loadAll } = await import("js-yaml");
  try {
    const content = path === "-" ? await text(stdin) : await readFile(resolve(folder, path), "utf8");
    return loadAll(content)
      .flatMap(objectsIn)
      .filter((document) => isOurs(document))
      .map((document) => ({ path, manifest: asManifest(document, document.kind) }));
  } catch (error) {
    throw new CommandError(`${path}: ${error instanceof Error ? error.message : String(error)}`);
  }
}

/** The objects in a document: those of a list, itself, or none in an empty one. */
function objectsIn(document: unknown): readonly unknown[] {
  if (document === null || document === undefined) return [];
  const items = typeof document === "object" && "items" in document ? document.items : undefined;
  return Array.isArray(items) ? items : [document];
}

function isOurs(document: unknown): document is Pick<Manifest, "kind"> {
  if (typeof document !== "object" || document === null) return false;
  const { apiVersion, kind } = document as { readonly [Field in keyof Manifest]?: unknown };
  if (typeof apiVersion !== "string" || typeof kind !== "string") return false;
  return apiVersion.startsWith(`${group}/`) || (apiVersion === "v1" && kind === "ConfigMap");
}

async function accepted(read: readonly Read[], present: readonly Manifest[]): Promise<Resources> {
  const { ControlPlane } = await import("@windlass/control-plane");
  await using plane = await ControlPlane.start({ controllers: "none" });
  await using client = new Client({
    transport: plane.connect(),
    fieldManager: "windlass-buildbarn",
    onWarning: () => undefined,
  });
  for (const kind of kinds) await client.create(CustomResourceDefinition, kind.crd());
  const all = [...present, ...read.map(({ manifest }) => manifest)];
  const namespaces = new Set(all.map(({ metadata }) => metadata.namespace ?? "default"));
  for (const name of namespaces) await client.apply(Namespace, { metadata: { name } });
  for (const manifest of present) await applyManifest(client, placed(manifest), { force: true });
  const faults: string[] = [];
  const objects: AnyObject[] = [];
  for (const { path, manifest } of read) {
    const { kind, metadata } = manifest;
    try {
      objects.push(await applyManifest(client, placed(manifest), { force: true }));
    } catch (error) {
      if (statusOf(error) === undefined && !(error instanceof UnknownKindError)) throw error;
      faults.push(`${path}: ${kind} ${metadata.name}: ${(error as Error).message}`);
    }
  }
  const clusters = objects.filter((one) => isObjectOf(BuildbarnCluster, one));
  const made = await Promise.all(
    clusters.flatMap((cluster) =>
      componentsOf(cluster, false).map(async ({ kind, object }) => {
        const metadata = { ...object.metadata, namespace: cluster.metadata.namespace };
        return await client.apply<AnyKind>(kind, { ...object, metadata });
      }),
    ),
  );
  return {
    sets: setsOf([...objects, ...made].filter((one) => isComponent(one))),
    configMaps: objects.filter((one) => isObjectOf(ConfigMap, one)),
    faults,
    manifests: read.map(({ manifest }) => manifest),
  };
}

function placed({ metadata, ...manifest }: Manifest): Manifest {
  return { ...manifest, metadata: { ...metadata, namespace: metadata.namespace ?? "default" } };
}

/** Components by set. Storage is as if nothing of it had ever changed. */
export function setsOf(components: readonly ComponentObject[]): readonly BuildbarnSet[] {
  const bySet = Map.groupBy(components, ({ metadata, spec }) => `${metadata.namespace}/${spec.cluster}`);
  return [...bySet.values()].flatMap((members) => {
    const [first] = members;
    if (!first) return [];
    const set = setFrom(first.metadata.namespace, first.spec.cluster, (kind) =>
      members.filter((one) => isObjectOf(kind, one)),
    );
    return [{ ...set, storages: set.storages.map(settled) }];
  });
}

function settled(storage: Storage): Storage {
  if (storage.status?.resharding) return storage;
  const { replicas } = storage.spec;
  const resharding = {
    phase: "Stable",
    from: replicas,
    to: replicas,
    since: "1970-01-01T00:00:00Z",
  } as const;
  return { ...storage, status: { ...storage.status, resharding } };
}
