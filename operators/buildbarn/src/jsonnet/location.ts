/** A place in a file. Lines and columns count from 1. */
export interface Location {
  readonly file: string;
  readonly line: number;
  readonly column: number;
}

/** A place as compilers write it: `worker.jsonnet:12:3`. */
export function locationText({ file, line, column }: Location): string {
  return `${file}:${line}:${column}`;
}

/** A jsonnet file that cannot be evaluated. The message begins with file, line and column. */
export class JsonnetError extends Error {
  override readonly name: string = "JsonnetError";
  readonly at: Location;
  /** What is wrong, without the place. */
  readonly fault: string;

  constructor(at: Location, fault: string) {
    super(`${locationText(at)}: ${fault}`);
    this.at = at;
    this.fault = fault;
  }
}

/**
 * A file that uses a part of jsonnet's library that this evaluator does not have. The file may be
 * right, and nothing more is known of it.
 */
export class UnsupportedJsonnetError extends JsonnetError {
  override readonly name = "UnsupportedJsonnetError";
}
