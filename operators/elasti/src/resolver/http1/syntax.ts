/** Kinds of bytes, by the grammar of RFC 9110 and RFC 9112. */
export const TOKEN = 1;
/** Of a field's value: visible characters, bytes above ASCII, blanks and tabs. */
export const VALUE = 2;
/** Of a request target. A fragment is never sent, so `#` is not among them. */
export const TARGET = 4;
/** Of a Host: a name, an address, brackets, a port. */
export const HOST = 8;

/** The kinds that each byte is of. */
export const kinds = new Uint8Array(256);

const tokenPunctuation = "!#$%&'*+-.^_`|~";
const hostPunctuation = "-._~!$&'()*+;=:[]%";
for (let byte = 0; byte < 256; byte++) {
  const character = String.fromCharCode(byte);
  const isAlphanumeric = /[0-9A-Za-z]/.test(character);
  const isVisible = byte > 0x20 && byte !== 0x7f;
  let kind = 0;
  if (isAlphanumeric || tokenPunctuation.includes(character)) kind |= TOKEN;
  if (isVisible || byte === 0x20 || byte === 0x09) kind |= VALUE;
  if (isVisible && character !== "#") kind |= TARGET;
  if (isAlphanumeric || hostPunctuation.includes(character)) kind |= HOST;
  kinds[byte] = kind;
}

/** Whether all characters from `start` to `end` are of a kind, and there is at least one. */
export function isAll(kind: number, text: string, start: number, end: number): boolean {
  for (let at = start; at < end; at++)
    if (((kinds[text.charCodeAt(at)] as number) & kind) === 0) return false;
  return end > start;
}

/** Carriage return. */
export const CR = 0x0d;
/** Line feed. */
export const LF = 0x0a;
/** `:` */
export const COLON = 0x3a;
/** A space. */
export const SPACE = 0x20;
/** A horizontal tab. */
export const TAB = 0x09;
