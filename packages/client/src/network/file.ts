import { readFile, stat } from "node:fs/promises";
import type { Clock } from "@windlass/clock";
import { TransportError } from "../errors.ts";

/**
 * How stale a file's content may be. Kubelets rotate tokens long before they expire, so seconds do
 * not matter.
 */
const CHECK_INTERVAL_MS = 10_000;

/**
 * A file that someone else replaces now and then: a service account's token, a CA bundle, a client
 * certificate. Looks for a change at most every ten seconds, and gives the same buffer while there
 * is none.
 *
 * Once read, a file that cannot be read (it is just being replaced) stands for its last content.
 */
export class RotatingFile {
  readonly path: string;
  readonly #clock: Clock;
  #content: Buffer | undefined;
  #mark = "";
  #checkedAt = Number.NEGATIVE_INFINITY;
  #reading: Promise<Buffer> | undefined;

  constructor(path: string, clock: Clock) {
    this.path = path;
    this.#clock = clock;
  }

  /**
   * Its content, at once if it was read a moment ago. @throws TransportError with code
   * CREDENTIALS_FAILED if it was never readable.
   */
  read(): Buffer | Promise<Buffer> {
    if (this.#content && this.#clock.monotonic() - this.#checkedAt < CHECK_INTERVAL_MS) return this.#content;
    this.#reading ??= this.#check().finally(() => {
      this.#reading = undefined;
    });
    return this.#reading;
  }

  /** Makes the next read look at the file, however recently it was read. */
  invalidate(): void {
    this.#checkedAt = Number.NEGATIVE_INFINITY;
  }

  async #check(): Promise<Buffer> {
    try {
      const { mtimeMs, size, ino } = await stat(this.path);
      const mark = `${mtimeMs} ${size} ${ino}`;
      if (!this.#content || mark !== this.#mark) {
        const content = await readFile(this.path);
        if (!this.#content?.equals(content)) this.#content = content;
        this.#mark = mark;
      }
      this.#checkedAt = this.#clock.monotonic();
      return this.#content;
    } catch (error) {
      if (this.#content) return this.#content;
      const code = error instanceof Error && "code" in error ? String(error.code) : String(error);
      const fault = code === "ENOENT" ? "there is no such file" : `it cannot be read (${code})`;
      throw new TransportError("CREDENTIALS_FAILED", `${this.path}: ${fault}`, {
        cause: error,
        mayHaveBeenSent: false,
      });
    }
  }
}
