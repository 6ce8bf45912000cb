import { isIPv4, isIPv6 } from "node:net";

// The formats a CRD may name, checked as the API server checks them. Names are compared without
// dashes, so `date-time` and `datetime` are one. A format that is not here is ignored.

const HOSTNAME =
  /^([a-zA-Z0-9\p{S}\p{L}]((-?[a-zA-Z0-9\p{S}\p{L}]{0,62})?)|([a-zA-Z0-9\p{S}\p{L}](([a-zA-Z0-9\-\p{S}\p{L}]{0,61}[a-zA-Z0-9\p{S}\p{L}])?)(\.))+([a-zA-Z0-9\p{S}\p{L}])(-?[a-zA-Z0-9\p{S}\p{L}]){1,62})$/u;
const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=|[A-Za-z0-9+/]{4})$/;
const CREDIT_CARD =
  /^(?:4[0-9]{12}(?:[0-9]{3})?|5[1-5][0-9]{14}|(222[1-9]|22[3-9][0-9]|2[3-6][0-9]{2}|27[01][0-9]|2720)[0-9]{12}|6(?:011|5[0-9][0-9])[0-9]{12}|3[47][0-9]{13}|3(?:0[0-5]|[68][0-9])[0-9]{11}|(?:2131|1800|35\d{3})\d{11}|6[27][0-9]{14})$/;
const RGB =
  /^rgb\(\s*(0|[1-9]\d?|1\d\d?|2[0-4]\d|25[0-5])\s*,\s*(0|[1-9]\d?|1\d\d?|2[0-4]\d|25[0-5])\s*,\s*(0|[1-9]\d?|1\d\d?|2[0-4]\d|25[0-5])\s*\)$/;
const DATE_TIME = /^(\d{4})-(\d{2})-(\d{2})[Tt](\d{2}):(\d{2}):(\d{2})(\.\d+)?([Zz]|[+-]\d{2}:\d{2})$/;
const GO_DURATION = /^[+-]?((\d+(?:\.\d*)?|\.\d+)(ns|us|µs|μs|ms|s|m|h))+$/;
// Each number is scanned once, from its first digit: from each of them it would be quadratic.
const WORD_DURATION = /(?<!\d)\d+\s*([A-Za-zµ]+)/g;
const DURATION_UNITS =
  /^(ns|nano.*|us|µs|micro.*|ms|milli.*|s|sec.*|m|min.*|h|hr|hour.*|d|day.*|w|wk|week.*)$/i;

/**
 * Whether `text` is a duration in Go's notation (`1h30m`) or has one in words somewhere in it (`in
 * 3 days`).
 */
function isDuration(text: string): boolean {
  if (/^[+-]?0$/.test(text) || GO_DURATION.test(text)) return true;
  return [...text.matchAll(WORD_DURATION)].some((match) => DURATION_UNITS.test(match[1] as string));
}

export function isDate(text: string): boolean {
  const match = /^(\d{4})-(\d{2})-(\d{2})$/.exec(text);
  return match !== null && isCalendarDay(Number(match[1]), Number(match[2]), Number(match[3]));
}

export function isDateTime(text: string): boolean {
  const match = DATE_TIME.exec(text);
  if (match === null) return false;
  const [year, month, day, hour, minute, second] = match.slice(1, 7).map(Number) as [
    number,
    number,
    number,
    number,
    number,
    number,
  ];
  return isCalendarDay(year, month, day) && hour < 24 && minute < 60 && second < 60;
}

function isCalendarDay(year: number, month: number, day: number): boolean {
  if (month < 1 || month > 12 || day < 1) return false;
  return day <= new Date(Date.UTC(2000 + (year % 400), month, 0)).getUTCDate();
}

/** An address with a prefix length: IPv4 without leading zeros, or IPv6. */
export function isCidr(text: string): boolean {
  const match = /^([^/]+)\/(\d{1,3})$/.exec(text);
  if (match === null || /^0\d/.test(match[2] as string)) return false;
  const bits = Number(match[2]);
  const address = match[1] as string;
  return (isIPv4(address) && bits <= 32) || (isIPv6(address) && !address.includes("%") && bits <= 128);
}

function isMac(text: string): boolean {
  const pairs = /^[0-9A-Fa-f]{2}([:-])[0-9A-Fa-f]{2}(\1[0-9A-Fa-f]{2})*$/.test(text);
  if (pairs) return [6, 8, 20].includes((text.length + 1) / 3);
  return /^[0-9A-Fa-f]{4}(\.[0-9A-Fa-f]{4})*$/.test(text) && [3, 4, 10].includes((text.length + 1) / 5);
}

