/** A line that ends a document, and begins the next one or does not. */
const marker = /^(?:---|\.\.\.)(?=[ \t\r\n]|$)/gm;

const content = /^(?!%)[ \t]*[^\s#]/m;

/** Whether there is a line with something on it that is neither a comment nor a directive. */
export function hasContent(text: string): boolean {
  return content.test(text);
}

/**
 * The first document of a YAML stream. What follows is not parsed, as Go does not: it may even
 * be no YAML.
 */
export function firstDocument(text: string): string {
  let isOpen = false;
  for (const { 0: line, index } of text.matchAll(marker)) {
    if (isOpen || hasContent(text.slice(0, index))) return text.slice(0, index);
    if (line === "---") isOpen = true;
  }
  return text;
}
