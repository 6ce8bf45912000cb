import { readFile } from "node:fs/promises";
import { homedir } from "node:os";
import { delimiter, join, resolve } from "node:path";
import { KubeconfigError } from "../errors.ts";
import type { Cluster, Context, Kubeconfig, User } from "./kubeconfig.ts";
import { parseKubeconfig } from "./parse.ts";

/** Where to look for a kubeconfig. */
export interface KubeconfigLocation {
  /**
   * A path, or several joined as in KUBECONFIG. All of an explicit path must exist.
   *
   * @default the environment's
   */
  readonly path?: string;
  /** @default the process' */
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** The folder that holds `.kube`. @default the user's home */
  readonly home?: string;
}

/**
 * Reads the kubeconfig that kubectl would: the given path, else the files that KUBECONFIG lists
 * (those that do not exist are skipped), else `~/.kube/config`. Undefined if there is none.
 *
 * @throws KubeconfigError for files that cannot be read or used.
 */
export async function loadKubeconfig(location: KubeconfigLocation = {}): Promise<Kubeconfig | undefined> {
  const env = location.env ?? process.env;
  if (location.path !== undefined) {
    const files = await Promise.all(splitPath(location.path).map((path) => readConfig(path)));
    const [missing] = splitPath(location.path).filter((_, index) => files[index] === undefined);
    if (missing !== undefined || files.length === 0)
      throw new KubeconfigError(
        "KUBECONFIG_NOT_FOUND",
        `kubeconfig ${missing ?? location.path}: there is no such file`,
      );
    return mergeKubeconfigs(files.filter((file) => file !== undefined));
  }
  const listed = splitPath(env.KUBECONFIG ?? "");
  const paths =
    listed.length > 0 ? listed : [join(location.home ?? env.HOME ?? homedir(), ".kube", "config")];
  const files = (await Promise.all(paths.map((path) => readConfig(path)))).filter(
    (file) => file !== undefined,
  );
  return files.length === 0 ? undefined : mergeKubeconfigs(files);
}

/**
 * Joins several as kubectl does: for each name, and for the current context, the first file that
 * has it wins.
 */
function mergeKubeconfigs(files: readonly Kubeconfig[]): Kubeconfig {
  const [only] = files;
  if (files.length === 1 && only) return only;
  const clusters = new Map<string, Cluster>();
  const users = new Map<string, User>();
  const contexts = new Map<string, Context>();
  for (const file of files) {
    addMissing(clusters, file.clusters);
    addMissing(users, file.users);
    addMissing(contexts, file.contexts);
  }
  const currentContext = files.find((file) => file.currentContext)?.currentContext;
  return {
    source: files.map((file) => file.source).join(delimiter),
    ...(currentContext ? { currentContext } : {}),
    clusters,
    users,
    contexts,
  };
}

function addMissing<T>(into: Map<string, T>, from: ReadonlyMap<string, T>): void {
  for (const [name, value] of from) if (!into.has(name)) into.set(name, value);
}

function splitPath(paths: string): string[] {
  return paths.split(delimiter).filter((path) => path !== "");
}

/** Undefined if there is no such file. */
async function readConfig(path: string): Promise<Kubeconfig | undefined> {
  const source = resolve(path);
  let text: string;
  try {
    text = await readFile(source, "utf8");
  } catch (error) {
    const code = error instanceof Error && "code" in error ? error.code : undefined;
    if (code === "ENOENT" || code === "ENOTDIR") return undefined;
    const fault = code === "EISDIR" ? "is a directory, not a file" : `cannot be read (${String(code)})`;
    throw new KubeconfigError("KUBECONFIG_INVALID", `kubeconfig ${source}: ${fault}`);
  }
  return parseKubeconfig(text, source);
}
