import { createHash } from "node:crypto";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { homedir } from "node:os";
import { dirname, join } from "node:path";
import { fileErrorWords } from "../file-error.ts";

/** The programs of this command that test suites look for in KUBEBUILDER_ASSETS. */
export const programs = ["etcd", "kube-apiserver"] as const;

/**
 * Suites look for kubectl in the same folder, and some do not start without it. This is whichever
 * the PATH has after that folder is taken out of it.
 */
const kubectl = `#!/bin/sh
here=$(dirname "$0")
rest=
IFS=:
for folder in $PATH; do
  [ "$folder" -ef "$here" ] || rest="$rest\${rest:+:}$folder"
done
PATH=$rest
if ! command -v kubectl > /dev/null; then
  echo "kubectl: not found on the PATH, and it is not part of windlass-control-plane: install it" >&2
  exit 127
fi
exec kubectl "$@"
`;

/**
 * Makes a folder for KUBEBUILDER_ASSETS: each program is a script that starts this command, with
 * this Node.js, by its full path, since a test suite may have another one on its PATH. The folder
 * is named after what is in it: it stays as it is for as long as anybody uses it.
 *
 * @param command the path of this package's command
 * @param cache the folder to make it in
 * @param nodeOptions what Node.js needs to find the command, as NODE_OPTIONS has it
 * @returns the folder
 */
export function makeAssets(
  command: string,
  cache: string = cacheFolder(),
  nodeOptions: string | undefined = loaderOptions(),
): string {
  const path = realpathSync(command);
  const scripts: readonly Script[] = [
    ...programs.map((name): Script => [name, script(name, path, nodeOptions)]),
    ["kubectl", kubectl],
  ];
  const hash = createHash("sha256").update(JSON.stringify(scripts)).digest("hex").slice(0, 16);
  const folder = join(cache, `assets-${hash}`);
  if (existsSync(folder)) return folder;
  try {
    writeScripts(folder, scripts);
  } catch (error) {
    const why = error instanceof Error ? fileErrorWords(error) : String(error);
    const remedy = "set XDG_CACHE_HOME to a folder that may be written";
    throw new Error(`${folder} could not be made: ${why}; ${remedy}`, { cause: error });
  }
  return folder;
}

type Script = readonly [name: string, text: string];

/** Several processes may write the same folder: the first one wins. */
function writeScripts(folder: string, scripts: readonly Script[]): void {
  makeFolders(dirname(folder));
  const made = mkdtempSync(`${folder}.`);
  try {
    for (const [name, text] of scripts) writeFileSync(join(made, name), text, { mode: 0o755 });
    renameSync(made, folder);
  } catch (error) {
    rmSync(made, { recursive: true });
    if (!existsSync(folder)) throw error;
  }
}

/** Not with `recursive`: on a read-only file system that fails as if the folder were not found. */
function makeFolders(folder: string): void {
  if (existsSync(folder)) return;
  makeFolders(dirname(folder));
  try {
    mkdirSync(folder);
  } catch (error) {
    // Another process was quicker.
    if (!statSync(folder, { throwIfNoEntry: false })?.isDirectory()) throw error;
  }
}

function script(name: string, command: string, nodeOptions: string | undefined): string {
  const options = nodeOptions === undefined ? "" : `export NODE_OPTIONS=${quoted(nodeOptions)}\n`;
  return `#!/bin/sh\n${options}exec ${quoted(process.execPath)} ${quoted(command)} ${name} "$@"\n`;
}

/** With Yarn's Plug'n'Play this package is in an archive, which only Yarn's loader can read. */
function loaderOptions(): string | undefined {
  return process.versions.pnp === undefined ? undefined : process.env.NODE_OPTIONS;
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}

function cacheFolder(): string {
  return join(process.env.XDG_CACHE_HOME ?? join(homedir(), ".cache"), "windlass");
}
