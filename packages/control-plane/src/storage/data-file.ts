import {
  chmodSync,
  closeSync,
  fsyncSync,
  linkSync,
  lstatSync,
  mkdtempSync,
  openSync,
  readSync,
  rmSync,
  type Stats,
  statSync,
} from "node:fs";
import { join, resolve } from "node:path";
import { DatabaseSync, type StatementSync } from "node:sqlite";
import { pathToFileURL } from "node:url";
import { crc32 } from "node:zlib";
import { type JsonObject, parse, stringify } from "../json.ts";
import { DataFileError, damaged, explained, foreign, isCorrupt, isNotDatabase } from "./data-file-error.ts";
import type { Journal, KeptObject, LogRecord } from "./store.ts";

/**
 * What a control plane is known by, besides its objects. Kept, so that kubeconfigs and tokens
 * outlive a restart.
 */
export interface Identity {
  /** PEM. */
  readonly authority: { readonly certificate: string; readonly key: string };
  /** PEM of the key that signs service account tokens. */
  readonly tokenKey: string;
  /** Where the API was last opened; undefined if it never was. */
  readonly port?: number;
}

/** "wndl": by it a database is known to be ours. */
const applicationId = 0x77_6e_64_6c;
const schemaVersion = 1;

/** How revisions are reserved: each reservation waits for the disk. */
const reservedAtOnce = 10_000;

/** Pages of the write-ahead log (16 MiB) after which it is worked into the file. */
const checkpointPages = 4_000;

const schema = `
  CREATE TABLE objects (
    revision INTEGER PRIMARY KEY,
    bucket TEXT NOT NULL,
    key TEXT NOT NULL,
    object TEXT NOT NULL,
    checksum INTEGER NOT NULL
  ) STRICT;
  CREATE TABLE plane (
    id INTEGER PRIMARY KEY CHECK (id = 1),
    revision INTEGER NOT NULL, -- no write has a higher one
    identity TEXT NOT NULL,
    checksum INTEGER NOT NULL
  ) STRICT;
  PRAGMA application_id = ${applicationId};
  PRAGMA user_version = ${schemaVersion};
`;

/**
 * Keeps a store in a SQLite database. Each write is committed to its write-ahead log before anybody
 * sees it, so a process that is killed loses nothing it has acknowledged, and a write that cannot
 * be kept is refused. Only checkpoints and reservations wait for the disk: a machine that loses
 * power may lose the last writes, but never the order of revisions.
 *
 * While it is open, no other process can open the file, by whatever name. It holds private keys and
 * every Secret: it is readable by its owner alone.
 */
export class DataFile implements Journal {
  readonly path: string;
  readonly #database: DatabaseSync;
  readonly #insert: StatementSync;
  readonly #replace: StatementSync;
  readonly #remove: StatementSync;
  readonly #updatePlane: StatementSync;
  /** What was found in the file, until it is loaded. */
  readonly #kept: KeptObject[];
  #identity: Identity;
  /** The last revision that may be given out before more are reserved. */
  #reserved: number;
  /** The revision of the last write. */
  #revision: number;