/** What Go's `url.ParseRequestURI` takes: an absolute URL, or an absolute path. */
function isRequestUri(text: string): boolean {
  if (text === "" || hasControl(text) || /%(?![0-9A-Fa-f]{2})/.test(text.split("?")[0] as string))
    return false;
  if (text === "*") return true;
  if (text.startsWith("/"))
    return !text.startsWith("//") || isAuthority(text.slice(2).split(/[/?]/)[0] as string);
  const scheme = /^([A-Za-z][A-Za-z0-9+.-]*):(.*)$/s.exec(text);
  if (scheme === null) return false;
  const rest = scheme[2] as string;
  if (!rest.startsWith("/")) return true;
  if (!rest.startsWith("//")) return true;
  return isAuthority(rest.slice(2).split(/[/?#]/)[0] as string);
}

function isAuthority(authority: string): boolean {
  const host = authority.slice(authority.lastIndexOf("@") + 1);
  if (/[ <>"]/.test(host)) return false;
  if (host.startsWith("[")) return /^\[[0-9A-Fa-f:.]+(%25[^\]]*)?\](:\d*)?$/.test(host);
  const colon = host.indexOf(":");
  return colon < 0 || /^:\d*$/.test(host.slice(colon));
}

function hasControl(text: string): boolean {
  for (let index = 0; index < text.length; index++) {
    const code = text.charCodeAt(index);
    if (code < 0x20 || code === 0x7f) return true;
  }
  return false;
}

const ATOM = "[A-Za-z0-9!#$%&'*+/=?^_`{|}~\\u0080-\\u{10ffff}-]+";
const ADDRESS = new RegExp(
  `^(${ATOM}(\\.${ATOM})*|"([^"\\\\\\r\\n]|\\\\.)*")@(${ATOM}(\\.${ATOM})*|\\[[^\\]]*\\])$`,
  "u",
);
const NAMED_ADDRESS = /^(?:\s*"(?:[^"\\]|\\.)*"\s*|[^<>"(),:;@[\]\\]*)<([^<>]+)>\s*$/;

function isEmail(text: string): boolean {
  const named = NAMED_ADDRESS.exec(text);
  return ADDRESS.test(named === null ? text.trim() : (named[1] as string).trim());
}

function isIsbn10(text: string): boolean {
  const digits = text.replace(/[\s-]+/g, "");
  if (!/^(?:[0-9]{9}X|[0-9]{10})$/.test(digits)) return false;
  let sum = 0;
  for (let index = 0; index < 10; index++) {
    sum += (10 - index) * (digits[index] === "X" ? 10 : Number(digits[index]));
  }
  return sum % 11 === 0;
}

function isIsbn13(text: string): boolean {
  const digits = text.replace(/[\s-]+/g, "");
  if (!/^[0-9]{13}$/.test(digits)) return false;
  let sum = 0;
  for (let index = 0; index < 12; index++) sum += (index % 2 === 0 ? 1 : 3) * Number(digits[index]);
  return (10 - (sum % 10)) % 10 === Number(digits[12]);
}

function isCreditCard(text: string): boolean {
  const digits = text.replace(/[^0-9]+/g, "");
  if (!CREDIT_CARD.test(digits)) return false;
  let sum = 0;
  for (let index = 0; index < digits.length; index++) {
    const digit = Number(digits[digits.length - 1 - index]);
    const doubled = index % 2 === 1 ? digit * 2 : digit;
    sum += doubled > 9 ? doubled - 9 : doubled;
  }
  return sum % 10 === 0;
}

function uuid(version: string, variant: string): (text: string) => boolean {
  const pattern = new RegExp(
    `^[0-9a-f]{8}-?[0-9a-f]{4}-?${version}[0-9a-f]{3}-?${variant}[0-9a-f]{3}-?[0-9a-f]{12}$`,
    "i",
  );
  return (text) => pattern.test(text);
}

const SHORT_NAME = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/;
const LONG_NAME = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/;

const FORMATS = new Map<string, (text: string) => boolean>([
  ["bsonobjectid", (text) => /^[0-9a-fA-F]{24}$/.test(text)],
  ["uri", isRequestUri],
  ["email", isEmail],
  [
    "hostname",
    (text) =>
      HOSTNAME.test(text) &&
      Buffer.byteLength(text) <= 255 &&
      text.split(".").every((part) => Buffer.byteLength(part) <= 63),
  ],
  ["ipv4", (text) => isIPv4(text)],
  ["ipv6", (text) => isIPv6(text) && !text.includes("%")],
  ["cidr", isCidr],
  ["mac", isMac],
  ["uuid", uuid("[0-9a-f]", "[0-9a-f]")],
  ["uuid3", uuid("3", "[0-9a-f]")],
  ["uuid4", uuid("4", "[89ab]")],
  ["uuid5", uuid("5", "[89ab]")],
  ["isbn", (text) => isIsbn10(text) || isIsbn13(text)],
  ["isbn10", isIsbn10],
  ["isbn13", isIsbn13],
  ["creditcard", isCreditCard],
  ["ssn", (text) => /^\d{3}[- ]?\d{2}[- ]?\d{4}$/.test(text)],
  ["hexcolor", (text) => /^#?([0-9a-fA-F]{3}|[0-9a-fA-F]{6})$/.test(text)],
  ["rgbcolor", (text) => RGB.test(text)],
  ["byte", (text) => BASE64.test(text)],
  ["password", () => true],
  ["date", isDate],
  ["duration", isDuration],
  ["datetime", isDateTime],
  ["k8sshortname", (text) => text.length <= 63 && SHORT_NAME.test(text)],
  ["k8slongname", (text) => text.length <= 253 && LONG_NAME.test(text)],
]);

/**
 * The check behind a format's name, or undefined for a format the API server does not know and
 * therefore ignores.
 */
export function formatCheck(name: string): ((text: string) => boolean) | undefined {
  return FORMATS.get(name.replaceAll("-", ""));
}
