import { goQuote } from "../schema/go-text.ts";

/** A list as Go's `%q` prints it, which is how messages show groups and audiences: `["a" "b"]`. */
export function quoteList(texts: readonly string[]): string {
  return `[${texts.map(goQuote).join(" ")}]`;
}
