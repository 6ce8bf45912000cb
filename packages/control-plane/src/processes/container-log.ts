/** A line that a container wrote, with its line end if it has one. */
export interface LogLine {
  /** Milliseconds since the epoch. */
  readonly at: number;
  readonly stream: "stdout" | "stderr";
  readonly text: Buffer;
}

/** Which lines are wanted, as `kubectl logs` asks. */
export interface LogQuery {
  readonly tailLines?: number;
  readonly sinceMs?: number;
  readonly limitBytes?: number;
  readonly timestamps?: boolean;
  readonly stream?: "stdout" | "stderr";
}

const defaultLimit = 1024 * 1024;
const newline = 10;

/** What one run of a container wrote: the end of it, where it is long. */
export class ContainerLog {
  readonly #lines: LogLine[] = [];
  readonly #open = { stdout: Buffer.alloc(0), stderr: Buffer.alloc(0) };
  readonly #followers = new Set<(line: LogLine | undefined) => void>();
  readonly #taps = new Set<(stream: "stdout" | "stderr", chunk: Buffer | undefined) => void>();
  readonly #limit: number;
  readonly #now: () => number;
  #size = 0;
  #ended = false;

  /** @param limit so many bytes are kept */
  constructor(now: () => number, limit = defaultLimit) {
    this.#now = now;
    this.#limit = limit;
  }

  write(stream: "stdout" | "stderr", chunk: Buffer): void {
    for (const tap of this.#taps) tap(stream, chunk);
    let rest = Buffer.concat([this.#open[stream], chunk]);
    for (let end = rest.indexOf(newline); end >= 0; end = rest.indexOf(newline)) {
      this.#add(stream, rest.subarray(0, end + 1));
      rest = rest.subarray(end + 1);
    }
    // What never ends its line is not held back indefinitely.
    if (rest.byteLength >= 16_384) {
      this.#add(stream, rest);
      rest = Buffer.alloc(0);
    }
    this.#open[stream] = rest;
  }

  /** Nothing more will come. */
  end(): void {
    if (this.#ended) return;
    for (const stream of ["stdout", "stderr"] as const) {
      if (this.#open[stream].byteLength > 0) this.#add(stream, this.#open[stream]);
    }
    this.#ended = true;
    for (const follower of this.#followers) follower(undefined);
    this.#followers.clear();
    for (const tap of this.#taps) tap("stdout", undefined);
    this.#taps.clear();
  }

  /** What was asked for of what there is. */
  read(query: LogQuery): Buffer {
    const { tailLines, sinceMs, limitBytes } = query;
    const wanted = this.#lines.filter(
      ({ at, stream }) =>
        (sinceMs === undefined || at >= sinceMs) && (query.stream === undefined || query.stream === stream),
    );
    const kept = tailLines === undefined ? wanted : wanted.slice(Math.max(0, wanted.length - tailLines));
    const bytes = Buffer.concat(kept.map((line) => written(line, query)));
    return limitBytes === undefined ? bytes : bytes.subarray(0, limitBytes);
  }

  /** Reports every line to come, and the end with undefined. @returns stops it */
  follow(follower: (line: LogLine | undefined) => void): () => void {
    if (this.#ended) {
      follower(undefined);
      return () => undefined;
    }
    this.#followers.add(follower);
    return () => this.#followers.delete(follower);
  }

  /**
   * Reports what is written from now on as it comes, whole lines or not, and the end with
   * undefined.
   *
   * @returns stops it
   */
  tap(listener: (stream: "stdout" | "stderr", chunk: Buffer | undefined) => void): () => void {
    this.#taps.add(listener);
    return () => this.#taps.delete(listener);
  }

  /** The last of what was written, for a container's status. */
  tail(lines: number, bytes: number): string {
    const text = Buffer.concat(this.#lines.slice(-lines).map((line) => line.text));
    return text.subarray(Math.max(0, text.byteLength - bytes)).toString();
  }

  #add(stream: "stdout" | "stderr", text: Buffer): void {
    const line = { at: this.#now(), stream, text };
    this.#lines.push(line);
    this.#size += text.byteLength;
    while (this.#size > this.#limit && this.#lines.length > 1) {
      this.#size -= this.#lines.shift()?.text.byteLength ?? 0;
    }
    for (const follower of this.#followers) follower(line);
  }
}

/** A line as it is shown. */
export function written({ at, text }: LogLine, { timestamps }: LogQuery): Buffer {
  return timestamps ? Buffer.concat([Buffer.from(`${new Date(at).toISOString()} `), text]) : text;
}