  private constructor(path: string, database: DatabaseSync) {
    this.path = path;
    this.#database = database;
    this.#insert = database.prepare(
      "INSERT INTO objects (revision, bucket, key, object, checksum) VALUES (?, ?, ?, ?, ?)",
    );
    this.#replace = database.prepare(
      "UPDATE objects SET revision = ?, bucket = ?, key = ?, object = ?, checksum = ? WHERE revision = ?",
    );
    this.#remove = database.prepare("DELETE FROM objects WHERE revision = ?");
    this.#updatePlane = database.prepare("UPDATE plane SET revision = ?, identity = ?, checksum = ?");
    const plane = database.prepare("SELECT revision, identity, checksum FROM plane").get();
    const { revision, identity, checksum } = (plane ?? {}) as Partial<PlaneRow>;
    if (revision === undefined || identity === undefined || checksumOf(revision, identity) !== checksum) {
      throw damaged(path, "its keys are not what was written");
    }
    this.#identity = JSON.parse(identity) as Identity;
    this.#revision = revision;
    this.#reserved = revision;
    this.#kept = [...readObjects(path, database, revision)];
  }

  /**
   * Opens a file, or makes one.
   *
   * @param newIdentity for a file that is made
   * @throws DataFileError when another control plane has it open, it is damaged, or it is no such
   *   file
   */
  static open(file: string, newIdentity: () => Identity): DataFile {
    const path = resolve(file);
    if (!exists(path)) create(path, newIdentity());
    identify(path);
    chmodSync(path, 0o600);
    const database = connect(path);
    try {
      checkKind(path, database);
      checkIntegrity(path, database);
      const data = new DataFile(path, database);
      // The first write. A file that cannot be written to is found out now.
      data.#reserve(data.#revision);
      return data;
    } catch (error) {
      database.close();
      throw explained(path, error);
    }
  }

  get identity(): Identity {
    return this.#identity;
  }

  /** How much of the disk the database takes, with its write-ahead log. */
  get bytes(): number {
    const sizes = ["", "-wal"].map(
      (end) => statSync(`${this.path}${end}`, { throwIfNoEntry: false })?.size ?? 0,
    );
    return sizes.reduce((sum, size) => sum + size, 0);
  }

  /** Keeps the identity, in the place of the one before. */
  identify(identity: Identity): void {
    this.#write(() => this.#updatePlane.run(...planeRow(this.#reserved, identity)));
    this.#identity = identity;
  }

  /** All that was kept. After a crash the revision is the last that may have been given out. */
  load(): { readonly revision: number; readonly objects: readonly KeptObject[] } {
    return { revision: this.#revision, objects: this.#kept.splice(0) };
  }

  append({ type, bucket, key, revision, entry, previous }: LogRecord): void {
    if (revision > this.#reserved) this.#reserve(revision);
    const { changes } = this.#write(() => {
      if (type === "DELETED") return this.#remove.run(previous?.revision ?? 0);
      const object = stringify(entry.object);
      const row = [revision, bucket, key, object, checksumOf(revision, bucket, key, object)] as const;
      return previous ? this.#replace.run(...row, previous.revision) : this.#insert.run(...row);
    });
    if (changes !== 1) throw damaged(this.path, `${bucket} ${key} is not there any more`);
    this.#revision = revision;
  }

  /** Ends it. The next start goes on with the next revision. */
  close(): void {
    if (!this.#database.isOpen) return;
    try {
      this.#write(() => this.#updatePlane.run(...planeRow(this.#revision, this.#identity)));
    } catch (error) {
      // The reservation stays, and the next start skips what is left of it.
      if (!(error instanceof DataFileError)) throw error;
    } finally {
      this.#database.close();
    }
  }

  /**
   * Makes sure, whatever happens to the machine, that a later start gives out no revision for a
   * second time.
   */
  #reserve(revision: number): void {
    const reserved = revision + reservedAtOnce;
    this.#write(() => {
      this.#database.exec("PRAGMA synchronous = FULL");
      try {
        this.#updatePlane.run(...planeRow(reserved, this.#identity));
      } finally {
        this.#database.exec("PRAGMA synchronous = NORMAL");
      }
    });
    this.#reserved = reserved;
  }

  #write<T>(task: () => T): T {
    if (!this.#database.isOpen) throw new DataFileError("DATA_FILE_FAILED", `${this.path} is closed`);
    try {
      return task();
    } catch (error) {
      throw explained(this.path, error);
    }
  }
}

interface PlaneRow {
  readonly revision: number;
  readonly identity: string;
  readonly checksum: number;
}

function planeRow(revision: number, identity: Identity): [number, string, number] {
  const text = JSON.stringify(identity);
  return [revision, text, checksumOf(revision, text)];
}

function* readObjects(path: string, database: DatabaseSync, last: number): Generator<KeptObject> {
  const rows = database.prepare("SELECT bucket, key, revision, object, checksum FROM objects");
  for (const row of rows.iterate()) {
    const { bucket, key, revision, object, checksum } = row as unknown as ObjectRow;
    if (checksumOf(revision, bucket, key, object) !== checksum || revision > last) {
      throw damaged(path, `${bucket} ${key} is not what was written`);
    }
    yield { bucket, key, revision, object: parse(object) as JsonObject };
  }
}

interface ObjectRow {
  readonly bucket: string;
  readonly key: string;
  readonly revision: number;
  readonly object: string;
  readonly checksum: number;
}

/** SQLite notices when the structure of a file is damaged, but not when a value in it is. */
function checksumOf(revision: number, ...texts: readonly string[]): number {
  return texts.reduce((sum, text) => crc32(text, crc32(" ", sum)), crc32(String(revision)));
}

