/** Something in an archive. */
export type TarEntry =
  | { readonly type: "folder"; readonly path: string; readonly mode?: number }
  | { readonly type: "file"; readonly path: string; readonly content: Buffer; readonly mode?: number }
  | { readonly type: "link"; readonly path: string; readonly target: string; readonly mode?: undefined };

const block = 512;
const types = { file: "0", link: "2", folder: "5" } as const;
const modes = { file: 0o644, link: 0o777, folder: 0o755 } as const;

/**
 * A tar archive. The same entries in the same order give the same bytes: everything belongs to
 * root, and is of 1970.
 *
 * @throws RangeError for a path that is too long for the format
 */
export function tarArchive(entries: readonly TarEntry[]): Buffer {
  const parts = entries.flatMap((entry) => {
    const content = entry.type === "file" ? entry.content : Buffer.alloc(0);
    return [header(entry, content.length), content, Buffer.alloc(-content.length & (block - 1))];
  });
  return Buffer.concat([...parts, Buffer.alloc(2 * block)]);
}

/** The folders that paths are in, from the outermost. */
export function foldersOf(paths: readonly string[]): readonly TarEntry[] {
  const folders = new Set<string>();
  for (const path of paths) {
    const names = path.split("/").slice(0, -1);
    for (let depth = 1; depth <= names.length; depth++) folders.add(names.slice(0, depth).join("/"));
  }
  return [...folders].toSorted().map((path) => ({ type: "folder", path }));
}

function header(entry: TarEntry, size: number): Buffer {
  const { type, path, mode = modes[type] } = entry;
  const { name, prefix } = splitPath(type === "folder" ? `${path}/` : path);
  const bytes = Buffer.alloc(block);
  const octal = (value: number, at: number, length: number) =>
    bytes.write(`${value.toString(8).padStart(length - 1, "0")}\0`, at, "latin1");
  bytes.write(name, 0);
  octal(mode, 100, 8);
  octal(0, 108, 8); // owner
  octal(0, 116, 8); // group
  octal(size, 124, 12);
  octal(0, 136, 12); // time
  bytes.write(" ".repeat(8), 148); // checksum, as if it were blank
  bytes.write(types[type], 156);
  if (entry.type === "link") {
    if (Buffer.byteLength(entry.target) > 100)
      throw new RangeError(`${path} leads to too long a path for an archive: ${entry.target}`);
    bytes.write(entry.target, 157);
  }
  bytes.write("ustar\x0000", 257, "latin1");
  bytes.write(prefix, 345);
  const sum = bytes.reduce((total, byte) => total + byte, 0);
  bytes.write(`${sum.toString(8).padStart(6, "0")}\0 `, 148, "latin1");
  return bytes;
}

/** A path of up to 100 bytes, or two parts of up to 155 and 100. */
function splitPath(path: string): { readonly name: string; readonly prefix: string } {
  if (Buffer.byteLength(path) <= 100) return { name: path, prefix: "" };
  for (let at = path.indexOf("/"); at > 0; at = path.indexOf("/", at + 1)) {
    const [prefix, name] = [path.slice(0, at), path.slice(at + 1)];
    if (name !== "" && Buffer.byteLength(prefix) <= 155 && Buffer.byteLength(name) <= 100)
      return { name, prefix };
  }
  throw new RangeError(`${path} is too long a path for an archive`);
}
