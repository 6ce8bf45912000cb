/** What is sent before a request's body. */
export interface RequestHead {
  readonly method: string;
  /** The path, or for a proxy the whole URL. */
  readonly target: string;
  readonly headers: Readonly<Record<string, string | readonly string[]>>;
  readonly body: string | Uint8Array | undefined;
}

// Control characters would let a value end its line, and begin another.
const unsendable = /[^\P{Cc}\t]/u;
const name = /^[\w!#$%&'*+.^`|~-]+$/;

/**
 * The lines of a request as HTTP/1.1 has them, with the empty one at the end.
 *
 * @throws TypeError for a header or target that cannot be sent. Its value, which may be a secret,
 *   is not in the message.
 */
export function requestHead({ method, target, headers, body }: RequestHead): string {
  if (/[\s\p{Cc}]/u.test(target))
    throw new TypeError("a request's path holds a blank or a control character");
  let text = `${method} ${target} HTTP/1.1\r\n`;
  for (const key of Object.keys(headers)) {
    const value = headers[key];
    if (typeof value === "string") text += line(key, value);
    else for (const each of value ?? []) text += line(key, each);
  }
  if (body !== undefined) text += `content-length: ${Buffer.byteLength(body)}\r\n`;
  else if (method !== "GET" && method !== "DELETE") text += "content-length: 0\r\n";
  return `${text}\r\n`;
}

/** The line last sent for each header: most are the same in every request. */
const lastLines = new Map<string, { readonly value: string; readonly line: string }>();
const MOST_LINES = 100;

function line(key: string, value: string): string {
  const last = lastLines.get(key);
  if (last?.value === value) return last.line;
  const made = makeLine(key, value);
  if (lastLines.size >= MOST_LINES) lastLines.clear();
  lastLines.set(key, { value, line: made });
  return made;
}

function makeLine(key: string, value: string): string {
  if (!name.test(key)) throw new TypeError(`${JSON.stringify(key)} is not the name of a header`);
  if (unsendable.test(value)) throw new TypeError(`the header ${key} holds a control character`);
  return `${key}: ${value}\r\n`;
}
