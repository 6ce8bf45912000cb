/** One thing wrong with an expression, and where: an offset into its text. */
export interface Issue {
  readonly at: number;
  readonly message: string;
}

/** Issues as cel-go prints them, with the line they are on and a mark below it. */
export function formatIssues(text: string, issues: readonly Issue[]): string {
  return [...issues]
    .sort((a, b) => a.at - b.at)
    .map(({ at, message }) => {
      const before = text.slice(0, at);
      const start = before.lastIndexOf("\n") + 1;
      const line = before.split("\n").length;
      const column = [...new Intl.Segmenter().segment(before.slice(start))].length;
      const end = text.indexOf("\n", at);
      const source = text.slice(start, end < 0 ? undefined : end);
      return `ERROR: <input>:${line}:${column + 1}: ${message}\n | ${source}\n | ${".".repeat(column)}^`;
    })
    .join("\n");
}

/** An expression that is not CEL. */
export class ParseFailure extends Error {
  readonly issues: readonly Issue[];

  constructor(issues: readonly Issue[]) {
    super(issues[0]?.message ?? "syntax error");
    this.name = "ParseFailure";
    this.issues = issues;
  }
}
