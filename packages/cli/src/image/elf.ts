/** What an executable or a shared library says of itself. */
export interface Elf {
  readonly architecture: "amd64" | "arm64";
  /** The program that loads it: `/lib64/ld-linux-x86-64.so.2`. Undefined for a library. */
  readonly interpreter: string | undefined;
  /** The names of the libraries that it is linked with. */
  readonly needed: readonly string[];
  /** How many of its bytes are ever loaded. */
  readonly loadedBytes: number;
}

const machines: ReadonlyMap<number, Elf["architecture"]> = new Map([
  [62, "amd64"],
  [183, "arm64"],
]);

const segmentTypes = { load: 1, dynamic: 2, interpreter: 3 };
const dynamicTags = { needed: 1n, stringTable: 5n };

interface Segment {
  readonly type: number;
  readonly offset: number;
  readonly address: number;
  readonly size: number;
}

/** Reads the headers of a 64-bit little-endian ELF file; undefined for anything else. */
export function readElf(file: Buffer): Elf | undefined {
  if (file.length < 64 || file.readUInt32BE(0) !== 0x7f454c46) return undefined;
  const is64BitLittleEndian = file[4] === 2 && file[5] === 1;
  const architecture = machines.get(file.readUInt16LE(18));
  if (!is64BitLittleEndian || architecture === undefined) return undefined;
  const segments = segmentsOf(file);
  const interpreter = segments.find(({ type }) => type === segmentTypes.interpreter);
  return {
    architecture,
    interpreter: interpreter === undefined ? undefined : textAt(file, interpreter.offset),
    needed: neededBy(file, segments),
    loadedBytes: Math.max(...segments.map(({ offset, size }) => offset + size)),
  };
}

/**
 * The file without what is never loaded: symbols and debugging information, which stand at its end.
 * What `strip` leaves out, without the need for it. Stack traces of JavaScript do not need them;
 * those of a crash in Node itself do.
 */
export function withoutSymbols(file: Buffer): Buffer {
  const elf = readElf(file);
  if (elf === undefined) return file;
  const loaded = Buffer.from(file.subarray(0, elf.loadedBytes));
  // The table of sections is gone with them: its offset, the number of its entries, and the index
  // of their names.
  loaded.writeBigUInt64LE(0n, 40);
  loaded.writeUInt16LE(0, 60);
  loaded.writeUInt16LE(0, 62);
  return loaded;
}

function segmentsOf(file: Buffer): readonly Segment[] {
  const table = Number(file.readBigUInt64LE(32));
  const size = file.readUInt16LE(54);
  const count = file.readUInt16LE(56);
  return Array.from({ length: count }, (_, index) => {
    const at = table + index * size;
    return {
      type: file.readUInt32LE(at),
      offset: Number(file.readBigUInt64LE(at + 8)),
      address: Number(file.readBigUInt64LE(at + 16)),
      size: Number(file.readBigUInt64LE(at + 32)),
    };
  });
}

function neededBy(file: Buffer, segments: readonly Segment[]): readonly string[] {
  const dynamic = segments.find(({ type }) => type === segmentTypes.dynamic);
  if (dynamic === undefined) return [];
  const entries = Array.from({ length: dynamic.size / 16 }, (_, index) => {
    const at = dynamic.offset + index * 16;
    return { tag: file.readBigUInt64LE(at), value: Number(file.readBigUInt64LE(at + 8)) };
  });
  const address = entries.find(({ tag }) => tag === dynamicTags.stringTable)?.value;
  const names = segments.find(
    ({ type, address: start, size }) =>
      type === segmentTypes.load && address !== undefined && address >= start && address < start + size,
  );
  if (address === undefined || names === undefined) return [];
  const table = names.offset + address - names.address;
  return entries
    .filter(({ tag }) => tag === dynamicTags.needed)
    .map(({ value }) => textAt(file, table + value));
}

function textAt(file: Buffer, at: number): string {
  return file.toString("utf8", at, file.indexOf(0, at));
}
