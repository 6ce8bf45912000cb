import { notice, yaml } from "./yaml.ts";

// Characters for private use: nothing that an operator declares contains them.
const [open, close, openWhole, closeWhole] = ["\uE000", "\uE001", "\uE002", "\uE003"];

/** An expression of Helm within a text. Its value must need no quotes: names, numbers. */
export function inText(expression: string): string {
  return `${open}${expression}${close}`;
}

/**
 * An expression of Helm in the place of a value, whatever its type. It must not contain quotes or
 * be followed by text.
 */
export function asValue(expression: string): string {
  return `${openWhole}${expression}${closeWhole}`;
}

/**
 * Objects as a template of Helm. What looks like an expression and is none, such as Prometheus'
 * own, stays as it is.
 */
export function templateFile(objects: readonly object[]): string {
  const documents = objects.map((object) =>
    yaml(mapTexts(object, (text) => expressionsIn(escapeBraces(text)))).replaceAll(
      new RegExp(`"?${openWhole}([^${closeWhole}]*)${closeWhole}"?`, "g"),
      "{{ $1 }}",
    ),
  );
  return notice + documents.join("---\n");
}

/** A template that renders to nothing unless a value is true. */
export function templateFileIf(value: string, objects: readonly object[]): string {
  const text = templateFile(objects).slice(notice.length);
  return `${notice}{{- if .Values.${value} }}\n${text}{{- end }}\n`;
}

/** Braces that are meant as such. Backquotes, for a text in YAML may be within double quotes. */
function escapeBraces(text: string): string {
  return text.replaceAll("{{", "{{ `{{` }}");
}

function expressionsIn(text: string): string {
  return text.replaceAll(open, "{{ ").replaceAll(close, " }}");
}

function mapTexts(value: unknown, map: (text: string) => string): unknown {
  if (typeof value === "string") return map(value);
  if (Array.isArray(value)) return value.map((one) => mapTexts(one, map));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, one]) => [map(key), mapTexts(one, map)]));
}