function exists(path: string): boolean {
  const stats = statSync(path, { throwIfNoEntry: false });
  if (stats) {
    checkRegular(path, stats);
    return true;
  }
  if (lstatSync(path, { throwIfNoEntry: false })) {
    throw new DataFileError("DATA_FILE_FOREIGN", `${path} is a link to nothing: remove it, or name a file`);
  }
  const log = `${path}-wal`;
  if (statSync(log, { throwIfNoEntry: false })) {
    const message = `${path} is missing, and its last writes are left in ${log}: put ${path} back, or remove ${log} to start over`;
    throw new DataFileError("DATA_FILE_DAMAGED", message);
  }
  return false;
}

function checkRegular(path: string, stats: Stats): void {
  if (!stats.isFile()) throw new DataFileError("DATA_FILE_FOREIGN", `${path} is not a regular file`);
  // It may have been full: starting over would make the loss final.
  if (stats.size === 0) throw damaged(path, "it is empty");
}

/**
 * Makes a file, all of it at once: a process that is killed meanwhile leaves none under its name.
 */
function create(path: string, identity: Identity): void {
  const folder = mkdtempSync(`${path}.new-`);
  try {
    const draft = join(folder, "data");
    fill(draft, identity);
    linkSync(draft, path);
  } catch (error) {
    // Another process was faster: its file is opened instead.
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw explained(path, error);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

function fill(path: string, identity: Identity): void {
  closeSync(openSync(path, "wx", 0o600));
  const database = new DatabaseSync(path);
  try {
    // No reader sees it before it is whole and on the disk: nothing has to be undone.
    database.exec("PRAGMA synchronous = OFF; PRAGMA journal_mode = MEMORY");
    database.exec(`BEGIN; ${schema}`);
    database.prepare("INSERT INTO plane VALUES (1, ?, ?, ?)").run(...planeRow(1, identity));
    database.exec("COMMIT; PRAGMA journal_mode = WAL");
  } finally {
    database.close();
  }
  const file = openSync(path, "r+");
  try {
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
}

/**
 * Makes sure that a file is ours to open, without locking it or changing it in any way. Only the
 * main file is checked, which says what it is from the first day.
 */
function identify(path: string): void {
  const url = pathToFileURL(path);
  url.search = "?mode=ro&immutable=1";
  try {
    const database = new DatabaseSync(url, { readOnly: true });
    try {
      checkKind(path, database);
    } finally {
      database.close();
    }
  } catch (error) {
    if (isNotDatabase(error)) throw notDatabase(path);
    // The file may be whole only together with its log. Whether it is, is found out when both are
    // opened.
    if (!isCorrupt(error)) throw explained(path, error);
  }
}

function checkKind(path: string, database: DatabaseSync): void {
  const { application_id, user_version } = database
    .prepare("SELECT * FROM pragma_application_id, pragma_user_version")
    .get() as { application_id: number; user_version: number };
  if (application_id !== applicationId) throw foreign(path);
  if (user_version <= schemaVersion) return;
  const message = `${path} was written by a newer version of windlass-control-plane: start that, or choose another file`;
  throw new DataFileError("DATA_FILE_VERSION", message);
}

/** No process locks such a file, so it can be looked into without taking one away. */
function notDatabase(path: string): DataFileError {
  const start = Buffer.alloc(40);
  const file = openSync(path, "r");
  try {
    readSync(file, start);
  } finally {
    closeSync(file);
  }
  if (!start.toString("latin1").startsWith('{"format":"windlass-control-plane/1"')) return foreign(path);
  const message = `${path} is a log of windlass-control-plane before it kept its data in SQLite: move it away to start over; to keep its objects, read them with the version that wrote it (kubectl get -o yaml) and create them again`;
  return new DataFileError("DATA_FILE_VERSION", message);
}

function connect(path: string): DatabaseSync {
  const database = new DatabaseSync(path, { timeout: 0 });
  try {
    // Exclusive before anything is read: then the log's index is in memory, and no second process
    // can have a say.
    database.exec("PRAGMA locking_mode = EXCLUSIVE");
    database.exec("PRAGMA journal_mode = WAL");
    database.exec("PRAGMA synchronous = NORMAL");
    database.exec(`PRAGMA wal_autocheckpoint = ${checkpointPages}`);
    return database;
  } catch (error) {
    database.close();
    throw explained(path, error);
  }
}

function checkIntegrity(path: string, database: DatabaseSync): void {
  const { quick_check: found } = database.prepare("PRAGMA quick_check(1)").get() as { quick_check: string };
  if (found !== "ok") throw damaged(path, found);
}
