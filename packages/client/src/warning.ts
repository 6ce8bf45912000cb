/**
 * Takes a warning that the server sent with an answer: a deprecated version, an unknown field, a
 * webhook's remark.
 */
export type WarningHandler = (text: string) => void;

const WARNING = /(\d{3}) (?:[^\s"]+) "((?:[^"\\]|\\.)*)"(?: "[^"]*")?/g;

/** The texts within `Warning` headers. What is not of the form that RFC 7234 gives is left out. */
export function parseWarnings(header: string | readonly string[] | undefined): string[] {
  if (header === undefined) return [];
  const texts: string[] = [];
  for (const value of typeof header === "string" ? [header] : header) {
    for (const [, code, text = ""] of fromLatin1(value).matchAll(WARNING)) {
      if (code === "299") texts.push(unquote(text));
    }
  }
  return texts;
}

/** Header bytes reach JavaScript one character each; the server meant them as UTF-8. */
function fromLatin1(value: string): string {
  return /^[\0-\xff]*$/.test(value) ? Buffer.from(value, "latin1").toString("utf8") : value;
}

/** Control characters are dropped: the text goes to terminals and logs. */
function unquote(text: string): string {
  return text.replaceAll(/\\(.)/g, "$1").replaceAll(/\p{Cc}/gu, " ");
}

/** Beyond this many different texts, the oldest are forgotten and may be repeated. */
const REMEMBERED = 1_000;

/** Passes each text on once. */
export function warnOnce(write: WarningHandler): WarningHandler {
  const seen = new Set<string>();
  return (text) => {
    if (seen.has(text)) return;
    if (seen.size >= REMEMBERED) {
      const [oldest] = seen;
      if (oldest !== undefined) seen.delete(oldest);
    }
    seen.add(text);
    write(text);
  };
}
