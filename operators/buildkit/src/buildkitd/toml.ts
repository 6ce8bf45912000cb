/** A value that is written on one line. */
type TomlValue = string | number | boolean | readonly TomlValue[];

/**
 * A table of a TOML document: its header as it is written, such as `[worker.oci]`, and its keys.
 */
export interface TomlTable {
  /** Empty for the keys before the first header. */
  readonly header: string;
  readonly keys: Readonly<Record<string, TomlValue | undefined>>;
}

/**
 * The text of a document. Tables of the same `[[header]]` follow one another as the items of a
 * list.
 */
export function writeToml(tables: readonly TomlTable[]): string {
  return tables
    .map(({ header, keys }) =>
      sectionText(
        header,
        [...keyLines(keys)].map(([, line]) => line),
      ),
    )
    .filter((text) => text !== "")
    .join("\n");
}

/**
 * A document with what a person wrote laid over it: their tables first, each with the keys that
 * they left out. A list of tables (`[[header]]`) is theirs as a whole if they have one of it.
 *
 * @param theirs TOML. It is not checked: buildkitd says what is wrong with it.
 */
export function overlayToml(generated: readonly TomlTable[], theirs: string): string {
  const sections = sectionsOf(theirs);
  const own = new Map(sections.map(({ header, lines }) => [header, new Set(lines.flatMap(keyPath))]));
  const merged = sections.map(({ header, lines }) => {
    if (header.startsWith("[[")) return sectionText(header, lines);
    const present = own.get(header);
    const missing = generated
      .filter((table) => table.header === header)
      .flatMap(({ keys }) => [...keyLines(keys)])
      .filter(([key]) => !present?.has(key))
      .map(([, line]) => line);
    return sectionText(header, [...lines, ...missing]);
  });
  const rest = generated.filter(({ header }) => !own.has(header));
  // Keys without a header must come before all tables.
  const [top, others] = [
    rest.filter(({ header }) => header === ""),
    rest.filter(({ header }) => header !== ""),
  ];
  return [writeToml(top), ...merged, writeToml(others)].filter((text) => text !== "").join("\n");
}

function* keyLines(keys: TomlTable["keys"]): Generator<readonly [key: string, line: string]> {
  for (const [key, value] of Object.entries(keys))
    if (value !== undefined) yield [key, `${key} = ${valueText(value)}`];
}

function valueText(value: TomlValue): string {
  if (typeof value === "string") return quoted(value);
  if (typeof value === "object") return `[${value.map(valueText).join(", ")}]`;
  return String(value);
}

/** A basic string. JSON's escapes are among TOML's. */
export function quoted(text: string): string {
  return JSON.stringify(text);
}

function sectionText(header: string, lines: readonly string[]): string {
  if (header === "" && lines.length === 0) return "";
  return `${[...(header === "" ? [] : [header]), ...lines].join("\n").trimEnd()}\n`;
}

interface Section {
  readonly header: string;
  readonly lines: string[];
}

/**
 * A document cut at its headers. Lines inside of a multi-line string are not headers, whatever they
 * look like.
 */
function sectionsOf(text: string): readonly Section[] {
  const sections: Section[] = [{ header: "", lines: [] }];
  let fence: string | undefined;
  for (const line of text.split(/\r?\n/)) {
    const header = fence === undefined ? headerOf(line) : undefined;
    if (header === undefined) sections.at(-1)?.lines.push(line);
    else sections.push({ header, lines: [] });
    for (const [found] of line.matchAll(/"""|'''/g)) {
      if (fence === undefined) fence = found;
      else if (fence === found) fence = undefined;
    }
  }
  return sections.filter(({ header, lines }) => header !== "" || lines.some((line) => line.trim() !== ""));
}

/** A header without the blanks and the comment that may stand around it. */
function headerOf(line: string): string | undefined {
  const found = /^\s*(\[\[?)\s*((?:"[^"]*"|'[^']*'|[^\]"'#])+?)\s*(\]\]?)\s*(?:#.*)?$/.exec(line);
  if (!found) return undefined;
  const [, open = "", name = "", close = ""] = found;
  return open.length === close.length ? `${open}${name.replaceAll(/\s*\.\s*/g, ".")}${close}` : undefined;
}

/** The key that a line sets, if it sets one. */
function keyPath(line: string): string[] {
  const found = /^\s*(?:"([^"]+)"|'([^']+)'|([A-Za-z0-9_-]+))\s*=/.exec(line);
  const key = found?.[1] ?? found?.[2] ?? found?.[3];
  return key === undefined ? [] : [key];
}
