import { styleText } from "node:util";

/** Where text goes. */
export interface TextOutput {
  write(text: string): unknown;
  /** Whether a person reads along. @default no */
  readonly isTTY?: boolean;
}

/** What a command sees of the world around it. */
export interface Terminal {
  /** What was asked for, and nothing else: a script may read it. */
  readonly stdout: TextOutput;
  /** Progress, questions and errors. */
  readonly stderr: TextOutput;
  /** Answers to questions, and what is piped in. */
  readonly stdin: NodeJS.ReadableStream & { readonly isTTY?: boolean };
  readonly env: Readonly<Record<string, string | undefined>>;
  /** The folder that paths are relative to. */
  readonly folder: string;
  /** Aborted when the user wants it to end. */
  readonly signal: AbortSignal;
}

type Style = Parameters<typeof styleText>[0];

/**
 * Styles text for an output, if it shows styles: a terminal does, unless `NO_COLOR` is set;
 * `FORCE_COLOR` says that anything does.
 */
export function styler(
  { env }: Pick<Terminal, "env">,
  output: TextOutput,
): (style: Style, text: string) => string {
  const isOn = (name: string) => env[name] !== undefined && env[name] !== "";
  const isStyled = isOn("NO_COLOR") ? false : isOn("FORCE_COLOR") || output.isTTY === true;
  return (style, text) => (isStyled ? styleText(style, text, { validateStream: false }) : text);
}

/** How long one waits without wondering. */
const patienceMs = 1_000;

/**
 * Does work, and says on a terminal what is going on once it takes longer than a second. The line
 * goes when the work is done.
 */
export async function withProgress<T>(
  { stderr }: Pick<Terminal, "stderr">,
  what: string,
  work: () => Promise<T>,
): Promise<T> {
  if (stderr.isTTY !== true) return await work();
  let isShown = false;
  const timer = setTimeout(() => {
    isShown = true;
    stderr.write(`${what} …`);
  }, patienceMs);
  try {
    return await work();
  } finally {
    clearTimeout(timer);
    if (isShown) stderr.write("\r\x1b[2K");
  }
}
