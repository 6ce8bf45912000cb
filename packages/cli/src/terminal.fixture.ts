import { Readable } from "node:stream";
import type { Terminal, TextOutput } from "./terminal.ts";

/** A terminal whose output can be looked at. */
export interface RecordingTerminal extends Terminal {
  readonly said: () => string;
  readonly complained: () => string;
  interrupt(): void;
}

/** A terminal for a test. */
export function recordingTerminal(
  options: {
    /** Lines that are typed. @default nobody types: it is no terminal */
    readonly typed?: readonly string[];
    /** What is piped in. @default nothing */
    readonly piped?: string;
    readonly env?: Readonly<Record<string, string>>;
    readonly folder?: string;
    /** Whether a person reads along. @default no */
    readonly isTTY?: boolean;
  } = {},
): RecordingTerminal {
  const { typed, piped = "", env = {}, folder = "/nowhere", isTTY = false } = options;
  const stdout = recorder(isTTY);
  const stderr = recorder(isTTY);
  const stop = new AbortController();
  const stdin = Readable.from(typed === undefined ? [piped] : typed.map((line) => `${line}\n`));
  return {
    stdout,
    stderr,
    stdin: Object.assign(stdin, { isTTY: typed !== undefined }),
    env,
    folder,
    signal: stop.signal,
    said: () => stdout.text,
    complained: () => stderr.text,
    interrupt: () => stop.abort(new Error("interrupted")),
  };
}

function recorder(isTTY: boolean): TextOutput & { text: string } {
  return {
    text: "",
    isTTY,
    write(text) {
      this.text += text;
    },
  };
}
