import type { Transport, TransportRequest, TransportResponse } from "@windlass/client";
import type { Clock } from "@windlass/clock";

/**
 * Everything that clients asked an API server and were answered, in order: reads, writes and watch
 * events, each with its time and who it was. Two runs are the same run when their traces are the
 * same text.
 *
 * Keys, certificates and tokens are made by real cryptography and differ each time, so a trace has
 * marks in their place.
 *
 * @example
 * const trace = new Trace(clock);
 * const client = new Client({ transport: trace.around(plane.connect(), "test") });
 */
export class Trace {
  readonly #clock: Clock;
  readonly #startMs: number;
  readonly #lines: string[] = [];
  #requests = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
    this.#startMs = clock.now();
  }

  /** One line for each request, answer, chunk of a stream, and end of one. */
  get lines(): readonly string[] {
    return this.#lines;
  }

  /** The lines as one text. */
  toString(): string {
    return this.#lines.map((line) => `${line}\n`).join("");
  }

  /** Writes down something that the server did not see, such as the start of an operator. */
  note(who: string, what: string): void {
    this.#lines.push(`+${this.#clock.now() - this.#startMs} ${who} ${withoutSecrets(what)}`);
  }

  /** The transport, with all that passes through it written down as `who`'s. */
  around(inner: Transport, who: string): Transport {
    return {
      request: async (request) => {
        const number = ++this.#requests;
        const say = (what: string) => this.note(who, `#${number} ${what}`);
        say(`→ ${textOf(request)}`);
        try {
          return this.#answer(request, await inner.request(request), say);
        } catch (error) {
          say(`✗ ${error instanceof Error ? error.message : String(error)}`);
          throw error;
        }
      },
      close: () => inner.close(),
    };
  }

  #answer(
    request: TransportRequest,
    response: TransportResponse,
    say: (what: string) => void,
  ): TransportResponse {
    const warnings =
      response.headers.warning === undefined ? "" : ` ${JSON.stringify(response.headers.warning)}`;
    if (isStream(request)) {
      say(`← ${response.status}${warnings}`);
      return { ...response, body: spoken(response.body, (text) => say(`← ${text}`)) };
    }
    return {
      ...response,
      body: spoken(response.body, (text) => say(`← ${response.status}${warnings} ${text}`)),
    };
  }
}

/**
 * The first line in which two traces differ, with its neighbours: for a message that people can
 * use.
 */
export function firstDifference(one: Trace, other: Trace): string | undefined {
  const index = one.lines.findIndex((line, at) => line !== other.lines[at]);
  if (index < 0 && one.lines.length === other.lines.length) return undefined;
  const at = index < 0 ? one.lines.length : index;
  const before = one.lines.slice(Math.max(0, at - 3), at).map((line) => `  ${shortened(line)}`);
  return [
    `the runs part at line ${at + 1}:`,
    ...before,
    `- ${shortened(one.lines[at] ?? "the end")}`,
    `+ ${shortened(other.lines[at] ?? "the end")}`,
  ].join("\n");
}

function shortened(line: string): string {
  return line.length > 600 ? `${line.slice(0, 600)}…` : line;
}

function isStream({ path }: TransportRequest): boolean {
  return /[?&](watch|follow)=(true|1)(&|$)/.test(path);
}

function textOf({ method, path, headers, body }: TransportRequest): string {
  const type = headers["content-type"] ?? headers.accept ?? "";
  const content =
    body === undefined ? "" : ` ${typeof body === "string" ? body : Buffer.from(body).toString("utf8")}`;
  return `${method} ${path} (${String(type)})${content}`;
}

async function* spoken(
  body: AsyncIterable<Uint8Array>,
  say: (text: string) => void,
): AsyncGenerator<Uint8Array> {
  let isEmpty = true;
  for await (const chunk of body) {
    isEmpty = false;
    say(Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength).toString("utf8").trimEnd());
    yield chunk;
  }
  if (isEmpty) say("end");
}

interface Secret {
  /** What every such text has in it: a line without it need not be looked through. */
  readonly mark: string;
  readonly pattern: RegExp;
  readonly shown: string;
}

const secrets: readonly Secret[] = [
  {
    mark: "-----BEGIN ",
    pattern: /-----BEGIN ([A-Z ]+)-----[\s\S]*?-----END \1-----/g,
    shown: "<$1>",
  },
  // The same in base64, as Secrets and webhook configurations carry it.
  { mark: "LS0tLS1CRUdJTi", pattern: /LS0tLS1CRUdJTi[A-Za-z0-9+/=]+/g, shown: "<PEM>" },
  { mark: "eyJ", pattern: /\beyJ[\w-]{8,}\.[\w-]+\.[\w-]+/g, shown: "<token>" },
];

function withoutSecrets(text: string): string {
  return secrets.reduce(
    (rest, { mark, pattern, shown }) => (rest.includes(mark) ? rest.replaceAll(pattern, shown) : rest),
    text,
  );
}
