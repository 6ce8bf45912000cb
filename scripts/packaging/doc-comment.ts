/** What a doc comment says, by its tags. */
export interface DocComment {
  readonly text: string;
  readonly params: readonly string[];
  readonly returns: string | undefined;
  readonly throws: readonly string[];
  readonly examples: readonly string[];
}

/** Reads a comment as it stands in a source, from its first slash to its last. */
export function readDocComment(comment: string): DocComment {
  const lines = comment
    .replace(/^\/\*\*\s?/, "")
    .replace(/\s*\*\/$/, "")
    .split("\n")
    .map((line) => line.replace(/^\s*\* ?/, ""));
  const [text = "", ...tagged] = lines.join("\n").split(/^@(?=[a-z])/m);
  const of = (name: string) =>
    tagged
      .filter((one) => one.startsWith(`${name} `) || one.startsWith(`${name}\n`))
      .map((one) => one.slice(name.length).trim());
  return {
    text: plain(text),
    params: of("param").map(plain),
    returns: of("returns").map(plain)[0],
    throws: of("throws").map(plain),
    examples: of("example"),
  };
}

/** A default within a sentence is said in words, and links are names: the page has all of them. */
function plain(text: string): string {
  return text
    .trim()
    .replaceAll(/\{@link ([^}]+)\}/g, "`$1`")
    .replaceAll(/\s*@default (.+)$/gm, " Default: $1.");
}
