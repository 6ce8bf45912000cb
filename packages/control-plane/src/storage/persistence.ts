import {
  closeSync,
  existsSync,
  fsyncSync,
  ftruncateSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { resolve } from "node:path";
import { isObject, type Json, type JsonObject } from "../json.ts";
import type { Entry, LogRecord, Store } from "./store.ts";

/** What a control plane is known by, besides its objects. Kept, so that kubeconfigs and tokens outlive a restart. */
export interface Identity {
  /** PEM. */
  readonly authority: { readonly certificate: string; readonly key: string };
  /** PEM of the key that signs service account tokens. */
  readonly tokenKey: string;
  /** Where the API was last opened; undefined if it never was. */
  readonly port?: number;
}

/** A data file that cannot be used. The message says which, and what to do. */
export class DataFileError extends Error {
  constructor(message: string) {
    super(message);
    this.name = "DataFileError";
  }
}

const format = "windlass-control-plane/1";

/**
 * Revisions that a restart skips. The last write before a crash may have been seen by a watcher and yet not be in the file;
 * its revision must not come back with other content.
 */
const skipped = 1_000;

/** A file is written anew when this much of it, and most of it, is history. */
const worthRewriting = 8 * 1024 * 1024;

interface Loaded {
  identity: Identity | undefined;
  revision: number;
  readonly objects: Map<string, { bucket: string; key: string; object: JsonObject }>;
  /** How much of the file could be read. */
  length: number;
}

/**
 * Keeps a store in a file: a log of writes, each appended before it is acknowledged, so that a process that is killed loses
 * nothing it has promised. (It is not synced to the disk: a machine that loses power may lose the last seconds.) A write that
 * was cut off by the end of the process is dropped when the file is opened again.
 *
 * The file holds private keys and every Secret: it is readable by its owner alone.
 */
export class DataFile {
  readonly path: string;
  readonly #loaded: Loaded;
  #identity: Identity | undefined;
  #file: number;
  #size: number;
  /** The size of the file when it last held nothing but the present state. */
  #liveSize = 0;
  #store: Store | undefined;
  #unsubscribe: () => void = () => undefined;

  private constructor(path: string, loaded: Loaded, file: number) {
    this.path = path;
    this.#loaded = loaded;
    this.#identity = loaded.identity;
    this.#file = file;
    this.#size = loaded.length;
  }

  /**
   * Opens a file, or makes one.
   *
   * @throws DataFileError when another control plane has it open, or it is not such a file
   */
  static open(file: string): DataFile {
    const path = resolve(file);
    lock(path);
    try {
      const loaded = existsSync(path) ? load(path) : empty();
      const opened = openSync(path, "a", 0o600);
      ftruncateSync(opened, loaded.length);
      return new DataFile(path, loaded, opened);
    } catch (error) {
      unlock(path);
      throw error;
    }
  }

  get identity(): Identity | undefined {
    return this.#identity;
  }

  /** Keeps the identity, in the place of any before. */
  identify(identity: Identity): void {
    this.#identity = identity;
    this.#append(identityLine(identity));
  }

  /** Brings the store to the state of the file, and from then on the file to the state of the store. */
  follow(store: Store): void {
    const { revision, objects } = this.#loaded;
    if (revision > 0) store.restore(revision + skipped, objects.values());
    objects.clear();
    this.#store = store;
    this.#unsubscribe = store.subscribeAll((record) => this.#append(recordLine(record)));
    if (this.#isMostlyHistory()) this.#rewrite();
  }

  close(): void {
    this.#unsubscribe();
    if (this.#file >= 0) closeSync(this.#file);
    this.#file = -1;
    unlock(this.path);
  }

  #append(line: string): void {
    const bytes = Buffer.from(line);
    try {
      for (let at = 0; at < bytes.byteLength; ) at += writeSync(this.#file, bytes, at);
    } catch (error) {
      // Half a line would spoil the next one.
      ftruncateSync(this.#file, this.#size);
      const why = error instanceof Error ? error.message : String(error);
      throw new DataFileError(`${this.path}: the last change is not kept, for it cannot be written: ${why}`);
    }
    this.#size += bytes.byteLength;
    if (this.#size > worthRewriting && this.#isMostlyHistory()) this.#rewrite();
  }

  #isMostlyHistory(): boolean {
    return this.#size > worthRewriting && this.#size > 4 * this.#liveSize;
  }

  /** Writes a file of the present state alone, and puts it in the place of the log in one step. */
  #rewrite(): void {
    const store = this.#store;
    if (!store) return;
    const next = `${this.path}.next`;
    rmSync(next, { force: true });
    const file = openSync(next, "a", 0o600);
    let size = 0;
    const write = (line: string) => {
      size += writeSync(file, line);
    };
    if (this.#identity) write(identityLine(this.#identity));
    for (const bucket of store.buckets()) {
      for (const entry of store.entries(bucket)) write(putLine(bucket, entry));
    }
    write(`${JSON.stringify({ revision: store.revision })}\n`);
    fsyncSync(file);
    renameSync(next, this.path);
    closeSync(this.#file);
    this.#file = file;
    this.#size = size;
    this.#liveSize = size;
  }
}

function identityLine(identity: Identity): string {
  return `${JSON.stringify({ format, identity })}\n`;
}

function recordLine({ type, bucket, key, revision, entry }: LogRecord): string {
  if (type !== "DELETED") return putLine(bucket, entry);
  return `${JSON.stringify({ revision, bucket, key })}\n`;
}

/** Reuses the text that answers are made of. */
function putLine(bucket: string, { key, revision, object, json }: Entry): string {
  const { kind, apiVersion } = object;
  return `{"revision":${revision},"bucket":${JSON.stringify(bucket)},"key":${JSON.stringify(key)},"kind":${JSON.stringify(kind)},"apiVersion":${JSON.stringify(apiVersion)},"object":${json}}\n`;
}

function empty(): Loaded {
  return { identity: undefined, revision: 0, objects: new Map(), length: 0 };
}

function load(path: string): Loaded {
  const bytes = readFileSync(path);
  // What has no end was cut off: nobody was told that it is written.
  const length = bytes.lastIndexOf(0x0a) + 1;
  const loaded: Loaded = { ...empty(), length };
  const lines = bytes.toString("utf8", 0, length).split("\n");
  for (const [index, line] of lines.entries()) {
    if (line === "") continue;
    const record = parse(line);
    if (!record || (index === 0 && record.format !== format)) {
      throw new DataFileError(
        `${path}: line ${index + 1} is not what a control plane writes: is this another file? Move it away to start anew`,
      );
    }
    take(loaded, record);
  }
  return loaded;
}

function parse(line: string): JsonObject | undefined {
  try {
    const value = JSON.parse(line) as Json;
    return isObject(value) ? value : undefined;
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

function take(loaded: Loaded, record: JsonObject): void {
  if (isObject(record.identity)) {
    loaded.identity = record.identity as unknown as Identity;
    return;
  }
  loaded.revision = Math.max(loaded.revision, Number(record.revision));
  const { bucket, key, kind, apiVersion, object } = record;
  if (typeof bucket !== "string" || typeof key !== "string") return;
  const id = `${bucket} ${key}`;
  if (!isObject(object)) loaded.objects.delete(id);
  else {
    loaded.objects.set(id, {
      bucket,
      key,
      object: { kind: kind as string, apiVersion: apiVersion as string, ...object },
    });
  }
}

/** Files that are open in this process. */
const open = new Set<string>();

/** One process at a time: two logs in one file would be neither's. */
function lock(path: string): void {
  const name = `${path}.lock`;
  if (open.has(path)) throw new DataFileError(`${path} is in use by this process: choose another file`);
  for (;;) {
    try {
      writeFileSync(name, holderText(process.pid), { flag: "wx" });
      open.add(path);
      return;
    } catch (error) {
      if (codeOf(error) !== "EEXIST") throw error;
      const holder = readFileSync(name, "utf8");
      const pid = Number(holder.split(" ")[0]);
      // A process of the same number that began at another time is not the one that locked.
      if (pid !== process.pid && pid > 0 && isRunning(pid) && holder === holderText(pid)) {
        throw new DataFileError(`${path} is in use by process ${pid}: stop it, or choose another file`);
      }
      rmSync(name, { force: true });
    }
  }
}

function unlock(path: string): void {
  open.delete(path);
  rmSync(`${path}.lock`, { force: true });
}

/** A process by its number and, where the system tells, when it began. */
function holderText(pid: number): string {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    return `${pid} ${stat.slice(stat.lastIndexOf(")") + 2).split(" ")[19] ?? ""}`;
  } catch {
    return `${pid}`;
  }
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return codeOf(error) === "EPERM";
  }
}

function codeOf(error: unknown): string | undefined {
  return (error as NodeJS.ErrnoException).code;
}
