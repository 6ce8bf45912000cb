import { type FSWatcher, readdirSync, statSync, watch } from "node:fs";
import { dirname, join } from "node:path";

/** A folder that is watched. */
interface Watched {
  readonly watcher: FSWatcher;
  readonly inode: bigint;
}

/** Which files are watched, and when a change counts. */
export interface WatchOptions {
  /** How long nothing may happen until what happened is one change. */
  readonly settleMs: number;
  /** Aborted to end it. */
  readonly signal: AbortSignal;
  readonly onChange: () => void;
  /** It cannot be watched any longer. */
  readonly onError: (error: unknown) => void;
}

/**
 * Reports changes of the files in a folder and in the folders below it. The folder need not be
 * there yet. Folders whose name begins with a dot, and `node_modules`, are left out.
 *
 * Folders are watched, and not files: editors that save by renaming a new file over the old one
 * leave the watch of a file with the old one. Node's recursive watch is one of files on Linux, and
 * misses the second save.
 */
export function watchTree(root: string, options: WatchOptions): void {
  const { settleMs, signal, onChange, onError } = options;
  const watched = new Map<string, Watched>();
  let timer: NodeJS.Timeout | undefined;
  const unwatch = (folder: string) => {
    watched.get(folder)?.watcher.close();
    watched.delete(folder);
  };
  /** Watches the folders that are there now. One in the place of another is another one. */
  const look = () => {
    const present = new Map(foldersToWatch(root));
    for (const [folder, { inode }] of watched) if (present.get(folder) !== inode) unwatch(folder);
    for (const [folder, inode] of present) {
      if (watched.has(folder)) continue;
      const isAbove = folder !== root && isWithin(root, folder);
      const watcher = watch(folder, (_event, name) => {
        // Of a folder above, only the way to the root counts.
        if (isAbove && name !== null && !isWithin(root, join(folder, name))) return;
        clearTimeout(timer);
        timer = setTimeout(settled, settleMs);
      });
      watcher.on("error", onError);
      watched.set(folder, { watcher, inode });
    }
  };
  const lookSafely = () => {
    try {
      look();
    } catch (error) {
      // What went meanwhile is reported once more, by the folder above it.
      if (!isMissing(error)) onError(error);
    }
  };
  // Files may have been written to a new folder before it was watched: the callback reads them.
  const settled = () => {
    lookSafely();
    onChange();
  };
  const end = () => {
    clearTimeout(timer);
    for (const folder of watched.keys()) unwatch(folder);
  };
  if (signal.aborted) return;
  signal.addEventListener("abort", end, { once: true });
  lookSafely();
}

type Folder = readonly [path: string, inode: bigint];

/** The nearest folder above that is there, the folder, and the folders below it. */
function* foldersToWatch(root: string): Generator<Folder> {
  let above = dirname(root);
  let inode = inodeOf(above);
  while (inode === undefined && dirname(above) !== above) {
    above = dirname(above);
    inode = inodeOf(above);
  }
  if (inode !== undefined) yield [above, inode];
  yield* foldersIn(root);
}

function* foldersIn(folder: string): Generator<Folder> {
  const inode = inodeOf(folder);
  if (inode === undefined) return;
  yield [folder, inode];
  for (const entry of readdirSync(folder, { withFileTypes: true }))
    if (entry.isDirectory() && entry.name !== "node_modules" && !entry.name.startsWith("."))
      yield* foldersIn(join(folder, entry.name));
}

function inodeOf(folder: string): bigint | undefined {
  return statSync(folder, { bigint: true, throwIfNoEntry: false })?.ino;
}

/** Whether a path is a folder, or below it. */
function isWithin(path: string, folder: string): boolean {
  for (let at = path; ; at = dirname(at)) {
    if (at === folder) return true;
    if (at === dirname(at)) return false;
  }
}

function isMissing(error: unknown): boolean {
  return error instanceof Error && "code" in error && error.code === "ENOENT";
}
