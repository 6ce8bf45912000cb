import { execFile } from "node:child_process";
import { mkdir, mkdtemp, readdir, readlink, realpath, stat, symlink, writeFile } from "node:fs/promises";
import { dirname, join, relative } from "node:path";

/** A file or directory of this machine that a container sees at a path of its own. */
export interface Mount {
  readonly source: string;
  readonly path: string;
  readonly readOnly: boolean;
}

/** How a process comes to see the file system with its mounts in place. */
export type NamespaceTool =
  | { readonly at: "available"; readonly command: readonly string[] }
  | { readonly at: "missing"; readonly why: string };

/**
 * Finds out how private mounts can be made here: by root, or by anybody where user namespaces
 * are allowed.
 *
 * @param scratch a directory to try it with
 */
export async function findNamespaceTool(scratch: string): Promise<NamespaceTool> {
  if (process.platform !== "linux")
    return { at: "missing", why: `${process.platform} has no mount namespaces` };
  let why = "";
  const asRoot = ["unshare", "--mount"];
  const asUser = ["unshare", "--user", "--map-root-user", "--mount"];
  for (const command of process.getuid?.() === 0 ? [asRoot, asUser] : [asUser]) {
    const [program = "", ...args] = command;
    const failure = await run(program, [...args, "mount", "--bind", scratch, scratch]);
    if (failure === undefined) return { at: "available", command };
    why = failure;
  }
  return { at: "missing", why };
}

function run(program: string, args: readonly string[]): Promise<string | undefined> {
  const env = { PATH: withSystemPrograms(process.env.PATH ?? "") };
  return new Promise((resolve) => {
    execFile(program, [...args], { env, timeout: 10_000 }, (error, _out, text) => {
      resolve(error ? text.trim() || error.message : undefined);
    });
  });
}

function withSystemPrograms(path: string): string {
  return [path, "/usr/sbin", "/usr/bin", "/sbin", "/bin"].filter((part) => part !== "").join(":");
}

/** One step of putting a view together, in the order they are done. */
interface Step {
  readonly how: "bind" | "rbind" | "bind-read-only";
  readonly from: string;
  /** Within the new root. */
  readonly to: string;
}

/** A file system as a container sees it: this machine's, with the mounts in place. */
export interface FileView {
  readonly root: string;
  readonly steps: readonly Step[];
}

/**
 * Prepares a view. Nothing of this machine is changed: where a mount's path does not exist, the
 * directory that would hold it is replaced, for the container alone, by one of links to what is
 * really there.
 *
 * @param directory an empty one, for the parts of the view
 */
export async function prepareView(directory: string, mounts: readonly Mount[]): Promise<FileView> {
  const root = join(directory, "root");
  await mkdir(root, { recursive: true });
  const stand = new Map<string, string>();
  const steps: Step[] = [];
  const placed: { readonly path: string; readonly source: string }[] = [];
  const binds: Step[] = [];
  const sorted = mounts.toSorted((a, b) => a.path.length - b.path.length);
  for (const { source, path, readOnly } of sorted) {
    const isFile = !(await stat(source)).isDirectory();
    const within = placed.findLast((other) => path.startsWith(`${other.path}/`));
    let to = path;
    if (within) {
      // A place inside another volume is made there, as container runtimes do.
      await makePlace(join(within.source, relative(within.path, path)), isFile);
    } else {
      const { existing, missing } = await resolvePath(path);
      to = missing === "" ? existing : join(existing, missing);
      if (missing !== "") {
        if (!stand.has(existing)) stand.set(existing, await standIn(directory, root, existing, steps));
        await makePlace(join(stand.get(existing) ?? "", missing), isFile);
      }
    }
    placed.push({ path, source });
    binds.push({ how: readOnly ? "bind-read-only" : "bind", from: source, to });
  }
  const whole: Step[] = stand.has("/") ? [] : [{ how: "rbind", from: "/", to: "/" }];
  return { root, steps: [...whole, ...steps, ...binds] };
}

/** The longest part of a path that exists, with links followed, and the rest. */
async function resolvePath(path: string): Promise<{ readonly existing: string; readonly missing: string }> {
  for (let part = path; ; part = dirname(part)) {
    const existing = await realpath(part).catch(() => undefined);
    if (existing !== undefined) return { existing, missing: relative(part, path) };
  }
}

async function makePlace(path: string, isFile: boolean): Promise<void> {
  if (!isFile) {
    await mkdir(path, { recursive: true });
    return;
  }
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, "", { flag: "a" });
}

/**
 * So many directories are mounted again, and look just as before. Where there are more, they are
 * linked to: that is quicker.
 */
const mostMounts = 16;

/** A directory to be seen in place of another, in which more can be made. @returns where it is */
async function standIn(directory: string, root: string, original: string, steps: Step[]): Promise<string> {
  const isRoot = original === "/";
  const made = isRoot ? root : await mkdtemp(join(directory, "in-place-of-"));
  const host = ".host";
  await mkdir(join(made, host), { recursive: true });
  const binds: Step[] = [];
  const entries = await readdir(original, { withFileTypes: true });
  const isSmall = isRoot || entries.filter((entry) => entry.isDirectory()).length <= mostMounts;
  for (const entry of entries) {
    const at = join(original, entry.name);
    if (entry.isSymbolicLink()) await symlink(await readlink(at), join(made, entry.name));
    else if (isSmall && entry.isDirectory()) {
      await mkdir(join(made, entry.name));
      binds.push({ how: "rbind", from: at, to: at });
    } else await symlink(join(host, entry.name), join(made, entry.name));
  }
  if (!isRoot) steps.push({ how: "bind", from: made, to: original });
  steps.push({ how: "rbind", from: original, to: join(original, host) }, ...binds);
  return made;
}

const script = `set -e
PATH="$PATH:/usr/sbin:/usr/bin:/sbin:/bin"
root=$1 directory=$2
shift 2
while [ "$1" != -- ]; do
  case $1 in
    rbind) mount --rbind "$2" "$root$3" ;;
    bind) mount --bind "$2" "$root$3" ;;
    bind-read-only) mount --bind -o ro "$2" "$root$3" 2>/dev/null || mount --bind "$2" "$root$3" ;;
  esac
  shift 3
done
shift
exec chroot "$root" /bin/sh -c 'cd "$0" && exec "$@"' "$directory" "$@"
`;

/**
 * The command that runs a command within a view. It keeps its process: nothing is left between the
 * two.
 */
export function inView(
  tool: readonly string[],
  { root, steps }: FileView,
  directory: string,
  command: readonly string[],
): string[] {
  const parts = steps.flatMap(({ how, from, to }) => [how, from, to]);
  return [...tool, "/bin/sh", "-c", script, "container", root, directory, ...parts, "--", ...command];
}
