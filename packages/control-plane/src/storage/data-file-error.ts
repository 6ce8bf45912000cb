import { StorageError } from "./storage-error.ts";

/**
 * | code | what happened, and what to do |
 * |---|---|
 * | `DATA_FILE_IN_USE` | Another control plane has the file open, maybe by another name. Stop it, or choose another file. |
 * | `DATA_FILE_FOREIGN` | The file is something else. It is left as it is. Choose another, or move it away. |
 * | `DATA_FILE_VERSION` | The file was written by another version. The message says how to go on. |
 * | `DATA_FILE_DAMAGED` | The file is not as it was written. Put a copy in its place, or move it away to start over. |
 * | `DATA_FILE_FULL` | The disk is full. The write did not happen. Make room, and repeat it. |
 * | `DATA_FILE_FAILED` | The file cannot be read or written. The message has what the system said. |
 */
export type DataFileCode =
  | "DATA_FILE_IN_USE"
  | "DATA_FILE_FOREIGN"
  | "DATA_FILE_VERSION"
  | "DATA_FILE_DAMAGED"
  | "DATA_FILE_FULL"
  | "DATA_FILE_FAILED";

/**
 * A data file that cannot be used, or a write that it did not take. The message tells which, and
 * what to do.
 */
export class DataFileError extends StorageError {
  override readonly name = "DataFileError";
  readonly code: DataFileCode;

  constructor(code: DataFileCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}

export function foreign(path: string): DataFileError {
  return new DataFileError(
    "DATA_FILE_FOREIGN",
    `${path} is not a data file of windlass-control-plane: choose another, or move it away`,
  );
}

export function damaged(path: string, why: string): DataFileError {
  return new DataFileError(
    "DATA_FILE_DAMAGED",
    `${path} is damaged (${why}): put a copy in its place, or move it away to start over`,
  );
}

interface SqliteError extends Error {
  readonly code: "ERR_SQLITE_ERROR";
  /** The extended result code, whose last byte is the primary one. */
  readonly errcode: number;
  readonly errstr: string;
}

/** Our statements are right for our tables, so it is the tables that are wrong. */
const wrongStatement = 1;
const busy = 5;
const corrupt = 11;
const full = 13;
const brokenConstraint = 19;
const notADatabase = 26;

function isSqliteError(error: unknown): error is SqliteError {
  return error instanceof Error && (error as Partial<SqliteError>).code === "ERR_SQLITE_ERROR";
}

/** Whether SQLite found that a file does not even begin as a database does. */
export function isNotDatabase(error: unknown): boolean {
  return isSqliteError(error) && (error.errcode & 0xff) === notADatabase;
}

/** Whether SQLite found that a database is not whole. */
export function isCorrupt(error: unknown): boolean {
  return isSqliteError(error) && (error.errcode & 0xff) === corrupt;
}

/** What SQLite said, as an error that says what to do. Other errors stay as they are. */
export function explained(path: string, error: unknown): unknown {
  if (!isSqliteError(error)) return error;
  switch (error.errcode & 0xff) {
    case busy:
      return new DataFileError(
        "DATA_FILE_IN_USE",
        `${path} is in use by another control plane: stop it, or choose another file`,
      );
    case corrupt:
    case notADatabase:
    case brokenConstraint:
    case wrongStatement:
      return damaged(path, error.message);
    case full:
      return new DataFileError("DATA_FILE_FULL", `${path}: the disk is full`, { cause: error });
    default:
      return new DataFileError("DATA_FILE_FAILED", `${path}: ${error.message}`, { cause: error });
  }
}
